// SPDX-License-Identifier: Apache-2.0
#include "winze/shape/meta_check.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "winze/ir/text_types.h"
#include "winze/ir/verifier_findings.h"
#include "winze/schema/op_ids.h"
#include "winze/shape/known_conditions.h"
#include "winze/shape/meta_edits.h"
#include "winze/shape/operand_metas.h"

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

Proof same_strides(const ShapeEnv& env, const TensorMeta& a, const TensorMeta& b, bool unused) {
  if (a.strides.size() != b.strides.size()) return Proof::no;
  Proof proof = Proof::yes;
  for (std::size_t dim = 0; dim < a.strides.size(); ++dim) {
    const Proof same = env.equal(a.strides[dim], b.strides[dim]);
    if (same == Proof::yes || (!unused && env.known_equal(a.sizes[dim], 1))) continue;
    proof = both(proof, same);
  }
  return proof;
}

Proof same_tensor(const ShapeEnv& env, const TensorMeta& a, const TensorMeta& b,
                  ComparedLayout layout) {
  if (a.dtype != b.dtype || a.layout != b.layout || !(a.device == b.device)) return Proof::no;
  Proof proof = same_sizes(env, a.sizes, b.sizes);
  if (layout.strides) proof = both(proof, same_strides(env, a, b, layout.unused_strides));
  if (layout.offset) proof = both(proof, env.equal(a.storage_offset, b.storage_offset));
  return proof;
}

std::string types_of(Context& context, std::span<const MetaId> metas) {
  std::string text;
  for (const MetaId meta : metas) {
    if (!text.empty()) text += ", ";
    append_type(text, context, meta, Device{});
  }
  return text.empty() ? "nothing" : text;
}

/// While it lives, each symbol has the value that the program was exported with, where it is known.
class ExampleSizes {
 public:
  explicit ExampleSizes(const ExportedProgram& program) : symbols_(program.context().symbols()) {
    for (const SymExpr symbol : symbols_.symbols()) {
      const SymHint hint = program.expressions.hint(symbols_, symbol);
      const auto* value = std::get_if<std::int64_t>(&hint);
      if (value == nullptr) continue;
      ranges_.emplace_back(symbol, symbols_.range(symbol));
      symbols_.set_range(symbol, Range::exactly(*value));
    }
  }
  ExampleSizes(const ExampleSizes&) = delete;
  ExampleSizes& operator=(const ExampleSizes&) = delete;
  ~ExampleSizes() {
    for (const auto& [symbol, range] : ranges_) symbols_.set_range(symbol, range);
  }

 private:
  SymbolicContext& symbols_;
  std::vector<std::pair<SymExpr, Range>> ranges_;
};

class MetaVerifier {
 public:
  explicit MetaVerifier(const ExportedProgram& program)
      : program_(program),
        root_(*program.graph),
        rules_(ShapeRules::of(root_.context())),
        conditions_(known_conditions(program)),
        assumed_(rules_.env(), conditions_),
        compare_offsets_(program.has_offsets && records_offsets(program)) {
    findings_.set_printable(true);
  }

  std::vector<Diagnostic> run(std::span<const CallToInfer> calls) {
    for (const CallToInfer& call : calls) check(call);
    acquit_at_example();
    for (const Suspect& suspect : suspects_) {
      const Node& node = suspect.call.node;
      findings_.add(node.graph(), node.id(), suspect.message, suspect.hint);
    }
    return findings_.take();
  }

 private:
  struct Suspect {
    CallToInfer call;
    std::string message;
    std::string hint;
  };

  void check(const CallToInfer& call) {
    const Node& node = call.node;
    try {
      rules_.infer(node, inference_);
    } catch (const Error& error) {
      suspects_.push_back(
          {call,
           fmt::format("{} refuses its arguments: {}", name_of(node), error.diagnostic().message),
           error.diagnostic().hint});
      return;
    }
    if (agreement(call) == Proof::yes) return;
    std::vector<MetaId> recorded;
    for (std::uint32_t index = 0; index < node.value_count(); ++index)
      recorded.push_back(node.value(index).meta_id());
    suspects_.push_back(
        {call,
         fmt::format("results are recorded as {}, but {} yields {}",
                     types_of(root_.context(), recorded), name_of(node),
                     types_of(root_.context(), inference_.metas)),
         "the pass infer-shapes infers them anew; a pass of your own calls propagate_metas"});
  }

  /// Whether what was inferred is what is recorded; yes where nothing can be said.
  [[nodiscard]] Proof agreement(const CallToInfer& call) {
    if (inference_.state != InferenceState::inferred) return Proof::yes;
    if (!compare_offsets_ && call.node.is_call_to(op::aten_sym_storage_offset_default))
      return Proof::yes;
    const Proof same = same_results(rules_.env(), call.node, inference_,
                                    compared_layout(call.tells_layout, compare_offsets_));
    // Where something has to be assumed, so has that the two agree.
    return same == Proof::unknown && !inference_.constraints.empty() ? Proof::yes : same;
  }

