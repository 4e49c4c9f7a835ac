// SPDX-License-Identifier: Apache-2.0
// Infers every call of programs anew and prints what came of it, one line a call, for tests that
// compare shape rules with PyTorch: of a .pt2 those that follow from their operands, of a text,
// which holds calls that have nothing to do with each other, all. A line has operator, state, what
// is recorded, what was inferred, what has to hold for it, the call, tabs between. Without a
// program, prints the name of each operator that has a rule; for `--without-rule` of each that has
// none.
#include <cstdio>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "winze/ir/text_types.h"
#include "winze/program/program_text.h"
#include "winze/program/pt2_reader.h"
#include "winze/shape/meta_check.h"
#include "winze/shape/shape_rules.h"
#include "winze/support/bytes.h"

namespace winze {
namespace {

std::string types_of(Context& context, std::span<const MetaId> metas) {
  std::string text;
  for (const MetaId meta : metas) {
    if (!text.empty()) text += "; ";
    append_type(text, context, meta, Device{});
  }
  return text;
}

std::string_view state_of(Proof same) {
  if (same == Proof::yes) return "equal";
  return same == Proof::no ? "different" : "unproven";
}

std::string one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\t') c = ' ';
  }
  return text;
}

std::string shown(Context& context, const std::vector<ShapeConstraint>& constraints) {
  std::string text;
  for (const ShapeConstraint& constraint : constraints) {
    if (!text.empty()) text += "; ";
    text += context.symbols().str(constraint.condition);
  }
  return text;
}

/// Infers one call and prints its line.
void infer(ShapeRules& rules, const ShapeEnv& env, const CallToInfer& call, bool offsets) {
  const Node& node = call.node;
  Context& context = node.graph().context();
  std::vector<MetaId> recorded;
  for (std::uint32_t index = 0; index < node.value_count(); ++index)
    recorded.push_back(node.value(index).meta_id());
  std::string_view state = "no_rule";
  std::string detail;
  Inference inference;
  try {
    rules.infer(node, inference);
    if (inference.state == InferenceState::not_inferable) {
      state = "not_inferable";
      detail = inference.reason;
    } else if (inference.state == InferenceState::inferred) {
      ComparedLayout layout = compared_layout(call.tells_layout, offsets);
      layout.unused_strides = true;
      state = state_of(same_results(env, node, inference, layout));
      detail = types_of(context, inference.metas);
      if (state == "unproven" && !inference.constraints.empty()) state = "constrained";
    }
  } catch (const Error& error) {
    state = "error";
    detail = error.diagnostic().message;
  }
  fmt::print("{}\t{}\t{}\t{}\t{}\t{}\n", context.ops().qualified_name(node.op()), state,
             types_of(context, recorded), one_line(detail), shown(context, inference.constraints),
             one_line(node.str()));
}

void infer_all(const ExportedProgram& program, std::span<const CallToInfer> calls) {
  Context& context = program.context();
  const ShapeEnv env(context.symbols());
  ShapeRules rules(context);
  for (const CallToInfer& call : calls) infer(rules, env, call, records_offsets(program));
}

/// Every call of a graph, those too that change sizes in place: each has operands of its own.
std::vector<CallToInfer> unrelated_calls(const Graph& graph) {
  std::vector<CallToInfer> calls;
  for (const Node node : graph.nodes()) {
    if (node.is_call()) calls.push_back({node});
  }
  return calls;
}

int run(int argc, char** argv) {
  const bool wants_others = argc == 2 && argv[1] == std::string_view("--without-rule");
  if (argc == 1 || wants_others) {
    Context context;
    ShapeRules rules(context);
    context.ops().for_each([&](OpId id, std::string_view name) {
      if (rules.has_rule(id) != wants_others) fmt::print("{}\n", name);
    });
    return 0;
  }
  for (int index = 1; index < argc; ++index) {
    try {
      Context context;
      const Bytes bytes = map_file(argv[index]);
      if (looks_like_pt2(bytes.string_view())) {
        const ExportedProgram program = read_pt2(context, bytes, {.file_name = argv[index]});
        infer_all(program, calls_to_infer(*program.graph));
      } else {
        const ExportedProgram program = parse_program(context, bytes.string_view(), argv[index]);
        infer_all(program, unrelated_calls(*program.graph));
      }
    } catch (const DiagnosticError& error) {
      fmt::print(stderr, "{}: {}\n", argv[index], error.diagnostic().str());
      return 1;
    }
  }
  return 0;
}

}  // namespace
}  // namespace winze

int main(int argc, char** argv) {
  return winze::run(argc, argv);
}
