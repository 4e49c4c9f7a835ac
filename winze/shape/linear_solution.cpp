// SPDX-License-Identifier: Apache-2.0
#include "winze/shape/linear_solution.h"

namespace winze {

std::optional<LinearSolution> linear_solution(SymbolicContext& symbols, SymExpr a, SymExpr b) {
  if (symbols.kind(a) != SymKind::int_kind || symbols.kind(b) != SymKind::int_kind)
    return std::nullopt;
  try {
    const SymExpr difference = symbols.expand(symbols.sub(a, b));
    const std::vector<SymExpr> free = symbols.free_symbols(difference);
    if (free.size() != 1) return std::nullopt;
    const auto at = [&](std::int64_t value) {
      return symbols.substitute(difference, {{free[0], SymExpr(value)}});
    };
    const SymExpr constant = at(0);
    const SymExpr slope = symbols.sub(at(1), constant);
    if (!constant.is_constant() || !slope.is_constant() || slope == SymExpr(0)) return std::nullopt;
    const SymExpr line = symbols.add(symbols.mul(slope, free[0]), constant);
    if (line != difference || constant.constant() % slope.constant() != 0) return std::nullopt;
    return LinearSolution{free[0], -(constant.constant() / slope.constant())};
  } catch (const Error&) {
    return std::nullopt;  // it leaves the range of integers
  }
}

}  // namespace winze
