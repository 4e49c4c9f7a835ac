// SPDX-License-Identifier: Apache-2.0
// Ranges of expressions by interval arithmetic.
#include <algorithm>
#include <cmath>

#include "winze/symbolic/expr_parts.h"
#include "winze/symbolic/number.h"
#include "winze/symbolic/symbolic_context.h"

namespace winze {
namespace {

constexpr Range zero_or_one{0, 1};
/// Integers up to here are doubles, so that rounding, which is monotonic, does not pass them.
constexpr std::int64_t exact_doubles = std::int64_t{1} << 53;

Range of_double(double value) {
  if (std::isnan(value)) return Range::all();
  const auto floor = exact_integer(std::floor(value));
  const auto ceiling = exact_integer(std::ceil(value));
  if (floor && ceiling) return {*floor, *ceiling};
  return value > 0 ? Range{Range::infinity - 1, Range::infinity}
                   : Range{Range::minus_infinity, Range::minus_infinity + 1};
}

Range of_atom(const ExprStore& store, SymExpr expr) {
  switch (store.node(expr).op) {
    case SymOp::symbol:
      return store.symbols()[store.node(expr).first].range;
    case SymOp::true_constant:
      return Range::exactly(1);
    case SymOp::false_constant:
      return Range::exactly(0);
    case SymOp::rational: {
      const auto floor = floor_divide(store.numerator(expr), store.denominator(expr));
      return {*floor, *floor + 1};
    }
    case SymOp::int_infinity:
      return {Range::infinity - 1, Range::infinity};
    case SymOp::negative_int_infinity:
      return {Range::minus_infinity, Range::minus_infinity + 1};
    default:
      return of_double(as_number(store, expr)->to_double());
  }
}

/// The integers around the exact quotient.
Range true_quotient(Range a, Range b) {
  const Range floor = range_floor_div(a, b);
  const Range ceiling = range_negate(range_floor_div(range_negate(a), b));
  return hull(floor, ceiling);
}

/// A power with an exponent that is not constant, or negative.
Range general_power(Range base, Range exponent) {
  if (base.empty() || exponent.empty()) return {1, 0};
  if (base.lo < 0) return Range::all();
  if (base.lo < 1) return Range::at_least(0);
  if (exponent.lo < 0) return exponent.hi <= 0 ? Range{0, 1} : Range::at_least(0);
  const Range low = exponent.lo > 64 && base.lo > 1
                        ? Range::at_least(Range::infinity - 1)
                        : range_pow(Range{base.lo, base.lo}, exponent.lo);
  if (exponent.hi == Range::infinity || base.hi == Range::infinity) return Range::at_least(low.lo);
  return {low.lo, range_pow(Range{base.hi, base.hi}, exponent.hi).hi};
}

Range power(const SymbolicContext& context, std::span<const SymExpr> operands, Range base,
            Range exponent) {
  if (operands[1].is_constant() && operands[1].constant() >= 0) {
    return range_pow(base, operands[1].constant());
  }
  // A float power rounds; between integers it keeps to them only as general_power says.
  (void)context;
  return general_power(base, exponent);
}

Range absolute(Range a) {
  if (a.empty() || a.lo >= 0) return a;
  const Range mirrored = range_negate(a);
  if (a.hi <= 0) return mirrored;
  return {0, std::max(a.hi, mirrored.hi)};
}

Range bitwise(SymOp op, Range a, Range b) {
  if (a.empty() || b.empty()) return {1, 0};
  if (op == SymOp::bitwise_and) {
    if (a.lo >= 0 && b.lo >= 0) return {0, std::min(a.hi, b.hi)};
    if (a.lo >= 0) return {0, a.hi};
    if (b.lo >= 0) return {0, b.hi};
    return Range::all();
  }
  if (a.lo < 0 || b.lo < 0) return Range::all();
  // No bit above the highest of both.
  const auto most = static_cast<std::uint64_t>(std::max(a.hi, b.hi));
  const std::uint64_t ones = most == 0 ? 0 : ~std::uint64_t{0} >> __builtin_clzll(most);
  return {op == SymOp::bitwise_or ? std::max(a.lo, b.lo) : 0, static_cast<std::int64_t>(ones)};
}

Range decided(bool always, bool never) {
  if (always) return Range::exactly(1);
  return never ? Range::exactly(0) : zero_or_one;
}

/// A relation with a NaN is false, `!=` with one is true.
Range relation(SymOp op, Range a, Range b, bool may_be_nan) {
  if (a.empty() || b.empty()) return zero_or_one;
  const bool apart = a.hi < b.lo || b.hi < a.lo;
  const bool same = a.is_single() && a == b && !may_be_nan;
  switch (op) {
    case SymOp::eq:
      return decided(same, apart);
    case SymOp::ne:
      return decided(apart, same);
    case SymOp::lt:
      return decided(a.hi < b.lo && !may_be_nan, a.lo >= b.hi);
    default:
      return decided(a.hi <= b.lo && !may_be_nan, a.lo > b.hi);
  }
}

Range opaque(SymOp op, Range a) {
  switch (op) {
    case SymOp::opaque_sqrt:
      return Range::at_least(a.lo >= 1 ? 1 : 0);
    case SymOp::opaque_exp:
      return Range::at_least(a.lo >= 0 ? 1 : 0);
    case SymOp::opaque_cosh:
      return Range::at_least(1);
    case SymOp::opaque_cos:
    case SymOp::opaque_sin:
    case SymOp::opaque_tanh:
      return {-1, 1};
    case SymOp::opaque_log:
    case SymOp::opaque_log2:
      return a.lo >= 1 ? Range::at_least(0) : Range::all();
    case SymOp::opaque_asin:
    case SymOp::opaque_atan:
      return {-2, 2};
    case SymOp::opaque_acos:
      return {0, 4};
    default:
      return Range::all();
  }
}

/// The range of a node from those of its operands.
class RangeRule {
 public:
  RangeRule(const SymbolicContext& context, const std::vector<Range>& cache)
      : context_(context), cache_(cache) {}

