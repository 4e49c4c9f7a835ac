// SPDX-License-Identifier: Apache-2.0
#include "winze/symbolic/scalar_functions.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "winze/symbolic/expr_parts.h"
#include "winze/symbolic/number.h"
#include "winze/symbolic/symbolic_context.h"

namespace winze {
namespace {

double math_function(SymOp op, double value) {
  switch (op) {
    case SymOp::opaque_sqrt:
      return std::sqrt(value);
    case SymOp::opaque_cos:
      return std::cos(value);
    case SymOp::opaque_cosh:
      return std::cosh(value);
    case SymOp::opaque_sin:
      return std::sin(value);
    case SymOp::opaque_sinh:
      return std::sinh(value);
    case SymOp::opaque_tan:
      return std::tan(value);
    case SymOp::opaque_tanh:
      return std::tanh(value);
    case SymOp::opaque_asin:
      return std::asin(value);
    case SymOp::opaque_acos:
      return std::acos(value);
    case SymOp::opaque_atan:
      return std::atan(value);
    case SymOp::opaque_exp:
      return std::exp(value);
    case SymOp::opaque_log:
      return std::log(value);
    case SymOp::opaque_asinh:
      return std::asinh(value);
    default:
      return std::log2(value);
  }
}

bool is_finite_number(const std::optional<Number>& number) {
  return number && number->is_finite();
}

/// Folds CeilToInt and its kin on finite constants.
SymExpr to_integer(SymbolicContext& context, SymOp op, SymExpr a) {
  require_number(context, a, op);
  if (a.is_constant()) return a;
  const auto number = as_number(context.store(), a);
  if (is_finite_number(number)) {
    const auto rounded = round_to_integer(op, number->to_double());
    if (rounded && SymExpr::fits(*rounded)) return *rounded;
  }
  if (a == ExprStore::atom(SymOp::infinity)) return SymbolicContext::int_oo();
  if (a == ExprStore::atom(SymOp::negative_infinity)) return SymbolicContext::negative_int_oo();
  const bool is_infinity = number && number->form == Number::Form::int_infinity;
  return is_infinity ? a : context.store().intern(op, SymKind::int_kind, {&a, 1});
}

SymExpr bitwise(SymbolicContext& context, SymOp op, SymExpr a, SymExpr b) {
  const auto is_bool = [&](SymExpr e) { return context.kind(e) == SymKind::bool_kind; };
  const auto as_integer = [&](SymExpr e) {
    if (e == context.bool_constant(true)) return SymExpr(1);
    if (e == context.bool_constant(false)) return SymExpr(0);
    return e;
  };
  const bool both_bool = is_bool(a) && is_bool(b);
  if (both_bool && op == SymOp::bitwise_and) return context.land(a, b);
  if (both_bool && op == SymOp::bitwise_or) return context.lor(a, b);
  a = as_integer(a);
  b = as_integer(b);
  if (context.kind(a) == SymKind::float_kind || context.kind(b) == SymKind::float_kind) {
    fail("{} needs integers or booleans", sym_op_info(op).name);
  }
  if (a.is_constant() && b.is_constant()) {
    const std::int64_t x = a.constant();
    const std::int64_t y = b.constant();
    return op == SymOp::bitwise_and ? x & y : op == SymOp::bitwise_or ? x | y : x ^ y;
  }
  const SymExpr operands[] = {a, b};
  return context.store().intern(op, both_bool ? SymKind::bool_kind : SymKind::int_kind, operands);
}

/// Max and Min: flattened, constants folded, each operand once.
SymExpr extreme(SymbolicContext& context, SymOp op, std::span<const SymExpr> given) {
  std::vector<SymExpr> pending(given.begin(), given.end());
  std::vector<SymExpr> operands;
  std::optional<Number> constant;
  for (const SymExpr operand : pending) {
    require_number(context, operand, op);
    const bool nested = context.op(operand) == op;
    const auto parts = nested ? context.operands(operand) : std::span(&operand, 1);
    context.store().add_work(parts.size());
    for (const SymExpr part : parts) {
      const auto number = as_number(context.store(), part);
      if (!number) {
        operands.push_back(part);
        continue;
      }
      if (!constant) {
        constant = number;
        continue;
      }
      const auto order = compare(*number, *constant);
      if (order == std::partial_ordering::unordered) {
        fail("{} of numbers that cannot be compared", sym_op_info(op).name);
      }
      if (op == SymOp::max ? order > 0 : order < 0) constant = number;
    }
  }
  if (constant) {
    if (operands.empty()) return from_number(context, *constant);
    const int sign = op == SymOp::max ? 1 : -1;
    if (constant->form == Number::Form::infinity) {  // above or below everything
      if (constant->sign() == sign) return from_number(context, *constant);
    } else {
      operands.push_back(from_number(context, *constant));
    }
  }
  std::ranges::sort(operands, [&](SymExpr a, SymExpr b) { return context.store().before(a, b); });
  operands.erase(std::ranges::unique(operands).begin(), operands.end());
  if (operands.empty()) fail("{} needs an operand", sym_op_info(op).name);
  if (operands.size() == 1) return operands[0];
  return context.store().intern(op, arithmetic_kind(context, operands), operands);
}

/// The indicator when it is known without the values of all symbols; PyTorch's own shortcuts.
std::optional<SymExpr> known_indicator(std::span<const SymExpr> operands) {
  const std::size_t rank = operands.size() / 2;
  std::vector<std::int64_t> values(operands.size());
  std::optional<std::size_t> unknown;
  std::size_t unknown_count = 0;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].is_constant()) {
      values[i] = operands[i].constant();
    } else {
      unknown = i;
      ++unknown_count;
    }
  }
  if (rank == 1) {
    if (operands[1] == SymExpr(1)) return 1;
    if (operands[0].is_constant() && operands[0].constant() < 2) return 1;
  }
  if (unknown_count > 1 || (unknown && *unknown >= rank)) return std::nullopt;
  if (unknown) {
    // The size of the dimension with the largest stride does not matter.
    for (std::size_t i = 0; i < rank; ++i) {
      const bool larger = values[rank + i] > values[rank + *unknown] ||
                          (values[rank + i] == values[rank + *unknown] && i > *unknown);
      if (larger) return std::nullopt;
    }
    values[*unknown] = 42;
  }
  return is_non_overlapping_and_dense(values) ? 1 : 0;
}

}  // namespace

