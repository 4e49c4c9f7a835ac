// SPDX-License-Identifier: Apache-2.0
// Proofs: the sign of a difference, from its canonical form, ranges and a few rules.
#include <algorithm>
#include <numeric>

#include "winze/symbolic/expr_parts.h"
#include "winze/symbolic/number.h"
#include "winze/symbolic/symbolic_context.h"

namespace winze {
namespace {

constexpr std::size_t most_terms = 64;
constexpr std::size_t most_choices = 4;
constexpr int most_rounds = 3;

Proof from_bool(bool value) {
  return value ? Proof::yes : Proof::no;
}

Proof opposite(Proof proof) {
  if (proof == Proof::unknown) return proof;
  return from_bool(proof == Proof::no);
}

/// Whether `expr` is one of the fixed truth values.
Proof constant_proof(const SymbolicContext& context, SymExpr expr) {
  if (expr == context.bool_constant(true)) return Proof::yes;
  if (expr == context.bool_constant(false)) return Proof::no;
  return Proof::unknown;
}

/// Finds lower bounds of sums of integers. Every rule gives a valid bound; the best is taken.
class LowerBound {
 public:
  explicit LowerBound(SymbolicContext& context) : context_(context) {}

  std::int64_t of(SymExpr expr, int rounds = most_rounds) {
    if (const Range range = context_.range(expr); !range.empty()) {
      if (expr.is_constant() || range.lo >= 0) return range.lo;
    }
    const auto view = terms_of(context_, expr);
    std::int64_t best = context_.range(expr).lo;
    if (view.size() > most_terms) return best;
    const std::vector<SymExpr> terms(view.begin(), view.end());
    best = std::max(best, by_shift(terms));
    if (rounds == 0 || best >= 0) return best;
    best = std::max(best, by_quotients(terms, rounds));
    if (best >= 0) return best;
    return std::max(best, by_extreme(terms, rounds));
  }

 private:
  static constexpr std::int64_t no_bound = Range::minus_infinity;

  /// With every base written as its least value and a rest of 0 or more, a polynomial without
  /// negative coefficients is at least its constant.
  std::int64_t by_shift(std::span<const SymExpr> terms) {
    std::vector<SymExpr> shifted;
    for (const SymExpr term : terms) {
      std::vector<SymExpr> product;
      const auto view = factors_of(context_, term);
      const std::vector<SymExpr> factors(view.begin(), view.end());
      if (factors.size() > most_choices + 1) return no_bound;
      for (const SymExpr factor : factors) {
        if (factor.is_constant()) {
          product.push_back(factor);
          continue;
        }
        const auto [base, exponent] = split_power(context_, factor);
        const SymOp op = context_.op(base);
        if (is_number(context_, base) || op == SymOp::add || exponent < 1) return no_bound;
        if (exponent > std::int64_t{most_choices}) return no_bound;
        const Range range = context_.range(base);
        if (range.lo > no_bound && range.lo < Range::infinity - 1) {
          product.push_back(context_.pow(context_.add(base, range.lo), exponent));
        } else if (range.hi < Range::infinity && range.hi > no_bound + 1) {
          product.push_back(context_.pow(context_.sub(range.hi, base), exponent));
        } else {
          return no_bound;
        }
      }
      shifted.push_back(context_.expand(context_.mul(product)));
    }
    const SymExpr sum = context_.expand(context_.add(shifted));
    std::int64_t constant = 0;
    for (const SymExpr term : terms_of(context_, sum)) {
      if (term.is_constant()) {
        constant = term.constant();
        continue;
      }
      const auto coefficient = integer_coefficient(context_, term);
      if (!coefficient || *coefficient < 0 || has_sum_factor(term)) return no_bound;
    }
    return constant;
  }

  bool has_sum_factor(SymExpr term) const {
    return std::ranges::any_of(factors_of(context_, term), [&](SymExpr factor) {
      return context_.op(split_power(context_, factor).base) == SymOp::add;
    });
  }

  /// A term `coefficient * (dividend // divisor)`, perhaps times the divisor.
  struct QuotientTerm {
    std::int64_t coefficient = 0;
    SymExpr dividend;
    SymExpr divisor;
    bool exact = false;       // nothing is left over
    bool multiplied = false;  // by the divisor
  };

