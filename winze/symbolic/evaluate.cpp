// SPDX-License-Identifier: Apache-2.0
// Values of expressions, as Python computes them.
#include <algorithm>
#include <cmath>
#include <limits>

#include "winze/symbolic/expr_parts.h"
#include "winze/symbolic/number.h"
#include "winze/symbolic/scalar_functions.h"
#include "winze/symbolic/symbolic_context.h"
#include "winze/symbolic/traversal.h"

namespace winze {
namespace {

__extension__ using Wide = __int128;
using Value = std::optional<SymValue>;

bool is_float(const SymValue& value) {
  return std::holds_alternative<double>(value);
}

/// An int or a bool, as Python counts with it.
std::int64_t to_int(const SymValue& value) {
  if (const bool* boolean = std::get_if<bool>(&value)) return *boolean ? 1 : 0;
  return std::get<std::int64_t>(value);
}

double to_double(const SymValue& value) {
  return is_float(value) ? std::get<double>(value) : static_cast<double>(to_int(value));
}

bool to_bool(const SymValue& value) {
  return is_float(value) ? to_double(value) != 0 : to_int(value) != 0;
}

std::partial_ordering order(const SymValue& a, const SymValue& b) {
  if (is_float(a)) {
    if (is_float(b)) return to_double(a) <=> to_double(b);
    return 0 <=> compare(to_int(b), to_double(a));
  }
  return is_float(b) ? compare(to_int(a), to_double(b)) : to_int(a) <=> to_int(b);
}

template <typename T>
Value wrap(const std::optional<T>& value) {
  if (!value) return std::nullopt;
  return SymValue(*value);
}

/// The remainder of floats with the sign of the divisor, and what Python's divmod makes of it.
struct FloatDivision {
  double quotient = 0;
  double remainder = 0;
};
std::optional<FloatDivision> divide_floats(double a, double b) {
  if (b == 0) return std::nullopt;
  double remainder = std::fmod(a, b);
  double quotient = (a - remainder) / b;
  if (remainder != 0) {
    if ((b < 0) != (remainder < 0)) {
      remainder += b;
      quotient -= 1;
    }
  } else {
    remainder = std::copysign(0.0, b);
  }
  if (quotient == 0) return FloatDivision{std::copysign(0.0, a / b), remainder};
  double whole = std::floor(quotient);
  if (quotient - whole > 0.5) whole += 1;
  return FloatDivision{whole, remainder};
}

using Operands = std::span<const SymValue>;

bool any_float(Operands operands) {
  return std::ranges::any_of(operands, is_float);
}

Value sum(Operands operands) {
  if (any_float(operands)) {
    double total = to_double(operands[0]);
    for (const SymValue& operand : operands.subspan(1)) total += to_double(operand);
    return total;
  }
  Wide total = 0;
  for (const SymValue& operand : operands) total += to_int(operand);
  if (total < std::numeric_limits<std::int64_t>::min() ||
      total > std::numeric_limits<std::int64_t>::max()) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(total);
}

Value product(Operands operands) {
  if (any_float(operands)) {
    double total = to_double(operands[0]);
    for (const SymValue& operand : operands.subspan(1)) total *= to_double(operand);
    return total;
  }
  std::optional<std::int64_t> total = 1;
  for (const SymValue& operand : operands) {
    if (to_int(operand) == 0) return std::int64_t{0};
    if (total) total = checked_mul(*total, to_int(operand));
  }
  return wrap(total);
}

Value power(const SymValue& base, const SymValue& exponent) {
  if (!is_float(base) && !is_float(exponent) && to_int(exponent) >= 0) {
    return wrap(checked_pow(to_int(base), to_int(exponent)));
  }
  return wrap(python_float_pow(to_double(base), to_double(exponent)));
}

Value quotient(const SymValue& a, const SymValue& b) {
  if (!is_float(a) && !is_float(b)) return wrap(floor_divide(to_int(a), to_int(b)));
  const auto division = divide_floats(to_double(a), to_double(b));
  return division ? Value(division->quotient) : std::nullopt;
}

Value remainder(const SymValue& a, const SymValue& b) {
  if (!is_float(a) && !is_float(b)) return wrap(floor_modulo(to_int(a), to_int(b)));
  const auto division = divide_floats(to_double(a), to_double(b));
  return division ? Value(division->remainder) : std::nullopt;
}

Value true_quotient(SymOp op, const SymValue& a, const SymValue& b) {
  if (op == SymOp::int_true_div && !is_float(a) && !is_float(b)) {
    return wrap(true_divide(to_int(a), to_int(b)));
  }
  const double divisor = to_double(b);
  if (divisor == 0) return std::nullopt;
  return to_double(a) / divisor;
}

Value extreme(SymOp op, Operands operands) {
  const SymValue* best = operands.data();
  for (const SymValue& operand : operands.subspan(1)) {
    const auto compared = order(operand, *best);
    if (op == SymOp::max ? compared > 0 : compared < 0) best = &operand;
  }
  if (any_float(operands)) return to_double(*best);
  return to_int(*best);
}

Value bitwise(SymOp op, const SymValue& a, const SymValue& b) {
  if (is_float(a) || is_float(b)) return std::nullopt;
  const std::int64_t x = to_int(a);
  const std::int64_t y = to_int(b);
  const std::int64_t bits = op == SymOp::bitwise_and  ? x & y
                            : op == SymOp::bitwise_or ? x | y
                                                      : x ^ y;
  const bool bools = std::holds_alternative<bool>(a) && std::holds_alternative<bool>(b);
  return bools ? SymValue(bits != 0) : SymValue(bits);
}

Value round_decimal(const SymValue& value, const SymValue& digits) {
  if (is_float(digits)) return std::nullopt;
  return wrap(round_to_decimal(to_double(value), to_int(digits)));
}

Value truncated(const SymValue& value) {
  if (!is_float(value)) return to_double(value);
  if (!std::isfinite(to_double(value))) return std::nullopt;
  return std::trunc(to_double(value));
}

Value magnitude_of(const SymValue& value) {
  if (is_float(value)) return std::fabs(to_double(value));
  return to_int(value) < 0 ? wrap(checked_sub(0, to_int(value))) : Value(to_int(value));
}

Value to_integer(SymOp op, const SymValue& value) {
  if (!is_float(value)) return to_int(value);
  return wrap(round_to_integer(op, to_double(value)));
}

Value indicator(Operands operands) {
  std::vector<std::int64_t> values;
  for (const SymValue& operand : operands) {
    if (is_float(operand)) return std::nullopt;
    values.push_back(to_int(operand));
  }
  return std::int64_t{is_non_overlapping_and_dense(values) ? 1 : 0};
}

Value relation(SymOp op, const SymValue& a, const SymValue& b) {
  const auto compared = order(a, b);
  switch (op) {
    case SymOp::eq:
      return compared == 0;
    case SymOp::ne:
      return compared != 0;
    case SymOp::lt:
      return compared < 0;
    default:
      return compared <= 0;
  }
}

/// The value of an operation whose operands all have values.
Value value_of_operation(SymOp op, Operands operands) {
  const auto at = [operands](std::size_t i) -> const SymValue& { return operands[i]; };
  switch (op) {
    case SymOp::add:
      return sum(operands);
    case SymOp::mul:
      return product(operands);
    case SymOp::max:
    case SymOp::min:
      return extreme(op, operands);
    case SymOp::pow:
    case SymOp::pow_by_natural:
      return power(at(0), at(1));
    case SymOp::floor_div:
    case SymOp::clean_div:
      return quotient(at(0), at(1));
    case SymOp::mod:
    case SymOp::python_mod:
      return remainder(at(0), at(1));
    case SymOp::modular_indexing: {
      const auto divided = quotient(at(0), at(1));
      return divided ? remainder(*divided, at(2)) : std::nullopt;
    }
    case SymOp::float_pow:
      return wrap(python_float_pow(to_double(at(0)), to_double(at(1))));
    case SymOp::int_true_div:
    case SymOp::float_true_div:
      return true_quotient(op, at(0), at(1));
    case SymOp::trunc_to_float:
      return truncated(at(0));
    case SymOp::round_decimal:
      return round_decimal(at(0), at(1));
    case SymOp::to_float:
      return to_double(at(0));
    case SymOp::abs:
      return magnitude_of(at(0));
    case SymOp::bitwise_and:
    case SymOp::bitwise_or:
    case SymOp::bitwise_xor:
      return bitwise(op, at(0), at(1));
    case SymOp::identity:
      return at(0);
    case SymOp::is_non_overlapping_and_dense_indicator:
      return indicator(operands);
    case SymOp::eq:
    case SymOp::ne:
    case SymOp::lt:
    case SymOp::le:
      return relation(op, at(0), at(1));
    case SymOp::land:
      return std::ranges::all_of(operands, to_bool);
    case SymOp::lor:
      return std::ranges::any_of(operands, to_bool);
    case SymOp::lnot:
      return !to_bool(at(0));
    case SymOp::ceil_to_int:
    case SymOp::floor_to_int:
    case SymOp::trunc_to_int:
    case SymOp::round_to_int:
    case SymOp::floor:
    case SymOp::ceiling:
      return to_integer(op, at(0));
    default:
      return wrap(apply_opaque_unary(op, to_double(at(0))));
  }
}

/// The choice of Where and Piecewise: what is not chosen needs no value.
Value choose(SymOp op, std::span<const Value> operands) {
  if (op == SymOp::where) {
    if (!operands[0]) return std::nullopt;
    return to_bool(*operands[0]) ? operands[1] : operands[2];
  }
  for (std::size_t i = 0; i < operands.size(); i += 2) {
    if (!operands[i + 1]) return std::nullopt;
    if (to_bool(*operands[i + 1])) return operands[i];
  }
  return std::nullopt;
}

class Evaluator {
 public:
  Evaluator(const SymbolicContext& context, const SymLookup& lookup)
      : context_(context), lookup_(lookup) {}

