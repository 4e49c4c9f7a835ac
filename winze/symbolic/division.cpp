// SPDX-License-Identifier: Apache-2.0
// Floor division and remainders. Each rule is one that torch.utils._sympy.functions applies too,
// left out where PyTorch's is wrong for negative numbers.
#include <algorithm>
#include <numeric>

#include "winze/symbolic/expr_parts.h"
#include "winze/symbolic/number.h"
#include "winze/symbolic/symbolic_context.h"

namespace winze {
namespace {

using Expressions = std::vector<SymExpr>;

void refuse_zero(SymExpr divisor, SymOp op) {
  if (divisor == SymExpr(0)) fail("division by zero in {}", sym_op_info(op).name);
}

void require_numbers(const SymbolicContext& context, std::span<const SymExpr> operands, SymOp op) {
  for (const SymExpr operand : operands) require_number(context, operand, op);
}

bool all_int(const SymbolicContext& context, std::span<const SymExpr> operands) {
  return std::ranges::all_of(
      operands, [&](SymExpr operand) { return context.kind(operand) == SymKind::int_kind; });
}

/// The greatest common divisor of all coefficients; 1 when one of them is no integer.
std::uint64_t content(const SymbolicContext& context, SymExpr expr) {
  std::uint64_t result = 0;
  for (const SymExpr term : terms_of(context, expr)) {
    const auto coefficient = integer_coefficient(context, term);
    if (!coefficient) return 1;
    result = std::gcd(result, magnitude(*coefficient));
    if (result == 1) return 1;
  }
  return result;
}

/// `expr` without the numeric factors `divisor` and the symbolic factors `common` (each of which is
/// a factor of every term). `divisor` divides every coefficient.
SymExpr cancel(SymbolicContext& context, SymExpr expr, std::int64_t divisor,
               std::span<const SymExpr> common) {
  const auto view = terms_of(context, expr);
  Expressions terms(view.begin(), view.end());
  context.store().add_work(terms.size() * (1 + common.size()));
  for (SymExpr& term : terms) {
    Expressions kept;
    bool divided = divisor == 1;
    for (const SymExpr factor : factors_of(context, term)) {
      if (!divided && factor.is_constant()) {
        kept.emplace_back(factor.constant() / divisor);
        divided = true;
      } else if (std::ranges::find(common, factor) == common.end()) {
        kept.push_back(factor);
      }
    }
    term = context.mul(kept);
  }
  return context.add(terms);
}

/// The symbolic factors of `divisor` that are factors of every term of `base`.
Expressions common_factors(const SymbolicContext& context, SymExpr base, SymExpr divisor) {
  Expressions common;
  for (const SymExpr factor : factors_of(context, divisor)) {
    if (!is_number(context, factor)) common.push_back(factor);
  }
  constexpr std::size_t most = 32;  // each is searched for in every term
  if (common.size() > most) common.resize(most);
  for (const SymExpr term : terms_of(context, base)) {
    if (common.empty()) break;
    const auto factors = factors_of(context, term);
    std::erase_if(common, [&](SymExpr factor) {
      return std::ranges::find(factors, factor) == factors.end();
    });
  }
  return common;
}

/// Cancels what the two have in common, as PyTorch's simple_floordiv_gcd finds it: a number and
/// whole factors. False when there is nothing.
bool reduce(SymbolicContext& context, SymExpr& base, SymExpr& divisor) {
  const Expressions common = common_factors(context, base, divisor);
  // A sum is its own factor, and none of its terms.
  if (!common.empty() && common.front() == divisor) {
    base = cancel(context, base, 1, common);
    divisor = 1;
    return true;
  }
  const std::uint64_t number = std::gcd(content(context, base), content(context, divisor));
  if (number > static_cast<std::uint64_t>(Range::infinity) || number == 0) return false;
  if (number == 1 && common.empty()) return false;
  base = cancel(context, base, static_cast<std::int64_t>(number), common);
  divisor = cancel(context, divisor, static_cast<std::int64_t>(number), common);
  return true;
}

/// Moves the terms whose coefficient `divisor` divides out of `base`; returns their quotient.
SymExpr take_quotients(SymbolicContext& context, SymExpr& base, std::int64_t divisor) {
  const auto view = terms_of(context, base);
  const Expressions terms(view.begin(), view.end());
  Expressions kept;
  Expressions quotients;
  for (const SymExpr term : terms) {
    const auto coefficient = integer_coefficient(context, term);
    if (!coefficient || *coefficient % divisor != 0) {
      kept.push_back(term);
      continue;
    }
    Expressions factors;
    for (const SymExpr factor : factors_of(context, term)) {
      factors.push_back(factor.is_constant() ? SymExpr(1) : factor);
    }
    factors.emplace_back(*coefficient / divisor);
    quotients.push_back(context.mul(factors));
  }
  if (quotients.empty()) return 0;
  base = context.add(kept);
  return context.add(quotients);
}

/// FloorDiv and CleanDiv: what is simplified becomes a FloorDiv, the rest keeps its name.
SymExpr divide(SymbolicContext& context, SymOp op, SymExpr a, SymExpr b) {
  const SymExpr operands[] = {a, b};
  require_numbers(context, operands, op);
  refuse_zero(b, op);
  if (!all_int(context, operands)) return context.store().intern(op, SymKind::float_kind, operands);
  SymExpr quotients = 0;
  // Each round makes the dividend or the divisor smaller.
  while (true) {
    context.store().add_work(terms_of(context, a).size());
    if (a == SymExpr(0)) return quotients;
    if (b == SymExpr(1)) return context.add(quotients, a);
    if (b == SymExpr(-1)) return context.sub(quotients, a);
    if (a == b) return context.add(quotients, 1);
    if (a.is_constant() && b.is_constant()) {
      const auto quotient = floor_divide(a.constant(), b.constant());
      if (!quotient) fail("{} // {} is out of the range of int64", a.constant(), b.constant());
      return context.add(quotients, *quotient);
    }
    const bool nested = context.op(a) == SymOp::floor_div || context.op(a) == SymOp::clean_div;
    if (nested && b.is_constant() && b.constant() > 0 && context.kind(a) == SymKind::int_kind) {
      const SymExpr inner_divisor = context.operands(a)[1];
      a = context.operands(a)[0];
      b = context.mul(inner_divisor, b);
      op = SymOp::floor_div;
      continue;
    }
    if (b.is_constant() && context.op(a) != SymOp::symbol) {
      const SymExpr before = a;
      const SymExpr quotient = take_quotients(context, a, b.constant());
      if (a != before) {
        quotients = context.add(quotients, quotient);
        op = SymOp::floor_div;
        continue;
      }
    }
    if (!reduce(context, a, b)) break;
    op = SymOp::floor_div;
  }
  const SymExpr reduced[] = {a, b};
  return context.add(quotients, context.store().intern(op, SymKind::int_kind, reduced));
}

/// Whether `a` is certainly a multiple of `b` by its form: an integer multiple, or `b` is among the
/// factors of a single term.
bool is_multiple(SymbolicContext& context, SymExpr a, SymExpr b) {
  if (context.kind(a) != SymKind::int_kind || context.kind(b) != SymKind::int_kind) return false;
  if (b.is_constant()) {
    return b != SymExpr(0) && all_coefficients_divisible(context, a, b.constant());
  }
  if (context.op(a) == SymOp::add) return false;
  // a / b has no negative power left, and an integer coefficient.
  const SymExpr quotient = context.mul(a, context.pow(b, -1));
  return context.kind(quotient) == SymKind::int_kind;
}

/// The remainder of what has a known value; nothing otherwise.
std::optional<SymExpr> simple_remainder(SymbolicContext& context, SymOp op, SymExpr a, SymExpr b) {
  refuse_zero(b, op);
  if (a == SymExpr(0) || a == b || b == SymExpr(1)) return 0;
  if (a.is_constant() && b.is_constant()) {
    if (op == SymOp::mod && (a.constant() < 0 || b.constant() < 0)) {
      fail("Mod({}, {}) is only defined for numbers that are not negative", a.constant(),
           b.constant());
    }
    return *floor_modulo(a.constant(), b.constant());
  }
  context.store().add_work(terms_of(context, a).size());
  if (is_multiple(context, a, b)) return 0;
  if (b == SymExpr(2)) {
    const auto [constant, rest] = split_constant(context, a);
    if (constant.is_constant() && constant.constant() % 2 != 0 && is_multiple(context, rest, 2)) {
      return 1;
    }
  }
  return std::nullopt;
}

SymExpr remainder(SymbolicContext& context, SymOp op, SymExpr a, SymExpr b) {
  const SymExpr operands[] = {a, b};
  require_numbers(context, operands, op);
  if (!all_int(context, operands)) {
    refuse_zero(b, op);
    return context.store().intern(op, SymKind::float_kind, operands);
  }
  if (const auto known = simple_remainder(context, op, a, b)) return *known;
  return context.store().intern(op, SymKind::int_kind, operands);
}

/// Drops the terms of a sum that are multiples of the whole period, as PyTorch does when no other
/// term is negative.
SymExpr drop_periods(const SymbolicContext& context, SymExpr base, std::int64_t period,
                     Expressions& kept) {
  constexpr std::size_t most = 20;  // PyTorch leaves wide sums alone
  const auto terms = context.operands(base);
  if (terms.size() > most) return base;
  for (const SymExpr term : terms) {
    const auto coefficient = integer_coefficient(context, term);
    if (!coefficient) return base;
    if (floor_modulo(*coefficient, period) == 0) continue;
    if (*coefficient < 0) return base;
    kept.push_back(term);
  }
  return kept.size() == terms.size() ? base : SymExpr(0);
}

}  // namespace

SymExpr SymbolicContext::floor_div(SymExpr a, SymExpr b) {
  return divide(*this, SymOp::floor_div, a, b);
}

SymExpr SymbolicContext::clean_div(SymExpr a, SymExpr b) {
  return divide(*this, SymOp::clean_div, a, b);
}

SymExpr SymbolicContext::ceil_div(SymExpr a, SymExpr b) {
  const SymExpr operands[] = {a, b};
  require_numbers(*this, operands, SymOp::floor_div);
  refuse_zero(b, SymOp::floor_div);
  const bool positive = !b.is_constant() || b.constant() > 0;
  if (positive && is_multiple(*this, a, b)) return clean_div(a, b);
  return floor_div(add(a, sub(b, 1)), b);
}

SymExpr SymbolicContext::mod(SymExpr a, SymExpr b) {
  return remainder(*this, SymOp::mod, a, b);
}

SymExpr SymbolicContext::python_mod(SymExpr a, SymExpr b) {
  return remainder(*this, SymOp::python_mod, a, b);
}

SymExpr SymbolicContext::modular_indexing(SymExpr a, SymExpr b, SymExpr modulus) {
  const SymExpr operands[] = {a, b, modulus};
  require_numbers(*this, operands, SymOp::modular_indexing);
  refuse_zero(b, SymOp::modular_indexing);
  refuse_zero(modulus, SymOp::modular_indexing);
  if (!all_int(*this, operands)) fail("ModularIndexing needs integers");
  while (true) {
    store_.add_work(terms_of(*this, a).size());
    if (a == SymExpr(0) || modulus == SymExpr(1)) return 0;
    if (a.is_constant() && b.is_constant() && modulus.is_constant()) {
      const auto quotient = floor_divide(a.constant(), b.constant());
      if (!quotient) fail("{} // {} is out of the range of int64", a.constant(), b.constant());
      return *floor_modulo(*quotient, modulus.constant());
    }
    if (b != SymExpr(1) && reduce(*this, a, b)) continue;
    if (op(a) == SymOp::add && b.is_constant() && modulus.is_constant()) {
      const auto period = checked_mul(b.constant(), modulus.constant());
      std::vector<SymExpr> kept;
      if (period && drop_periods(*this, a, *period, kept) != a) {
        a = add(kept);
        continue;
      }
    }
    const bool nested = op(a) == SymOp::floor_div || op(a) == SymOp::clean_div;
    if (!nested || !b.is_constant() || b.constant() < 0) break;
    const SymExpr inner_divisor = this->operands(a)[1];
    a = this->operands(a)[0];
    b = mul(inner_divisor, b);
  }
  const SymExpr reduced[] = {a, b, modulus};
  return store_.intern(SymOp::modular_indexing, SymKind::int_kind, reduced);
}

SymExpr SymbolicContext::lshift(SymExpr a, SymExpr b) {
  if (b.is_constant() && b.constant() < 0) fail("negative shift count {}", b.constant());
  return mul(a, pow_by_natural(2, b));
}

SymExpr SymbolicContext::rshift(SymExpr a, SymExpr b) {
  if (b.is_constant() && b.constant() < 0) fail("negative shift count {}", b.constant());
  return floor_div(a, pow_by_natural(2, b));
}

}  // namespace winze