  /// Export decides by the sizes of its example, and guards on how it did. Few of these guards are
  /// proofs of anything: where the ranges leave something open, as whether a reshape copies, the
  /// example decides. It lies in the ranges, so it agrees with nothing that is wrong for all sizes.
  void acquit_at_example() {
    if (suspects_.empty()) return;  // setting ranges forgets proofs
    const ExampleSizes example(program_);
    std::erase_if(suspects_, [&](const Suspect& suspect) {
      try {
        rules_.infer(suspect.call.node, inference_);
        const Proof same = agreement(suspect.call);
        return same == Proof::yes ||
               (same == Proof::unknown && speaks_of_unchecked_data(suspect.call.node));
      } catch (const Error&) {
        return false;
      }
    });
  }

  /// What export knew of a symbol that stands for data stands in the assertions on it. Where they
  /// have been removed, the records that rely on them are all that tells of it.
  [[nodiscard]] bool speaks_of_unchecked_data(const Node& node) {
    SymbolicContext& symbols = rules_.env().symbols();
    if (!checked_) {
      checked_.emplace();
      for (const SymExpr condition : conditions_)
        for (const SymExpr symbol : symbols.free_symbols(condition)) checked_->insert(symbol);
    }
    const auto unchecked = [&](SymInt size) {
      return rules_.env().is_unbacked(size) &&
             std::ranges::any_of(symbols.free_symbols(size), [&](SymExpr symbol) {
               return rules_.env().is_unbacked(symbol) && !checked_->contains(symbol);
             });
    };
    const auto speaks = [&](const Meta& meta) {
      if (meta.has_expression) return unchecked(meta.expression);
      return std::ranges::any_of(meta.tensor.sizes, unchecked) ||
             std::ranges::any_of(meta.tensor.strides, unchecked) ||
             unchecked(meta.tensor.storage_offset);
    };
    for (std::uint32_t index = 0; index < node.value_count(); ++index) {
      if (speaks(node.value(index).meta()) || speaks(root_.context().meta(inference_.metas[index])))
        return true;
    }
    return false;
  }

  [[nodiscard]] std::string_view name_of(const Node& node) const {
    return root_.context().ops().qualified_name(node.op());
  }

  const ExportedProgram& program_;
  Graph& root_;
  ShapeRules& rules_;
  std::vector<SymExpr> conditions_;
  KnownConditions assumed_;
  bool compare_offsets_;
  std::optional<SymSet> checked_;  ///< the symbols in the conditions, once asked for
  Inference inference_;
  std::vector<Suspect> suspects_;
  Findings findings_;
};

}  // namespace

Proof same_meta(const ShapeEnv& env, const Meta& recorded, const Meta& inferred,
                ComparedLayout layout) {
  if (recorded.kind != inferred.kind) return Proof::no;
  if (recorded.is_tensor()) return same_tensor(env, recorded.tensor, inferred.tensor, layout);
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
                   ComparedLayout layout) {
  if (inferred.metas.size() != node.value_count()) return Proof::no;
  Proof proof = Proof::yes;
  for (std::uint32_t index = 0; index < node.value_count(); ++index) {
    const MetaId recorded = node.value(index).meta_id();
    if (recorded == inferred.metas[index]) continue;
    Context& context = node.graph().context();
    const Meta& now = context.meta(inferred.metas[index]);
    // Of a number that export keeps in place of its uses, as of can_cast, it records nothing.
    if (context.meta(recorded).kind == ValueKind::none && !now.is_tensor() &&
        !node.value(index).has_uses())
      continue;
    proof = both(proof, same_meta(env, context.meta(recorded), now, layout));
  }
  return proof;
}

ComparedLayout compared_layout(bool tells_layout, bool offsets) {
  return {.strides = tells_layout, .offset = tells_layout && offsets, .unused_strides = false};
}

std::vector<CallToInfer> calls_to_infer(Graph& root) {
  std::vector<CallToInfer> calls;
  std::vector<const Graph*> open = {&root};
  while (!open.empty()) {
    const Graph& graph = *open.back();
    open.pop_back();
    const OperandMetas operands(graph);
    for (const Node node : graph.nodes()) {
      if (!node.is_call() || !operands.tell(node)) continue;
      calls.push_back({node, operands.tell_layout(node)});
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
  return MetaVerifier(program).run(calls_to_infer(*program.graph));
}

std::vector<Diagnostic> verify_edited_metas(const ExportedProgram& program) {
  std::vector<CallToInfer> calls;
  std::map<const Graph*, OperandMetas> all_operands;
  for (const Node& call : calls_behind(meta_edits(*program.graph))) {
    const Graph& graph = call.graph();
    const OperandMetas& operands = all_operands.try_emplace(&graph, graph).first->second;
    if (operands.tell(call)) calls.push_back({call, operands.tell_layout(call)});
  }
  if (calls.empty()) return {};
  return MetaVerifier(program).run(calls);
}

}  // namespace winze