  std::optional<QuotientTerm> quotient_term(SymExpr term) const {
    const auto coefficient = integer_coefficient(context_, term);
    auto factors = factors_of(context_, term);
    if (!coefficient || factors.empty()) return std::nullopt;
    if (factors[0].is_constant()) factors = factors.subspan(1);
    if (factors.empty() || factors.size() > 2) return std::nullopt;
    for (std::size_t i = 0; i < factors.size(); ++i) {
      const SymOp op = context_.op(factors[i]);
      if (op != SymOp::floor_div && op != SymOp::clean_div) continue;
      const auto parts = context_.operands(factors[i]);
      if (context_.range(parts[1]).lo <= 0) continue;
      QuotientTerm found{*coefficient, parts[0], parts[1], op == SymOp::clean_div,
                         factors.size() == 2};
      if (found.multiplied ? factors[1 - i] != parts[1] : !parts[1].is_constant()) continue;
      found.exact =
          found.exact || (found.divisor.is_constant() &&
                          is_multiple(context_, found.dividend, found.divisor.constant()));
      return found;
    }
    return std::nullopt;
  }

  /// `dividend - divisor < divisor * (dividend // divisor) <= dividend`, over a common denominator.
  std::int64_t by_quotients(std::span<const SymExpr> terms, int rounds) {
    constexpr std::int64_t most_scale = std::int64_t{1} << 31;
    std::int64_t scale = 1;
    bool any = false;
    for (const SymExpr term : terms) {
      const auto quotient = quotient_term(term);
      if (!quotient) continue;
      any = true;
      if (quotient->multiplied) continue;
      if (quotient->divisor.constant() > most_scale) return no_bound;
      scale = std::lcm(scale, quotient->divisor.constant());
      if (scale > most_scale) return no_bound;
    }
    if (!any) return no_bound;
    std::vector<SymExpr> below;
    for (const SymExpr term : terms) {
      const auto quotient = quotient_term(term);
      if (!quotient) {
        below.push_back(context_.mul(scale, term));
        continue;
      }
      const SymExpr weight =
          context_.mul(quotient->coefficient,
                       quotient->multiplied ? scale : scale / quotient->divisor.constant());
      const bool low = quotient->coefficient > 0 && !quotient->exact;
      const SymExpr lost = low ? context_.sub(quotient->divisor, 1) : SymExpr(0);
      below.push_back(context_.mul(weight, context_.sub(quotient->dividend, lost)));
    }
    const std::int64_t bound = of(context_.expand(context_.add(below)), rounds - 1);
    if (bound == no_bound || bound == Range::infinity) return bound;
    // Rounded up: the sum is an integer.
    return -*floor_divide(-std::max(bound, no_bound + 1), scale);
  }

  /// `Max(a, b)` is at least each of its operands, and equal to one of them.
  std::int64_t by_extreme(std::span<const SymExpr> terms, int rounds) {
    for (std::size_t i = 0; i < terms.size(); ++i) {
      const auto [coefficient, rest] = split_coefficient(context_, terms[i]);
      const SymOp op = context_.op(rest);
      if ((op != SymOp::max && op != SymOp::min) || !coefficient.is_constant()) continue;
      const auto view = context_.operands(rest);
      if (view.size() > most_choices) continue;
      const std::vector<SymExpr> choices(view.begin(), view.end());
      const bool any_will_do = (coefficient.constant() > 0) == (op == SymOp::max);
      std::int64_t best = any_will_do ? no_bound : Range::infinity;
      for (const SymExpr choice : choices) {
        std::vector<SymExpr> chosen(terms.begin(), terms.end());
        chosen[i] = context_.mul(coefficient, choice);
        const std::int64_t bound = of(context_.expand(context_.add(chosen)), rounds - 1);
        best = any_will_do ? std::max(best, bound) : std::min(best, bound);
      }
      return best;
    }
    return no_bound;
  }

  SymbolicContext& context_;
};

class Prover {
 public:
  explicit Prover(SymbolicContext& context) : context_(context) {}

