// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "winze/ir/text_types.h"
#include "winze/program/program_text.h"
#include "winze/shape/shape_rules.h"

// For tests of shape rules: calls and what is inferred of them, as text.
namespace winze {

struct Inferred {
  std::string text;  ///< types of the results; in `<>` why there are none
  std::vector<std::string> constraints;
};

/// Infers one call, written in the text form, on these inputs (`%x: input f32[s0, 2]`). Symbols
/// have the range of [2, 64] for `s…` and of [0, 64] for `u…`.
///
/// `results` is the left side where the call yields no single value: `%a, %b` or `[%a, %b]`.
inline Inferred infer(const std::string& inputs, const std::string& call,
                      const std::string& results = "%r") {
  Context context;
  std::string types;
  for (const char c : results) {
    if (c == '%') types += types.empty() ? "unknown" : ", unknown";
  }
  const std::string text = fmt::format(
      "symbol s0 in [2, 64]\nsymbol s1 in [2, 64]\nsymbol u0 in [0, 64]\nsymbol u1 in [0, 64]\n"
      "graph f({}) {{\n  {} = {} : {}\n  return\n}}\n",
      inputs, results, call, types);
  const ExportedProgram program = parse_program(context, text);
  ShapeRules rules(context);
  Inference inference;
  Inferred result;
  const Node node = program.graph->last().prev();
  std::vector<Argument> arguments;
  for (std::uint32_t index = 0; index < node.argument_count(); ++index)
    arguments.push_back(node.argument(index));
  rules.infer(*program.graph, node.op(), arguments, inference);
  switch (inference.state) {
    case InferenceState::no_rule:
      result.text = "<no rule>";
      break;
    case InferenceState::not_inferable:
      result.text = fmt::format("<{}>", inference.reason);
      break;
    case InferenceState::inferred:
      for (const MetaId meta : inference.metas) {
        if (!result.text.empty()) result.text += ", ";
        append_type(result.text, context, meta, Device{});
      }
  }
  for (const ShapeConstraint& constraint : inference.constraints)
    result.constraints.push_back(context.symbols().str(constraint.condition));
  return result;
}

/// The types that are inferred.
inline std::string inferred(const std::string& inputs, const std::string& call,
                            const std::string& results = "%r") {
  return infer(inputs, call, results).text;
}

/// The message with which a call is refused; empty where it is not.
inline std::string refusal(const std::string& inputs, const std::string& call,
                           const std::string& results = "%r") {
  try {
    const Inferred result = infer(inputs, call, results);
    return "";
  } catch (const Error& error) {
    return error.diagnostic().message;
  }
}

}  // namespace winze
