// SPDX-License-Identifier: Apache-2.0
// Simplification by ranges. Kept apart from the canonical form, which never depends on ranges.
#include <algorithm>
#include <optional>

#include "winze/symbolic/expr_parts.h"
#include "winze/symbolic/number.h"
#include "winze/symbolic/symbolic_context.h"
#include "winze/symbolic/traversal.h"

namespace winze {
namespace {

class Simplifier {
 public:
  explicit Simplifier(SymbolicContext& context) : context_(context) {}

  SymExpr run(SymExpr expr) {
    const Traversal traversal(context_, expr);
    std::vector<SymExpr> results;
    results.reserve(traversal.order().size());
    for (const SymExpr node : traversal.order()) {
      SymExpr result;
      try {
        result = refine(rebuild(traversal, results, node));
      } catch (const Error&) {
        result = node;  // what cannot be computed exactly stays as it is
      }
      results.push_back(result);
    }
    return results.empty() ? expr : results.back();
  }

 private:
  SymExpr rebuild(const Traversal& traversal, std::span<const SymExpr> results, SymExpr node) {
    std::vector<SymExpr> parts;
    bool changed = false;
    for (const SymExpr operand : context_.operands(node)) {
      const SymExpr part = operand.is_constant() ? operand : results[traversal.place(operand)];
      changed |= part != operand;
      parts.push_back(part);
    }
    return changed ? context_.make(context_.op(node), parts) : node;
  }

  SymExpr refine(SymExpr expr) {
    if (expr.is_constant()) return expr;
    const Range range = context_.range(expr);
    if (range.is_single()) {
      if (context_.kind(expr) == SymKind::int_kind) return range.lo;
      if (context_.kind(expr) == SymKind::bool_kind) return context_.bool_constant(range.lo == 1);
    }
    switch (context_.op(expr)) {
      case SymOp::max:
      case SymOp::min:
        return refine_extreme(expr);
      case SymOp::mod:
      case SymOp::python_mod:
        return refine_remainder(expr);
      case SymOp::floor_div:
      case SymOp::clean_div:
        return refine_quotient(expr);
      case SymOp::modular_indexing:
        return refine_modular_indexing(expr);
      default:
        return expr;
    }
  }

  /// Drops operands that another one always reaches.
  SymExpr refine_extreme(SymExpr expr) {
    if (context_.kind(expr) != SymKind::int_kind) return expr;
    const SymOp op = context_.op(expr);
    const auto view = context_.operands(expr);
    std::vector<SymExpr> operands(view.begin(), view.end());
    // As for Max; for Min everything is negated.
    const auto range_of = [&](SymExpr operand) {
      const Range range = context_.range(operand);
      return op == SymOp::max ? range : range_negate(range);
    };
    std::size_t best = 0;
    for (std::size_t i = 1; i < operands.size(); ++i) {
      if (range_of(operands[i]).lo > range_of(operands[best]).lo) best = i;
    }
    const SymExpr winner = operands[best];
    std::erase_if(operands, [&](SymExpr operand) {
      if (operand == winner) return false;
      if (range_of(operand).hi <= range_of(winner).lo) return true;
      const SymExpr lead =
          op == SymOp::max ? context_.sub(winner, operand) : context_.sub(operand, winner);
      return context_.range(lead).lo >= 0;
    });
    return operands.size() == view.size() ? expr : context_.make(op, operands);
  }

  /// `expr` as a multiple of `divisor` and a rest, term by term.
  struct Split {
    SymExpr quotient;
    SymExpr rest;
  };
  Split split_by(SymExpr expr, SymExpr divisor) {
    std::vector<SymExpr> quotients;
    std::vector<SymExpr> rests;
    const auto view = terms_of(context_, expr);
    const std::vector<SymExpr> terms(view.begin(), view.end());
    for (const SymExpr term : terms) {
      const SymExpr quotient = exact_quotient(term, divisor);
      if (quotient != SymExpr(0) && is_whole(quotient)) {
        quotients.push_back(quotient);
      } else if (term.is_constant() && divisor.is_constant()) {
        quotients.emplace_back(floor_divide(term.constant(), divisor.constant()).value_or(0));
        rests.push_back(context_.sub(term, context_.mul(quotients.back(), divisor)));
      } else {
        rests.push_back(term);
      }
    }
    return {context_.add(quotients), context_.add(rests)};
  }