std::optional<double> apply_opaque_unary(SymOp op, double value) {
  const bool is_logarithm = op == SymOp::opaque_log || op == SymOp::opaque_log2;
  if (is_logarithm && value <= 0) return std::nullopt;
  const double result = math_function(op, value);
  if (std::isnan(result) && !std::isnan(value)) return std::nullopt;
  if (std::isinf(result) && !std::isinf(value)) return std::nullopt;
  return result;
}

std::optional<double> python_float_pow(double base, double exponent) {
  if (base == 0 && exponent < 0) return std::nullopt;
  if (base < 0 && std::isfinite(base) && std::isfinite(exponent) &&
      std::trunc(exponent) != exponent) {
    return std::nullopt;
  }
  const double result = std::pow(base, exponent);
  if (std::isinf(result) && std::isfinite(base) && std::isfinite(exponent)) return std::nullopt;
  return result;
}

std::optional<std::int64_t> round_to_integer(SymOp op, double value) {
  switch (op) {
    case SymOp::ceil_to_int:
    case SymOp::ceiling:
      return exact_integer(std::ceil(value));
    case SymOp::floor_to_int:
    case SymOp::floor:
      return exact_integer(std::floor(value));
    case SymOp::round_to_int:
      return exact_integer(std::nearbyint(value));
    default:
      return exact_integer(std::trunc(value));
  }
}

