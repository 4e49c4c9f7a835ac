// SPDX-License-Identifier: Apache-2.0
// Sums, products and powers in canonical form.
#include <algorithm>
#include <cmath>

#include "winze/symbolic/expr_parts.h"
#include "winze/symbolic/number.h"
#include "winze/symbolic/symbolic_context.h"

namespace winze {
namespace {

/// `coefficient * rest`, where `rest` has no coefficient of its own.
SymExpr with_coefficient(SymbolicContext& context, SymExpr coefficient, SymExpr rest) {
  if (coefficient == SymExpr(1)) return rest;
  if (rest == SymExpr(1)) return coefficient;
  if (context.op(rest) != SymOp::mul) {
    const SymExpr operands[] = {coefficient, rest};
    return context.store().intern(SymOp::mul, arithmetic_kind(context, operands), operands);
  }
  const auto factors = context.operands(rest);
  std::vector<SymExpr> operands = {coefficient};
  operands.insert(operands.end(), factors.begin(), factors.end());
  return context.store().intern(SymOp::mul, arithmetic_kind(context, operands), operands);
}

/// The node for canonical operands, or what one or none of them amounts to.
SymExpr finish(SymbolicContext& context, SymOp op, std::span<const SymExpr> operands,
               SymExpr empty) {
  if (operands.empty()) return empty;
  if (operands.size() == 1) return operands[0];
  return context.store().intern(op, arithmetic_kind(context, operands), operands);
}

/// Collects the terms of a sum.
class SumBuilder {
 public:
  explicit SumBuilder(SymbolicContext& context) : context_(context) {}

  void add(SymExpr operand) {
    if (context_.op(operand) != SymOp::add) return add_term(operand);
    // By position: splitting a term may move the pool that holds them.
    const std::size_t count = context_.operands(operand).size();
    terms_.reserve(terms_.size() + count);
    context_.store().add_work(count);
    for (std::size_t i = 0; i < count; ++i) add_term(context_.operands(operand)[i]);
  }

  SymExpr result() {
    if (constant_.form == Number::Form::nan) return from_number(context_, constant_);
    std::ranges::sort(terms_, [this](const Term& a, const Term& b) {
      return a.key != b.key ? a.key < b.key : context_.store().before(a.rest, b.rest);
    });
    std::vector<SymExpr> operands;
    operands.reserve(terms_.size() + 1);
    if (!constant_.is_zero()) operands.push_back(from_number(context_, constant_));
    for (std::size_t i = 0; i < terms_.size();) i = merge(i, operands);
    if (undefined_) return ExprStore::atom(SymOp::nan);
    return finish(context_, SymOp::add, operands, 0);
  }

 private:
  struct Term {
    std::uint64_t key = 0;
    SymExpr rest;
    SymExpr coefficient;
    SymExpr whole;
  };

  void add_term(SymExpr term) {
    require_number(context_, term, SymOp::add);
    if (const auto number = as_number(context_.store(), term)) {
      constant_ = require_in_range(number_add(constant_, *number), "sum");
      return;
    }
    const auto [coefficient, rest] = split_coefficient(context_, term);
    terms_.push_back({context_.store().sort_key(rest), rest, coefficient, term});
  }

  /// Appends the sum of the terms that are alike from the i-th on; returns the next other one.
  std::size_t merge(std::size_t i, std::vector<SymExpr>& operands) {
    const Term& first = terms_[i];
    std::size_t next = i + 1;
    if (next == terms_.size() || terms_[next].rest != first.rest) {
      operands.push_back(first.whole);
      return next;
    }
    Number sum = *as_number(context_.store(), first.coefficient);
    for (; next < terms_.size() && terms_[next].rest == first.rest; ++next) {
      sum = require_in_range(
          number_add(sum, *as_number(context_.store(), terms_[next].coefficient)), "sum");
    }
    undefined_ |= sum.form == Number::Form::nan;  // of two infinite coefficients
    if (!sum.is_zero()) {
      operands.push_back(with_coefficient(context_, from_number(context_, sum), first.rest));
    }
    return next;
  }

  SymbolicContext& context_;
  Number constant_;
  std::vector<Term> terms_;
  bool undefined_ = false;
};

/// `coefficient * sum`, term by term: the terms stay distinct and in order.
SymExpr distribute(SymbolicContext& context, const Number& coefficient, SymExpr sum) {
  const auto terms = context.operands(sum);
  std::vector<SymExpr> operands(terms.begin(), terms.end());
  context.store().add_work(operands.size());
  for (SymExpr& term : operands) {
    const auto [old, rest] = split_coefficient(context, term);
    const Number product =
        require_in_range(number_mul(coefficient, *as_number(context.store(), old)), "product");
    term = with_coefficient(context, from_number(context, product), rest);
  }
  return finish(context, SymOp::add, operands, 0);
}

/// Collects the factors of a product.
class ProductBuilder {
 public:
  explicit ProductBuilder(SymbolicContext& context) : context_(context) {}

