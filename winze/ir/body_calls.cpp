// SPDX-License-Identifier: Apache-2.0
#include "winze/ir/body_calls.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "winze/ir/text_printer.h"

namespace winze {
namespace {

/// Where the inputs of a body come from.
enum class Source : std::uint8_t {
  argument,  ///< a list argument, each element as it is
  sliced,    ///< a list argument, each element without its first dimension
  more,      ///< the arguments beyond the schema's
};

struct Inputs {
  Source source = Source::argument;
  std::uint8_t argument = 0;
};

struct Body {
  std::string_view op;
  std::array<std::int8_t, 2> graphs;  ///< positions of the bodies, -1 for none
  std::array<Inputs, 3> inputs;
  std::uint8_t input_count;
  std::array<BodyResults, 2> results;  ///< of each body
  bool is_loop = false;
};

// torch/_higher_order_ops: how each operator calls its bodies.
constexpr std::array bodies = {
    Body{"higher_order.cond",
         {1, 2},
         {Inputs{Source::argument, 3}},
         1,
         {BodyResults::same, BodyResults::same}},
    Body{"higher_order.while_loop",
         {0, 1},
         {Inputs{Source::argument, 2}, Inputs{Source::argument, 3}},
         2,
         {BodyResults::unknown, BodyResults::same},
         true},
    Body{"higher_order.scan",
         {0, -1},
         {Inputs{Source::argument, 1}, Inputs{Source::sliced, 2}, Inputs{Source::argument, 3}},
         3,
         {BodyResults::unknown, BodyResults::unknown},
         true},
    Body{"higher_order.map_impl",
         {0, -1},
         {Inputs{Source::sliced, 1}, Inputs{Source::argument, 2}},
         2,
         {BodyResults::stacked, BodyResults::unknown}},
    Body{"higher_order.invoke_subgraph",
         {0, -1},
         {Inputs{Source::more, 2}},
         1,
         {BodyResults::same, BodyResults::unknown}},
    Body{"higher_order.wrap_with_set_grad_enabled",
         {1, -1},
         {Inputs{Source::more, 2}},
         1,
         {BodyResults::same, BodyResults::unknown}},
    Body{"higher_order.wrap_with_autocast",
         {4, -1},
         {Inputs{Source::more, 5}},
         1,
         {BodyResults::same, BodyResults::unknown}},
    Body{"higher_order.hints_wrapper",
         {0, -1},
         {Inputs{Source::argument, 1}},
         1,
         {BodyResults::same, BodyResults::unknown}},
    Body{"higher_order.strict_mode",
         {0, -1},
         {Inputs{Source::argument, 1}},
         1,
         {BodyResults::same, BodyResults::unknown}},
    Body{"higher_order.wrap",
         {0, -1},
         {Inputs{Source::more, 1}},
         1,
         {BodyResults::same, BodyResults::unknown}},
};

void add_operands(const Node& node, const Inputs& inputs, std::vector<BodyOperand>& operands) {
  if (inputs.source == Source::more) {
    for (std::uint32_t at = inputs.argument; at < node.argument_count(); ++at)
      operands.push_back({node.argument(at), false});
    return;
  }
  if (inputs.argument >= node.argument_count()) return;
  const Argument list = node.argument(inputs.argument);
  const std::uint32_t count = list_size(node.graph().context(), list);
  for (std::uint32_t at = 0; at < count; ++at)
    operands.push_back({list_element(node, list, at), inputs.source == Source::sliced});
}

}  // namespace

std::vector<BodyCall> body_calls(const Node& node) {
  std::vector<BodyCall> calls;
  if (!node.is_call()) return calls;
  OpRegistry& ops = node.graph().context().ops();
  const Op& op = ops.get(node.op());
  if (!op.is_higher_order()) return calls;
  const auto found = std::ranges::find(bodies, ops.qualified_name(op.base), &Body::op);
  if (found == bodies.end()) return calls;
  for (std::size_t index = 0; index < found->graphs.size(); ++index) {
    const std::int8_t position = found->graphs[index];
    if (position < 0 || static_cast<std::uint32_t>(position) >= node.argument_count()) continue;
    const Argument argument = node.argument(static_cast<std::uint32_t>(position));
    if (argument.kind() != ArgumentKind::graph) continue;
    BodyCall& call = calls.emplace_back();
    call.body = &node.graph().subgraph(argument.graph_id());
    call.results = found->results[index];
    call.is_loop = found->is_loop;
    for (std::uint8_t at = 0; at < found->input_count; ++at)
      add_operands(node, found->inputs[at], call.operands);
  }
  return calls;
}

}  // namespace winze
