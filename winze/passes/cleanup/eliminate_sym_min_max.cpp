// SPDX-License-Identifier: Apache-2.0
#include "winze/passes/cleanup/eliminate_sym_min_max.h"

#include <optional>

#include "winze/symbolic/symbolic_context.h"

namespace winze {
namespace {

/// The expression of an integer operand; nothing where it is none or has none.
std::optional<SymExpr> expression_of(Node call, std::uint32_t index) {
  const Argument argument = call.argument(index);
  if (argument.kind() == ArgumentKind::integer) return SymExpr::integer(argument.integer());
  const Value value = call.argument_value(index);
  if (!value) return std::nullopt;
  const Meta& meta = value.meta();
  if (meta.kind != ValueKind::sym_int || !meta.has_expression) return std::nullopt;
  return meta.expression;
}

/// The operand that the call is known to be; invalid where that is not known, or a constant.
Value known_result(Node call) {
  const std::optional<SymExpr> first = expression_of(call, 0);
  const std::optional<SymExpr> second = expression_of(call, 1);
  if (!first || !second) return {};
  SymbolicContext& symbols = call.graph().context().symbols();
  const bool is_min = call.op() == op::torch_sym_min;
  for (const std::uint32_t index : {0U, 1U}) {
    const SymExpr kept = index == 0 ? *first : *second;
    const SymExpr other = index == 0 ? *second : *first;
    const Proof proof = is_min ? symbols.prove_le(kept, other) : symbols.prove_ge(kept, other);
    if (proof == Proof::yes) return call.argument_value(index);
  }
  return {};
}

}  // namespace

void eliminate_sym_min_max(Graph& graph, PassContext& context) {
  static_cast<void>(context);
  for (const OpId op : {op::torch_sym_min, op::torch_sym_max}) {
    for (Node call : graph.find_nodes(op)) {
      const Value result = known_result(call);
      if (!result) continue;
      call.value().replace_all_uses_with(result);
      call.erase();
    }
  }
}

}  // namespace winze