  Range of(SymExpr expr) const {
    const auto operands = context_.operands(expr);
    if (operands.empty() && context_.op(expr) < SymOp::add) return of_atom(context_.store(), expr);
    Range result = of_operation(context_.op(expr), operands);
    if (context_.kind(expr) == SymKind::float_kind) {
      if (result.lo < -exact_doubles) result.lo = Range::minus_infinity;
      if (result.hi > exact_doubles) result.hi = Range::infinity;
    }
    return result;
  }

  [[nodiscard]] Range operand(SymExpr expr) const {
    if (!expr.is_constant()) return cache_[expr.index()];
    const std::int64_t value = expr.constant();
    return {std::min(value, Range::infinity - 1), std::max(value, Range::minus_infinity + 1)};
  }

 private:
  template <typename Combine>
  Range fold(std::span<const SymExpr> operands, Combine combine) const {
    Range result = operand(operands[0]);
    for (const SymExpr next : operands.subspan(1)) result = combine(result, operand(next));
    return result;
  }

  Range choice(SymOp op, std::span<const SymExpr> operands) const {
    if (op == SymOp::where) {
      const Range condition = operand(operands[0]);
      if (condition == Range::exactly(1)) return operand(operands[1]);
      if (condition == Range::exactly(0)) return operand(operands[2]);
      return hull(operand(operands[1]), operand(operands[2]));
    }
    Range result{1, 0};
    for (std::size_t i = 0; i < operands.size(); i += 2) {
      if (operand(operands[i + 1]) != Range::exactly(0))
        result = hull(result, operand(operands[i]));
    }
    return result;
  }

