// SPDX-License-Identifier: Apache-2.0
#include "winze/effects/higher_order_calls.h"

#include "winze/effects/call_arguments.h"
#include "winze/schema/op.h"

namespace winze {
namespace {

/// Position after the last graph among the arguments.
std::uint32_t end_of_graphs(Node call) {
  for (std::uint32_t i = call.argument_count(); i-- > 0;) {
    if (call.argument(i).kind() == ArgumentKind::graph) return i + 1;
  }
  return call.argument_count();
}

/// Whether an argument holds operands rather than a setting such as a name.
bool holds_operands(const Schema& schema, std::uint32_t position) {
  if (position >= schema.arguments.size()) return true;  // one of `...`
  const SchemaArgument& formal = schema.arguments[position];
  return !formal.kwarg_only &&
         (formal.type.base_kind() == TypeKind::any || formal.type.base_kind() == TypeKind::tensor);
}

}  // namespace

std::optional<std::vector<Argument>> body_operands(Node call, const Graph& body) {
  const Schema& schema = call.graph().context().ops().get(call.op()).schema;
  std::vector<Argument> operands;
  for (std::uint32_t i = end_of_graphs(call); i < call.argument_count(); ++i) {
    if (!holds_operands(schema, i)) continue;
    const Argument argument = call.argument(i);
    if (!argument.is_list() || i >= schema.arguments.size()) {
      operands.push_back(argument);
      continue;
    }
    for (std::uint32_t k = 0; k < argument.count(); ++k)
      operands.push_back(call.element(argument, k));
  }
  std::size_t placeholders = 0;
  for (Node node = body.first(); node && node.is_placeholder(); node = node.next()) ++placeholders;
  if (operands.size() != placeholders) return std::nullopt;
  return operands;
}

bool is_loop(Node call) {
  const std::string_view name = call.graph().context().ops().qualified_name(call.op());
  return name == "higher_order.while_loop" || name == "higher_order.while_loop_stack_output" ||
         name == "higher_order.scan";
}

}  // namespace winze