  /// Multiplies by `operand ** exponent`.
  void mul(SymExpr operand, std::int64_t exponent = 1) {
    const std::size_t count = factors_of(context_, operand).size();
    context_.store().add_work(count);
    for (std::size_t i = 0; i < count; ++i) mul_factor(factors_of(context_, operand)[i], exponent);
  }

  SymExpr result() {
    if (coefficient_.is_zero() || coefficient_.form == Number::Form::nan) {
      return from_number(context_, coefficient_);
    }
    std::vector<SymExpr> operands = merged();
    // A power of 0**x is 0**(2*x), which stands elsewhere and may equal another factor. Each round
    // leaves fewer factors, or all with the exponent 1.
    while (std::exchange(raised_symbolic_power_, false)) {
      factors_.clear();
      for (const SymExpr operand : operands) mul(operand);
      operands = merged();
    }
    const bool has_coefficient = !coefficient_.is_integer(1);
    if (has_coefficient) operands.insert(operands.begin(), from_number(context_, coefficient_));
    if (has_coefficient && operands.size() == 2 && coefficient_.is_finite() &&
        context_.op(operands[1]) == SymOp::add) {
      return distribute(context_, coefficient_, operands[1]);
    }
    return finish(context_, SymOp::mul, operands, 1);
  }

 private:
  void mul_factor(SymExpr factor, std::int64_t exponent) {
    require_number(context_, factor, SymOp::mul);
    if (const auto number = as_number(context_.store(), factor)) {
      const auto power = exponent == 1 ? number : number_pow(*number, exponent);
      coefficient_ =
          require_in_range(number_mul(coefficient_, require_in_range(power, "power")), "product");
      return;
    }
    const auto [base, own] = split_power(context_, factor);
    const auto both = checked_mul(own, exponent);
    if (!both) fail("an exponent is out of the range of int64");
    factors_.push_back({base, *both});
  }

  /// The factors in order, those of one base as one.
  std::vector<SymExpr> merged() {
    std::ranges::sort(factors_, [this](const BaseAndExponent& a, const BaseAndExponent& b) {
      return context_.store().before(a.base, b.base);
    });
    std::vector<SymExpr> operands;
    operands.reserve(factors_.size() + 1);
    for (std::size_t i = 0; i < factors_.size();) i = merge(i, operands);
    return operands;
  }

  /// Appends the product of the powers of one base from the i-th on; returns the next other one.
  std::size_t merge(std::size_t i, std::vector<SymExpr>& operands) {
    const SymExpr base = factors_[i].base;
    std::int64_t exponent = 0;
    for (; i < factors_.size() && factors_[i].base == base; ++i) {
      const auto sum = checked_add(exponent, factors_[i].exponent);
      if (!sum) fail("an exponent is out of the range of int64");
      exponent = *sum;
    }
    if (exponent == 1) {
      operands.push_back(base);
    } else if (exponent != 0) {
      operands.push_back(context_.pow(base, exponent));
      raised_symbolic_power_ = raised_symbolic_power_ || context_.op(base) == SymOp::pow;
    }
    return i;
  }

