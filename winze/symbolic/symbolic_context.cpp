// SPDX-License-Identifier: Apache-2.0
#include "winze/symbolic/symbolic_context.h"

#include <algorithm>

#include "winze/symbolic/expr_parts.h"
#include "winze/symbolic/traversal.h"

namespace winze {

SymExpr SymbolicContext::symbol(std::string_view name, SymbolAssumptions assumptions) {
  return store_.intern_symbol(name, assumptions);
}

std::optional<SymExpr> SymbolicContext::find_symbol(std::string_view name) const {
  const auto number = store_.symbols().find(name);
  if (!number) return std::nullopt;
  return store_.symbols()[*number].expr;
}

const std::string& SymbolicContext::symbol_name(SymExpr symbol) const {
  WINZE_CHECK(is_symbol(symbol), "`{}` is not a symbol", str(symbol));
  return store_.symbols()[store_.node(symbol).first].name;
}

SymbolAssumptions SymbolicContext::symbol_assumptions(SymExpr symbol) const {
  WINZE_CHECK(is_symbol(symbol), "`{}` is not a symbol", str(symbol));
  return store_.symbols()[store_.node(symbol).first].assumptions;
}

std::vector<SymExpr> SymbolicContext::symbols() const {
  std::vector<SymExpr> result;
  for (std::uint32_t i = 0; i < store_.symbols().size(); ++i) {
    result.push_back(store_.symbols()[i].expr);
  }
  return result;
}

SymExpr SymbolicContext::float_constant(double value) {
  return from_number(*this, Number::of(value));
}

SymExpr SymbolicContext::bool_constant(bool value) const {
  return ExprStore::atom(value ? SymOp::true_constant : SymOp::false_constant);
}

SymExpr SymbolicContext::rational(std::int64_t numerator, std::int64_t denominator) {
  if (denominator == 0) fail("the rational {}/0 has no value", numerator);
  return from_number(*this, require_in_range(Number::ratio(numerator, denominator), "ratio"));
}

std::optional<SymValue> SymbolicContext::constant_value(SymExpr expr) const {
  if (expr.is_constant()) return SymValue(expr.constant());
  const SymOp op = store_.node(expr).op;
  if (op == SymOp::true_constant) return SymValue(true);
  if (op == SymOp::false_constant) return SymValue(false);
  const auto number = as_number(store_, expr);
  if (!number || number->form == Number::Form::complex_infinity ||
      number->form == Number::Form::int_infinity) {
    return std::nullopt;
  }
  return SymValue(number->to_double());
}

std::vector<SymExpr> SymbolicContext::free_symbols(SymExpr expr) const {
  std::vector<SymExpr> result;
  const Traversal traversal(*this, expr);
  for (const SymExpr part : traversal.order()) {
    if (is_symbol(part)) result.push_back(part);
  }
  std::ranges::sort(result, [this](SymExpr a, SymExpr b) { return store_.before(a, b); });
  return result;
}

}  // namespace winze
