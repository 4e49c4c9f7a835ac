// SPDX-License-Identifier: Apache-2.0
#include "winze/shape/meta_check.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "winze/ir/text_types.h"
#include "winze/ir/verifier_findings.h"
#include "winze/schema/op_ids.h"
#include "winze/shape/autocast_regions.h"
#include "winze/shape/meta_edits.h"

namespace winze {
namespace {

/// `no` counts most, then `unknown`.
Proof both(Proof a, Proof b) {
  if (a == Proof::no || b == Proof::no) return Proof::no;
  return a == Proof::yes ? b : a;
}

Proof same_sizes(const ShapeEnv& env, Sizes a, Sizes b) {
  if (a.size() != b.size()) return Proof::no;
  Proof proof = Proof::yes;
  for (std::size_t dim = 0; dim < a.size(); ++dim) proof = both(proof, env.equal(a[dim], b[dim]));
  return proof;
}

Proof same_tensor(const ShapeEnv& env, const TensorMeta& a, const TensorMeta& b,
                  bool compare_offset) {
  if (a.dtype != b.dtype || a.layout != b.layout || !(a.device == b.device)) return Proof::no;
  const Proof proof =
      both(same_sizes(env, a.sizes, b.sizes), same_sizes(env, a.strides, b.strides));
  return compare_offset ? both(proof, env.equal(a.storage_offset, b.storage_offset)) : proof;
}

std::string types_of(Context& context, std::span<const MetaId> metas) {
  std::string text;
  for (const MetaId meta : metas) {
    if (!text.empty()) text += ", ";
    append_type(text, context, meta, Device{});
  }
  return text.empty() ? "nothing" : text;
}

class MetaVerifier {
 public:
  MetaVerifier(Graph& root, bool compare_offsets)
      : root_(root),
        env_(root.context().symbols()),
        rules_(ShapeRules::of(root.context())),
        compare_offsets_(compare_offsets) {
    findings_.set_printable(true);
  }

  std::vector<Diagnostic> run(std::span<const Node> calls) {
    for (const Node& call : calls) check(call);
    return findings_.take();
  }

 private:
  void check(const Node& node) {
    try {
      rules_.infer(node, inference_);
    } catch (const Error& error) {
      findings_.add(
          node.graph(), node.id(),
          fmt::format("{} refuses its arguments: {}", name_of(node), error.diagnostic().message),
          error.diagnostic().hint);
      return;
    }
    if (inference_.state != InferenceState::inferred) return;
    const Proof same = same_results(env_, node, inference_, compare_offsets_);
    // Where something has to be assumed, so has that the two agree.
    if (same == Proof::yes || (same == Proof::unknown && !inference_.constraints.empty())) return;
    std::vector<MetaId> recorded;
    for (std::uint32_t index = 0; index < node.value_count(); ++index)
      recorded.push_back(node.value(index).meta_id());
    findings_.add(node.graph(), node.id(),
                  fmt::format("results are recorded as {}, but {} yields {}",
                              types_of(root_.context(), recorded), name_of(node),
                              types_of(root_.context(), inference_.metas)),
                  "infer the metas anew after changing what they follow from");
  }

  [[nodiscard]] std::string_view name_of(const Node& node) const {
    return root_.context().ops().qualified_name(node.op());
  }

  Graph& root_;
  ShapeEnv env_;
  ShapeRules& rules_;
  bool compare_offsets_;
  Inference inference_;
  Findings findings_;
};

}  // namespace

Proof same_meta(const ShapeEnv& env, const Meta& recorded, const Meta& inferred,
                bool compare_offset) {
  if (recorded.kind != inferred.kind) return Proof::no;
  if (recorded.is_tensor())
    return same_tensor(env, recorded.tensor, inferred.tensor, compare_offset);
  if (!recorded.has_expression || !inferred.has_expression) return Proof::yes;
  if (recorded.expression == inferred.expression) return Proof::yes;
  switch (recorded.kind) {
    case ValueKind::sym_int:
      return env.equal(recorded.expression, inferred.expression);
    case ValueKind::sym_bool:
      return env.symbols().prove(env.symbols().eq(recorded.expression, inferred.expression));
    default:
      return Proof::unknown;
  }
}

Proof same_results(const ShapeEnv& env, const Node& node, const Inference& inferred,
                   bool compare_offset) {
  if (inferred.metas.size() != node.value_count()) return Proof::no;
  Proof proof = Proof::yes;
  for (std::uint32_t index = 0; index < node.value_count(); ++index) {
    const MetaId recorded = node.value(index).meta_id();
    if (recorded == inferred.metas[index]) continue;
    Context& context = node.graph().context();
    proof = both(proof, same_meta(env, context.meta(recorded), context.meta(inferred.metas[index]),
                                  compare_offset));
  }
  return proof;
}

std::vector<Node> calls_to_infer(Graph& root) {
  std::vector<Node> calls;
  std::vector<const Graph*> open = {&root};
  while (!open.empty()) {
    const Graph& graph = *open.back();
    open.pop_back();
    const AutocastRegions autocast(graph);
    for (const Node node : graph.nodes()) {
      if (!node.is_call() || autocast.cover(node) ||
          node.op() == op::higher_order_wrap_with_autocast)
        continue;
      calls.push_back(node);
      for (std::uint32_t index = 0; index < node.argument_count(); ++index) {
        const Argument argument = node.argument(index);
        if (argument.kind() == ArgumentKind::graph)
          open.push_back(&graph.subgraph(argument.graph_id()));
      }
    }
  }
  return calls;
}

bool records_offsets(const ExportedProgram& program) {
  // "2.13.0+cpu"
  const std::string_view version = program.torch_version;
  int major = 0;
  int minor = 0;
  const char* const begin = version.data();
  const char* const end = begin + version.size();
  const auto [dot, error] = std::from_chars(begin, end, major);
  if (error != std::errc() || dot == end || *dot != '.') return true;
  if (std::from_chars(dot + 1, end, minor).ec != std::errc()) return true;
  return major > 2 || (major == 2 && minor >= 9);
}

std::vector<Diagnostic> verify_metas(const ExportedProgram& program) {
  Graph& root = *program.graph;
  return MetaVerifier(root, records_offsets(program)).run(calls_to_infer(root));
}

std::vector<Diagnostic> verify_edited_metas(const ExportedProgram& program) {
  Graph& root = *program.graph;
  std::vector<Node> calls = calls_behind(meta_edits(root));
  if (calls.empty()) return {};
  std::map<const Graph*, AutocastRegions> autocast;
  std::erase_if(calls, [&](const Node& call) {
    const Graph& graph = call.graph();
    return call.op() == op::higher_order_wrap_with_autocast ||
           autocast.try_emplace(&graph, graph).first->second.cover(call);
  });
  return MetaVerifier(root, records_offsets(program)).run(calls);
}

}  // namespace winze