  Proof eq(SymExpr a, SymExpr b) {
    if (a == b) return Proof::yes;
    if (!both_int(a, b)) return of_range(context_.eq(a, b));
    const SymExpr difference = this->difference(a, b);
    if (difference.is_constant()) return from_bool(difference == SymExpr(0));
    const Range range = bounds(difference);
    if (range == Range::exactly(0)) return Proof::yes;
    if (!range.contains(0) || never_zero(difference)) return Proof::no;
    return Proof::unknown;
  }

  Proof le(SymExpr a, SymExpr b) {
    if (!both_int(a, b)) return of_range(context_.le(a, b));
    if (is_among(a, SymOp::max, b) || is_among(b, SymOp::min, a)) return Proof::yes;
    const Range range = bounds(difference(b, a));
    if (range.lo >= 0) return Proof::yes;
    return range.hi < 0 ? Proof::no : Proof::unknown;
  }

  Proof condition(SymExpr expr, int depth) {
    constexpr int deepest = 32;
    const Proof known = of_range(expr);
    if (known != Proof::unknown || depth > deepest) return known;
    const auto view = context_.operands(expr);
    const std::vector<SymExpr> operands(view.begin(), view.end());
    switch (context_.op(expr)) {
      case SymOp::eq:
        return eq(operands[0], operands[1]);
      case SymOp::ne:
        return opposite(eq(operands[0], operands[1]));
      case SymOp::le:
        return le(operands[0], operands[1]);
      case SymOp::lt:
        return context_.prove_lt(operands[0], operands[1]);
      case SymOp::lnot:
        return opposite(condition(operands[0], depth + 1));
      case SymOp::land:
        return all(operands, Proof::yes, depth);
      case SymOp::lor:
        return all(operands, Proof::no, depth);
      default:
        return Proof::unknown;
    }
  }

 private:
  [[nodiscard]] bool both_int(SymExpr a, SymExpr b) const {
    return context_.kind(a) == SymKind::int_kind && context_.kind(b) == SymKind::int_kind;
  }

  [[nodiscard]] bool is_among(SymExpr operand, SymOp op, SymExpr expr) const {
    return context_.op(expr) == op &&
           std::ranges::find(context_.operands(expr), operand) != context_.operands(expr).end();
  }

  Proof of_range(SymExpr condition) {
    const SymExpr simple = context_.simplify(condition);
    return constant_proof(context_, simple);
  }

  SymExpr difference(SymExpr a, SymExpr b) {
    return context_.expand(context_.sub(context_.simplify(a), context_.simplify(b)));
  }

  Range bounds(SymExpr expr) {
    Range best = context_.range(expr);
    if (best.empty()) return Range::all();
    const SymExpr without_remainders = lower_remainders(expr);
    for (const SymExpr form : {expr, without_remainders}) {
      LowerBound bound(context_);
      best.lo = std::max(best.lo, bound.of(form));
      best.hi = std::min(best.hi, -std::max(bound.of(context_.neg(form)), -Range::infinity));
      if (form == without_remainders) break;
    }
    return best.empty() ? Range::all() : best;
  }

  /// `a % b` as `a - b * (a // b)`, so that it cancels against quotients.
  SymExpr lower_remainders(SymExpr expr) {
    const auto view = terms_of(context_, expr);
    if (view.size() > most_terms) return expr;
    std::vector<SymExpr> terms(view.begin(), view.end());
    bool changed = false;
    for (SymExpr& term : terms) {
      const auto [coefficient, rest] = split_coefficient(context_, term);
      const SymOp op = context_.op(rest);
      if (op != SymOp::mod && op != SymOp::python_mod) continue;
      const SymExpr a = context_.operands(rest)[0];
      const SymExpr b = context_.operands(rest)[1];
      if (context_.kind(rest) != SymKind::int_kind) continue;
      const SymExpr whole = context_.mul(b, context_.floor_div(a, b));
      term = context_.mul(coefficient, context_.sub(a, whole));
      changed = true;
    }
    return changed ? context_.expand(context_.add(terms)) : expr;
  }

