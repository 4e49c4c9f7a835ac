// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "winze/symbolic/symbolic_context.h"

namespace winze {

/// The one value of a symbol for which an equation holds.
struct LinearSolution {
  SymExpr symbol;
  std::int64_t value = 0;
};

/// Solves `a == b` where the difference is linear in one symbol, its only one; nothing where it is
/// not, or where no integer solves it.
[[nodiscard]] std::optional<LinearSolution> linear_solution(SymbolicContext& symbols, SymExpr a,
                                                            SymExpr b);

}  // namespace winze