  Value run(SymExpr expr) {
    if (expr.is_constant()) return SymValue(expr.constant());
    const Traversal traversal(context_, expr);
    values_.reserve(traversal.order().size());
    for (const SymExpr node : traversal.order()) values_.push_back(value_of(traversal, node));
    return values_.back();
  }

 private:
  Value value_of(const Traversal& traversal, SymExpr node) {
    const SymOp op = context_.op(node);
    if (op == SymOp::symbol) return lookup_(node);
    const auto operands = context_.operands(node);
    if (operands.empty() && op < SymOp::add) return context_.constant_value(node);
    const auto operand_value = [&](SymExpr operand) -> Value {
      if (operand.is_constant()) return SymValue(operand.constant());
      return values_[traversal.place(operand)];
    };
    if (op == SymOp::where || op == SymOp::piecewise) {
      optional_.clear();
      for (const SymExpr operand : operands) optional_.push_back(operand_value(operand));
      return as_kind(node, choose(op, optional_));
    }
    known_.clear();
    for (const SymExpr operand : operands) {
      const Value value = operand_value(operand);
      if (!value) return std::nullopt;
      known_.push_back(*value);
    }
    return as_kind(node, value_of_operation(op, known_));
  }

  /// An expression of kind float has a float value whichever operand it comes from.
  Value as_kind(SymExpr node, const Value& value) const {
    if (!value || is_float(*value) || context_.kind(node) != SymKind::float_kind) return value;
    return to_double(*value);
  }

  const SymbolicContext& context_;
  const SymLookup& lookup_;
  std::vector<Value> values_;
  std::vector<Value> optional_;
  std::vector<SymValue> known_;
};

}  // namespace

std::optional<SymValue> SymbolicContext::evaluate(SymExpr expr, const SymLookup& lookup) const {
  return Evaluator(*this, lookup).run(expr);
}

std::optional<std::int64_t> SymbolicContext::evaluate_int(SymExpr expr,
                                                          const SymLookup& lookup) const {
  const auto value = evaluate(expr, lookup);
  if (!value || !std::holds_alternative<std::int64_t>(*value)) return std::nullopt;
  return std::get<std::int64_t>(*value);
}

}  // namespace winze