  /// A constant that the common divisor of the coefficients does not divide.
  bool never_zero(SymExpr difference) {
    const auto [constant, rest] = split_constant(context_, difference);
    if (!constant.is_constant() || constant == SymExpr(0)) return false;
    std::uint64_t common = 0;
    for (const SymExpr term : terms_of(context_, rest)) {
      const auto coefficient = integer_coefficient(context_, term);
      if (!coefficient || context_.kind(term) != SymKind::int_kind) return false;
      common = std::gcd(common, magnitude(*coefficient));
    }
    return common > 1 && magnitude(constant.constant()) % common != 0;
  }

  /// `decisive` when every operand is, its opposite when one operand is that.
  Proof all(std::span<const SymExpr> operands, Proof decisive, int depth) {
    bool every = true;
    for (const SymExpr operand : operands) {
      const Proof proof = condition(operand, depth + 1);
      if (proof == opposite(decisive)) return proof;
      every = every && proof == decisive;
    }
    return every ? decisive : Proof::unknown;
  }

  SymbolicContext& context_;
};

/// A proof that cannot be computed in int64 is no proof.
template <typename Attempt>
Proof attempt(Attempt proof) {
  try {
    return proof();
  } catch (const Error&) {
    return Proof::unknown;
  }
}

}  // namespace

Proof SymbolicContext::prove_eq(SymExpr a, SymExpr b) {
  return attempt([&] { return Prover(*this).eq(a, b); });
}

Proof SymbolicContext::prove_ne(SymExpr a, SymExpr b) {
  return opposite(prove_eq(a, b));
}

Proof SymbolicContext::prove_le(SymExpr a, SymExpr b) {
  return attempt([&] { return Prover(*this).le(a, b); });
}

Proof SymbolicContext::prove_lt(SymExpr a, SymExpr b) {
  const bool whole = kind(a) == SymKind::int_kind && kind(b) == SymKind::int_kind;
  if (whole) return opposite(prove_le(b, a));
  return attempt([&] { return constant_proof(*this, simplify(lt(a, b))); });
}

Proof SymbolicContext::prove(SymExpr condition) {
  if (kind(condition) != SymKind::bool_kind) fail("only a boolean expression can be proved");
  return attempt([&] { return Prover(*this).condition(condition, 0); });
}

Proof SymbolicContext::prove_divisible(SymExpr a, SymExpr k) {
  if (k == SymExpr(0)) return Proof::unknown;
  return attempt([&] {
    if (kind(a) != SymKind::int_kind || kind(k) != SymKind::int_kind) return Proof::unknown;
    const SymExpr simple = simplify(a);
    const SymExpr sum = expand(simple);
    const SymExpr divisor = simplify(k);
    if (divisor.is_constant()) {
      if (divisor == SymExpr(0)) return Proof::unknown;
      const std::int64_t number = divisor.constant();
      if (number > 0 ? is_multiple(*this, sum, number)
                     : all_coefficients_divisible(*this, sum, number))
        return Proof::yes;
      const auto [constant, rest] = split_constant(*this, sum);
      if (constant.is_constant() && all_coefficients_divisible(*this, rest, number)) {
        return Proof::no;  // the constant is what is left over
      }
    }
    if (op(divisor) == SymOp::floor_div) {
      // a = n * (a // n) where n divides a.
      const SymExpr dividend = operands(divisor)[0];
      const SymExpr number = operands(divisor)[1];
      if (dividend == simple && number.is_constant() && number.constant() > 0 &&
          is_multiple(*this, dividend, number.constant()))
        return Proof::yes;
    }
    if (!divisor.is_constant()) {
      // Multiplied by the inverse, every term is an integer again; or the whole product is.
      const SymExpr inverse = pow(divisor, -1);
      const auto is_multiple = [&](SymExpr term) {
        return kind(mul(term, inverse)) == SymKind::int_kind;
      };
      const auto view = terms_of(*this, sum);
      const std::vector<SymExpr> terms(view.begin(), view.end());
      if (is_multiple(simple) || std::ranges::all_of(terms, is_multiple)) return Proof::yes;
    }
    const SymExpr left_over = simplify(python_mod(sum, divisor));
    if (left_over.is_constant()) return from_bool(left_over == SymExpr(0));
    return prove_eq(left_over, 0);
  });
}

}  // namespace winze
