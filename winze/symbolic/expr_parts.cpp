// SPDX-License-Identifier: Apache-2.0
#include "winze/symbolic/expr_parts.h"

#include <algorithm>

#include "winze/symbolic/text_format.h"

namespace winze {
namespace {

/// Long operands are cut in messages.
std::string shown(const SymbolicContext& context, SymExpr expr) {
  constexpr std::size_t most = 80;
  const std::string text = print_expression(context, expr, SymTextStyle::plain, most);
  return text.size() > most ? text.substr(0, most) + "…" : text;
}

}  // namespace

std::optional<Number> as_number(const ExprStore& store, SymExpr expr) {
  if (expr.is_constant()) return Number::of(expr.constant());
  switch (store.node(expr).op) {
    case SymOp::float_constant:
      return Number::of(store.float_value(expr));
    case SymOp::rational:
      return Number{Number::Form::rational, store.numerator(expr), store.denominator(expr), 0};
    case SymOp::int_infinity:
      return Number{Number::Form::int_infinity, 1, 1, 0};
    case SymOp::negative_int_infinity:
      return Number{Number::Form::int_infinity, -1, 1, 0};
    case SymOp::infinity:
      return Number{Number::Form::infinity, 1, 1, 0};
    case SymOp::negative_infinity:
      return Number{Number::Form::infinity, -1, 1, 0};
    case SymOp::complex_infinity:
      return Number{Number::Form::complex_infinity, 0, 1, 0};
    case SymOp::nan:
      return Number{Number::Form::nan, 0, 1, 0};
    default:
      return std::nullopt;
  }
}

bool is_number(const SymbolicContext& context, SymExpr expr) {
  if (expr.is_constant()) return true;
  const SymOp op = context.op(expr);
  return op >= SymOp::rational && op <= SymOp::nan && op != SymOp::true_constant &&
         op != SymOp::false_constant;
}

SymExpr from_number(SymbolicContext& context, const Number& number) {
  switch (number.form) {
    case Number::Form::integer:
      return SymExpr(number.numerator);
    case Number::Form::rational:
      return context.store().intern_rational(number.numerator, number.denominator);
    case Number::Form::real:
      return context.store().intern_float(number.real);
    case Number::Form::int_infinity:
      return ExprStore::atom(number.sign() < 0 ? SymOp::negative_int_infinity
                                               : SymOp::int_infinity);
    case Number::Form::infinity:
      return ExprStore::atom(number.sign() < 0 ? SymOp::negative_infinity : SymOp::infinity);
    case Number::Form::complex_infinity:
      return ExprStore::atom(SymOp::complex_infinity);
    default:
      return ExprStore::atom(SymOp::nan);
  }
}

CoefficientAndRest split_coefficient(SymbolicContext& context, SymExpr expr) {
  if (is_number(context, expr)) return {expr, 1};
  if (context.op(expr) != SymOp::mul) return {1, expr};
  const auto factors = context.operands(expr);
  if (!is_number(context, factors[0])) return {1, expr};
  const SymExpr coefficient = factors[0];
  if (factors.size() == 2) return {coefficient, factors[1]};
  const auto rest = factors.subspan(1);
  return {coefficient, context.store().intern(SymOp::mul, arithmetic_kind(context, rest), rest)};
}

ConstantAndRest split_constant(SymbolicContext& context, SymExpr expr) {
  if (is_number(context, expr)) return {expr, 0};
  if (context.op(expr) != SymOp::add) return {0, expr};
  const auto terms = context.operands(expr);
  if (!is_number(context, terms[0])) return {0, expr};
  const SymExpr constant = terms[0];
  if (terms.size() == 2) return {constant, terms[1]};
  const auto rest = terms.subspan(1);
  return {constant, context.store().intern(SymOp::add, arithmetic_kind(context, rest), rest)};
}

BaseAndExponent split_power(const SymbolicContext& context, SymExpr factor) {
  if (context.op(factor) == SymOp::pow) {
    const auto parts = context.operands(factor);
    if (parts[1].is_constant()) return {parts[0], parts[1].constant()};
  }
  return {factor, 1};
}

std::span<const SymExpr> terms_of(const SymbolicContext& context, const SymExpr& expr) {
  return context.op(expr) == SymOp::add ? context.operands(expr)
                                        : std::span<const SymExpr>(&expr, 1);
}

std::span<const SymExpr> factors_of(const SymbolicContext& context, const SymExpr& expr) {
  return context.op(expr) == SymOp::mul ? context.operands(expr)
                                        : std::span<const SymExpr>(&expr, 1);
}

std::optional<std::int64_t> integer_coefficient(const SymbolicContext& context, SymExpr term) {
  const SymExpr first = factors_of(context, term)[0];
  if (first.is_constant()) return first.constant();
  if (is_number(context, first)) return std::nullopt;
  return 1;
}

bool all_coefficients_divisible(const SymbolicContext& context, SymExpr expr,
                                std::int64_t divisor) {
  return std::ranges::all_of(terms_of(context, expr), [&](SymExpr term) {
    if (context.kind(term) != SymKind::int_kind) return false;
    const auto coefficient = integer_coefficient(context, term);
    return coefficient && floor_modulo(*coefficient, divisor) == 0;
  });
}

bool is_multiple(SymbolicContext& context, SymExpr expr, std::int64_t divisor) {
  constexpr int most_nested = 8;
  SymExpr sum = context.expand(expr);
  for (int round = 0; round < most_nested; ++round) {
    if (all_coefficients_divisible(context, sum, divisor)) return true;
    const auto view = terms_of(context, sum);
    std::vector<SymExpr> terms(view.begin(), view.end());
    bool changed = false;
    for (SymExpr& term : terms) {
      const auto [coefficient, rest] = split_coefficient(context, term);
      const SymOp op = context.op(rest);
      if (!coefficient.is_constant() || (op != SymOp::mod && op != SymOp::python_mod)) continue;
      const SymExpr dividend = context.operands(rest)[0];
      const SymExpr modulus = context.operands(rest)[1];
      if (!modulus.is_constant() || floor_modulo(modulus.constant(), divisor) != 0) continue;
      term = context.mul(coefficient, dividend);
      changed = true;
    }
    if (!changed) return false;
    sum = context.expand(context.add(terms));
  }
  return false;
}

void require_number(const SymbolicContext& context, SymExpr operand, SymOp op) {
  if (context.kind(operand) != SymKind::bool_kind) return;
  fail("{} needs numbers, but its operand `{}` is a boolean", sym_op_info(op).name,
       shown(context, operand));
}

void require_bool(const SymbolicContext& context, SymExpr operand, SymOp op) {
  if (context.kind(operand) == SymKind::bool_kind) return;
  fail("{} needs booleans, but its operand `{}` is a number", sym_op_info(op).name,
       shown(context, operand));
}

SymKind arithmetic_kind(const SymbolicContext& context, std::span<const SymExpr> operands) {
  for (const SymExpr operand : operands) {
    if (context.kind(operand) == SymKind::float_kind) return SymKind::float_kind;
  }
  return SymKind::int_kind;
}

Number require_in_range(const std::optional<Number>& number, std::string_view what) {
  if (number) return *number;
  throw Error(fmt::format("a {} of integers is out of the range of int64", what),
              "sizes and strides are 64-bit integers in PyTorch too");
}

}  // namespace winze
