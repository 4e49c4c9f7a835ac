// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "winze/symbolic/number.h"
#include "winze/symbolic/symbolic_context.h"

namespace winze {

// How canonical forms are taken apart. A sum is [number?, term...], a product [number?, factor...],
// a factor a base or Pow(base, integer). Numbers come first, the rest in the order of the store.

/// The expression as a number, when it is a constant other than a boolean.
[[nodiscard]] std::optional<Number> as_number(const ExprStore& store, SymExpr expr);
[[nodiscard]] bool is_number(const SymbolicContext& context, SymExpr expr);
/// The constant with this value.
SymExpr from_number(SymbolicContext& context, const Number& number);

/// An expression as `coefficient * rest`; a plain number is its own coefficient, with rest 1.
struct CoefficientAndRest {
  SymExpr coefficient;
  SymExpr rest;
};
CoefficientAndRest split_coefficient(SymbolicContext& context, SymExpr expr);

/// An expression as `constant + rest`, where `rest` is 0 for a number.
struct ConstantAndRest {
  SymExpr constant;
  SymExpr rest;
};
ConstantAndRest split_constant(SymbolicContext& context, SymExpr expr);

/// A factor as `base ** exponent` with an integer exponent.
struct BaseAndExponent {
  SymExpr base;
  std::int64_t exponent = 1;
};
[[nodiscard]] BaseAndExponent split_power(const SymbolicContext& context, SymExpr factor);

/// The terms of a sum, its number included; other expressions are their only term. The view is
/// of `expr` itself in that case.
[[nodiscard]] std::span<const SymExpr> terms_of(const SymbolicContext& context,
                                                const SymExpr& expr);
/// The factors of a product, its number included.
[[nodiscard]] std::span<const SymExpr> factors_of(const SymbolicContext& context,
                                                  const SymExpr& expr);
/// The integer coefficient of a term; 1 without one, nothing when it is no integer.
[[nodiscard]] std::optional<std::int64_t> integer_coefficient(const SymbolicContext& context,
                                                              SymExpr term);
/// Whether every term has kind int and an integer coefficient that `divisor` divides.
[[nodiscard]] bool all_coefficients_divisible(const SymbolicContext& context, SymExpr expr,
                                              std::int64_t divisor);

/// Whether an integer expression is a multiple of `divisor`, at least 1, by its terms: a remainder
/// of a multiple of it, `x % (divisor*n)`, leaves the same as `x`. So the size that is padded to a
/// multiple, `n + -n % 8`, is one of 8.
[[nodiscard]] bool is_multiple(SymbolicContext& context, SymExpr expr, std::int64_t divisor);

/// Throws Error unless the operand is a number (int or float).
void require_number(const SymbolicContext& context, SymExpr operand, SymOp op);
/// Throws Error unless the operand is a boolean.
void require_bool(const SymbolicContext& context, SymExpr operand, SymOp op);
/// float when any operand is a float, else int.
[[nodiscard]] SymKind arithmetic_kind(const SymbolicContext& context,
                                      std::span<const SymExpr> operands);
/// The number, or Error: the result is out of int64.
[[nodiscard]] Number require_in_range(const std::optional<Number>& number, std::string_view what);

}  // namespace winze