bool is_non_overlapping_and_dense(std::span<const std::int64_t> values) {
  const std::size_t rank = values.size() / 2;
  const auto sizes = values.first(rank);
  const auto strides = values.subspan(rank);
  if (rank == 1) return strides[0] == 1 || sizes[0] < 2;
  std::vector<std::size_t> order(rank);
  for (std::size_t i = 0; i < rank; ++i) order[i] = i;
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(strides[i], i); });
  std::int64_t expected = 1;
  for (const std::size_t i : order) {
    if (sizes[i] == 1) continue;
    if (strides[i] != expected) return false;
    const auto next = checked_mul(expected, sizes[i]);
    if (!next) return false;
    expected = *next;
  }
  return true;
}

SymExpr SymbolicContext::float_pow(SymExpr base, SymExpr exponent) {
  require_number(*this, base, SymOp::float_pow);
  require_number(*this, exponent, SymOp::float_pow);
  const auto x = as_number(store_, base);
  const auto y = as_number(store_, exponent);
  if (is_finite_number(x) && is_finite_number(y)) {
    const auto power = python_float_pow(x->to_double(), y->to_double());
    if (power) return float_constant(*power);
  }
  const SymExpr operands[] = {base, exponent};
  return store_.intern(SymOp::float_pow, SymKind::float_kind, operands);
}

SymExpr SymbolicContext::int_true_div(SymExpr a, SymExpr b) {
  require_number(*this, a, SymOp::int_true_div);
  require_number(*this, b, SymOp::int_true_div);
  if (b == SymExpr(0)) fail("division by zero in IntTrueDiv");
  if (a.is_constant() && b.is_constant()) {
    return float_constant(*true_divide(a.constant(), b.constant()));
  }
  const SymExpr operands[] = {a, b};
  return store_.intern(SymOp::int_true_div, SymKind::float_kind, operands);
}

SymExpr SymbolicContext::float_true_div(SymExpr a, SymExpr b) {
  require_number(*this, a, SymOp::float_true_div);
  require_number(*this, b, SymOp::float_true_div);
  const auto x = as_number(store_, a);
  const auto y = as_number(store_, b);
  if (y && y->is_zero()) fail("division by zero in FloatTrueDiv");
  if (is_finite_number(x) && is_finite_number(y)) {
    return float_constant(x->to_double() / y->to_double());
  }
  const SymExpr operands[] = {a, b};
  return store_.intern(SymOp::float_true_div, SymKind::float_kind, operands);
}

SymExpr SymbolicContext::to_float(SymExpr a) {
  require_number(*this, a, SymOp::to_float);
  if (a.is_constant()) return float_constant(static_cast<double>(a.constant()));
  if (a == int_oo()) return ExprStore::atom(SymOp::infinity);
  if (a == negative_int_oo()) return ExprStore::atom(SymOp::negative_infinity);
  const bool is_infinity = op(a) == SymOp::infinity || op(a) == SymOp::negative_infinity;
  return is_infinity ? a : store_.intern(SymOp::to_float, SymKind::float_kind, {&a, 1});
}

SymExpr SymbolicContext::ceil_to_int(SymExpr a) {
  return to_integer(*this, SymOp::ceil_to_int, a);
}
SymExpr SymbolicContext::floor_to_int(SymExpr a) {
  return to_integer(*this, SymOp::floor_to_int, a);
}
SymExpr SymbolicContext::trunc_to_int(SymExpr a) {
  return to_integer(*this, SymOp::trunc_to_int, a);
}
SymExpr SymbolicContext::round_to_int(SymExpr a) {
  return to_integer(*this, SymOp::round_to_int, a);
}

SymExpr SymbolicContext::floor(SymExpr a) {
  return kind(a) == SymKind::int_kind ? a : to_integer(*this, SymOp::floor, a);
}
SymExpr SymbolicContext::ceiling(SymExpr a) {
  return kind(a) == SymKind::int_kind ? a : to_integer(*this, SymOp::ceiling, a);
}