  /// An integer for every value: `y**-y` has the kind of one, and is a fraction.
  bool is_whole(SymExpr product) {
    const auto may_be_fraction = [&](SymExpr factor) {
      return context_.op(factor) == SymOp::pow &&
             context_.range(context_.operands(factor)[1]).lo < 0;
    };
    if (context_.kind(product) != SymKind::int_kind) return false;
    if (context_.op(product) != SymOp::mul) return !may_be_fraction(product);
    return std::ranges::none_of(context_.operands(product), may_be_fraction);
  }

  SymExpr exact_quotient(SymExpr term, SymExpr divisor) {
    if (!divisor.is_constant()) return context_.mul(term, context_.pow(divisor, -1));
    const auto coefficient = integer_coefficient(context_, term);
    if (!coefficient || *coefficient % divisor.constant() != 0) return 0;
    return context_.mul(term, context_.rational(1, divisor.constant()));
  }

  bool is_positive(SymExpr expr) { return context_.range(expr).lo > 0; }

  /// `a // (a // n)` is n, where `a` is a multiple of the constant n and not 0.
  std::optional<SymExpr> inner_divisor(SymExpr a, SymExpr b) {
    if (context_.op(b) != SymOp::floor_div || context_.operands(b)[0] != a) return std::nullopt;
    const SymExpr number = context_.operands(b)[1];
    if (!number.is_constant() || number.constant() < 1 || !is_positive(a)) return std::nullopt;
    return is_multiple(context_, a, number.constant()) ? std::optional(number) : std::nullopt;
  }

  SymExpr refine_quotient(SymExpr expr) {
    if (context_.kind(expr) != SymKind::int_kind) return expr;
    const SymExpr a = context_.operands(expr)[0];
    const SymExpr b = context_.operands(expr)[1];
    if (const auto number = inner_divisor(a, b)) return *number;
    if (!is_positive(b)) return expr;
    const bool nested = context_.op(a) == SymOp::floor_div || context_.op(a) == SymOp::clean_div;
    if (nested) {
      const SymExpr inner = context_.operands(a)[0];
      return context_.floor_div(inner, context_.mul(context_.operands(a)[1], b));
    }
    const auto [quotient, rest] = split_by(a, b);
    const Range range = context_.range(rest);
    const bool small = range.lo >= 0 && context_.range(context_.sub(b, rest)).lo > 0;
    if (small) return quotient;
    if (quotient == SymExpr(0)) return expr;
    return context_.add(quotient, context_.floor_div(rest, b));
  }

  SymExpr refine_remainder(SymExpr expr) {
    if (context_.kind(expr) != SymKind::int_kind) return expr;
    const SymExpr a = context_.operands(expr)[0];
    const SymExpr b = context_.operands(expr)[1];
    if (!is_positive(b)) return expr;
    const auto [quotient, rest] = split_by(a, b);
    if (rest == SymExpr(0)) return 0;
    const Range range = context_.range(rest);
    const bool small = range.lo >= 0 && context_.range(context_.sub(b, rest)).lo > 0;
    if (small) return rest;
    return quotient == SymExpr(0) ? expr : context_.python_mod(rest, b);
  }

  SymExpr refine_modular_indexing(SymExpr expr) {
    const SymExpr a = context_.operands(expr)[0];
    const SymExpr b = context_.operands(expr)[1];
    const SymExpr modulus = context_.operands(expr)[2];
    if (!is_positive(b) || !is_positive(modulus)) return expr;
    return refine(context_.python_mod(refine(context_.floor_div(a, b)), modulus));
  }

  SymbolicContext& context_;
};

}  // namespace

SymExpr SymbolicContext::simplify(SymExpr expr) {
  return Simplifier(*this).run(expr);
}

}  // namespace winze