  SymbolicContext& context_;
  Number coefficient_ = Number::of(std::int64_t{1});
  std::vector<BaseAndExponent> factors_;
  bool raised_symbolic_power_ = false;
};

/// `base ** exponent` for an integer exponent other than 0 and 1.
SymExpr integer_power(SymbolicContext& context, SymExpr base, std::int64_t exponent) {
  if (const auto number = as_number(context.store(), base)) {
    if (number->is_finite()) {
      return from_number(context, require_in_range(number_pow(*number, exponent), "power"));
    }
  }
  if (context.op(base) == SymOp::mul) {
    ProductBuilder product(context);
    product.mul(base, exponent);
    return product.result();
  }
  if (context.op(base) == SymOp::pow) {
    const SymExpr inner_base = context.operands(base)[0];
    const SymExpr inner_exponent = context.operands(base)[1];
    return context.pow(inner_base, context.mul(inner_exponent, exponent));
  }
  const SymExpr operands[] = {base, exponent};
  const SymKind kind = exponent > 0 ? context.kind(base) : SymKind::float_kind;
  return context.store().intern(SymOp::pow, kind, operands);
}

}  // namespace

SymExpr SymbolicContext::add(SymExpr a, SymExpr b) {
  if (a.is_constant()) std::swap(a, b);
  if (b.is_constant()) {
    if (a.is_constant()) {
      const auto sum = checked_add(a.constant(), b.constant());
      if (!sum) fail("the sum {} + {} is out of the range of int64", a.constant(), b.constant());
      return *sum;
    }
    if (b == SymExpr(0) && kind(a) != SymKind::bool_kind) return a;
    const SymOp operation = op(a);
    if (operation == SymOp::symbol || operation == SymOp::mul || operation == SymOp::floor_div) {
      const SymExpr terms[] = {b, a};
      return store_.intern(SymOp::add, kind(a), terms);
    }
  }
  const SymExpr terms[] = {a, b};
  return add(terms);
}

SymExpr SymbolicContext::add(std::span<const SymExpr> terms) {
  SumBuilder sum(*this);
  const std::vector<SymExpr> copy(terms.begin(), terms.end());  // `terms` may lie in the store
  for (const SymExpr term : copy) sum.add(term);
  return sum.result();
}

SymExpr SymbolicContext::sub(SymExpr a, SymExpr b) {
  return add(a, neg(b));
}

SymExpr SymbolicContext::neg(SymExpr a) {
  return mul(-1, a);
}

SymExpr SymbolicContext::mul(SymExpr a, SymExpr b) {
  if (b.is_constant()) std::swap(a, b);
  if (a.is_constant()) {
    if (b.is_constant()) {
      const auto product = checked_mul(a.constant(), b.constant());
      if (!product) {
        fail("the product {} * {} is out of the range of int64", a.constant(), b.constant());
      }
      return *product;
    }
    if (kind(b) != SymKind::bool_kind) {
      if (a == SymExpr(1)) return b;
      if (op(b) == SymOp::symbol && a != SymExpr(0)) {
        const SymExpr factors[] = {a, b};
        return store_.intern(SymOp::mul, kind(b), factors);
      }
    }
  }
  const SymExpr factors[] = {a, b};
  return mul(factors);
}

SymExpr SymbolicContext::mul(std::span<const SymExpr> factors) {
  ProductBuilder product(*this);
  const std::vector<SymExpr> copy(factors.begin(), factors.end());
  for (const SymExpr factor : copy) product.mul(factor);
  return product.result();
}

SymExpr SymbolicContext::pow(SymExpr base, SymExpr exponent) {
  require_number(*this, base, SymOp::pow);
  require_number(*this, exponent, SymOp::pow);
  if (exponent == SymExpr(0)) return 1;
  if (exponent == SymExpr(1)) return base;
  if (exponent.is_constant()) return integer_power(*this, base, exponent.constant());
  if (base == SymExpr(1)) return 1;
  const auto base_number = as_number(store_, base);
  const auto exponent_number = as_number(store_, exponent);
  const bool any_float = op(base) == SymOp::float_constant || op(exponent) == SymOp::float_constant;
  if (base_number && exponent_number && any_float && base_number->sign() > 0 &&
      base_number->is_finite() && exponent_number->is_finite()) {
    return float_constant(std::pow(base_number->to_double(), exponent_number->to_double()));
  }
  const SymExpr operands[] = {base, exponent};
  const bool whole = kind(base) == SymKind::int_kind && kind(exponent) == SymKind::int_kind;
  return store_.intern(SymOp::pow, whole ? SymKind::int_kind : SymKind::float_kind, operands);
}

SymExpr SymbolicContext::pow_by_natural(SymExpr base, SymExpr exponent) {
  require_number(*this, base, SymOp::pow_by_natural);
  require_number(*this, exponent, SymOp::pow_by_natural);
  if (exponent.is_constant()) {
    if (!base.is_constant()) return pow(base, exponent);
    if (exponent.constant() < 0) {
      fail("PowByNatural({}, {}) has a negative exponent", base.constant(), exponent.constant());
    }
    // PyTorch gives up on exact values where int64 ends.
    const auto power = checked_pow(base.constant(), exponent.constant());
    if (power && SymExpr::fits(*power)) return *power;
    const bool negative = base.constant() < 0 && exponent.constant() % 2 != 0;
    return negative ? negative_int_oo() : int_oo();
  }
  const SymExpr operands[] = {base, exponent};
  return store_.intern(SymOp::pow_by_natural, SymKind::int_kind, operands);
}

}  // namespace winze