SymExpr SymbolicContext::trunc_to_float(SymExpr a) {
  require_number(*this, a, SymOp::trunc_to_float);
  const auto number = as_number(store_, a);
  if (is_finite_number(number)) return float_constant(std::trunc(number->to_double()));
  const bool is_infinity = number && number->form == Number::Form::infinity;
  return is_infinity ? a : store_.intern(SymOp::trunc_to_float, SymKind::float_kind, {&a, 1});
}

SymExpr SymbolicContext::round_decimal(SymExpr a, SymExpr digits) {
  require_number(*this, a, SymOp::round_decimal);
  require_number(*this, digits, SymOp::round_decimal);
  const auto number = as_number(store_, a);
  if (is_finite_number(number) && digits.is_constant()) {
    const auto rounded = round_to_decimal(number->to_double(), digits.constant());
    if (rounded) return float_constant(*rounded);
  }
  const SymExpr operands[] = {a, digits};
  return store_.intern(SymOp::round_decimal, SymKind::float_kind, operands);
}

SymExpr SymbolicContext::abs(SymExpr a) {
  require_number(*this, a, SymOp::abs);
  if (auto number = as_number(store_, a)) {
    if (number->sign() != 0 || number->is_zero()) {
      const Number sign = Number::of(std::int64_t{number->sign()});
      return from_number(*this, require_in_range(number_mul(*number, sign), "product"));
    }
  }
  return store_.intern(SymOp::abs, kind(a), {&a, 1});
}

SymExpr SymbolicContext::opaque_unary(SymOp op, SymExpr a) {
  WINZE_CHECK(is_opaque_unary(op), "not an opaque function: {}", sym_op_info(op).name);
  require_number(*this, a, op);
  if (a.is_constant() || this->op(a) == SymOp::float_constant) {
    if (const auto value = apply_opaque_unary(op, as_number(store_, a)->to_double())) {
      return float_constant(*value);
    }
  }
  return store_.intern(op, SymKind::float_kind, {&a, 1});
}

SymExpr SymbolicContext::bitwise_and(SymExpr a, SymExpr b) {
  return bitwise(*this, SymOp::bitwise_and, a, b);
}
SymExpr SymbolicContext::bitwise_or(SymExpr a, SymExpr b) {
  return bitwise(*this, SymOp::bitwise_or, a, b);
}
SymExpr SymbolicContext::bitwise_xor(SymExpr a, SymExpr b) {
  return bitwise(*this, SymOp::bitwise_xor, a, b);
}

SymExpr SymbolicContext::max(SymExpr a, SymExpr b) {
  if (a.is_constant() && b.is_constant()) return std::max(a.constant(), b.constant());
  const SymExpr operands[] = {a, b};
  return extreme(*this, SymOp::max, operands);
}
SymExpr SymbolicContext::max(std::span<const SymExpr> operands) {
  return extreme(*this, SymOp::max, operands);
}
SymExpr SymbolicContext::min(SymExpr a, SymExpr b) {
  if (a.is_constant() && b.is_constant()) return std::min(a.constant(), b.constant());
  const SymExpr operands[] = {a, b};
  return extreme(*this, SymOp::min, operands);
}
SymExpr SymbolicContext::min(std::span<const SymExpr> operands) {
  return extreme(*this, SymOp::min, operands);
}

SymExpr SymbolicContext::identity(SymExpr a) {
  return store_.intern(SymOp::identity, kind(a), {&a, 1});
}

SymExpr SymbolicContext::is_non_overlapping_and_dense_indicator(std::span<const SymExpr> operands) {
  constexpr SymOp self = SymOp::is_non_overlapping_and_dense_indicator;
  if (operands.size() % 2 != 0) {
    fail("{} needs as many strides as sizes, but has {} operands", sym_op_info(self).name,
         operands.size());
  }
  for (const SymExpr operand : operands) require_number(*this, operand, self);
  if (const auto known = known_indicator(operands)) return *known;
  return store_.intern(self, SymKind::int_kind, operands);
}

}  // namespace winze