  Range of_operation(SymOp op, std::span<const SymExpr> operands) const {
    const auto at = [&](std::size_t i) { return operand(operands[i]); };
    switch (op) {
      case SymOp::add:
        return fold(operands, range_add);
      case SymOp::mul:
        return fold(operands, range_mul);
      case SymOp::max:
      case SymOp::lor:
        return fold(operands, range_max);
      case SymOp::min:
      case SymOp::land:
        return fold(operands, range_min);
      case SymOp::pow:
        return power(context_, operands, at(0), at(1));
      case SymOp::pow_by_natural:
      case SymOp::float_pow:
        return general_power(at(0), at(1));
      case SymOp::floor_div:
      case SymOp::clean_div:
        return range_floor_div(at(0), at(1));
      case SymOp::mod:
      case SymOp::python_mod:
        return range_mod(at(0), at(1));
      case SymOp::modular_indexing:
        return range_mod(range_floor_div(at(0), at(1)), at(2));
      case SymOp::int_true_div:
      case SymOp::float_true_div:
        return true_quotient(at(0), at(1));
      case SymOp::abs:
        return absolute(at(0));
      case SymOp::bitwise_and:
      case SymOp::bitwise_or:
      case SymOp::bitwise_xor:
        return bitwise(op, at(0), at(1));
      case SymOp::where:
      case SymOp::piecewise:
        return choice(op, operands);
      case SymOp::is_non_overlapping_and_dense_indicator:
        return zero_or_one;
      case SymOp::eq:
      case SymOp::ne:
      case SymOp::lt:
      case SymOp::le: {
        const bool floats = arithmetic_kind(context_, operands) == SymKind::float_kind;
        return relation(op, at(0), at(1), floats);
      }
      case SymOp::lnot:
        return range_add(Range::exactly(1), range_negate(at(0)));
      case SymOp::round_decimal:
        return at(1).lo >= 0 ? at(0) : Range::all();
      case SymOp::ceil_to_int:
      case SymOp::floor_to_int:
      case SymOp::trunc_to_int:
      case SymOp::trunc_to_float:
      case SymOp::round_to_int:
      case SymOp::floor:
      case SymOp::ceiling:
      case SymOp::to_float:
      case SymOp::identity:
        return at(0);
      default:
        return opaque(op, at(0));
    }
  }

  const SymbolicContext& context_;
  const std::vector<Range>& cache_;
};

}  // namespace

void SymbolicContext::set_range(SymExpr symbol, Range range) {
  WINZE_CHECK(is_symbol(symbol), "`{}` is not a symbol", str(symbol));
  SymbolTable::Symbol& entry = store_.symbols()[store_.node(symbol).first];
  const Range allowed = intersection(range, entry.assumptions.range());
  if (allowed.empty()) {
    fail("the range {} of the symbol `{}` ({}) holds no value", range.str(), entry.name,
         entry.assumptions.empty() ? "no assumptions" : entry.assumptions.str());
  }
  entry.range = {std::min(allowed.lo, Range::infinity - 1),
                 std::max(allowed.hi, Range::minus_infinity + 1)};
  ++epoch_;
}

Range SymbolicContext::range(SymExpr expr) const {
  const RangeRule rule(*this, range_cache_);
  if (expr.is_constant()) return rule.operand(expr);
  range_cache_.resize(store_.size());
  range_epoch_.resize(store_.size());
  std::vector<SymExpr> pending = {expr};
  while (!pending.empty()) {
    const SymExpr node = pending.back();
    bool ready = range_epoch_[node.index()] != epoch_;
    if (ready) {
      for (const SymExpr operand : operands(node)) {
        if (operand.is_constant() || range_epoch_[operand.index()] == epoch_) continue;
        pending.push_back(operand);
        ready = false;
      }
    }
    if (!ready && pending.back() != node) continue;
    if (ready) {
      range_cache_[node.index()] = rule.of(node);
      range_epoch_[node.index()] = epoch_;
    }
    pending.pop_back();
  }
  return range_cache_[expr.index()];
}

}  // namespace winze
