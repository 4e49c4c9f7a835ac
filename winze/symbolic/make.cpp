// SPDX-License-Identifier: Apache-2.0
// Building by operation, and rewriting that builds anew: substitution and expansion.
#include <algorithm>

#include "winze/symbolic/expr_parts.h"
#include "winze/symbolic/symbolic_context.h"
#include "winze/symbolic/traversal.h"

namespace winze {
namespace {

void check_arity(SymOp op, std::size_t count) {
  const SymOpInfo& info = sym_op_info(op);
  const bool enough = count >= static_cast<std::size_t>(info.min_operands);
  const bool few_enough =
      info.max_operands < 0 || count <= static_cast<std::size_t>(info.max_operands);
  if (info.name.empty()) throw InternalError("an atom is not made from operands");
  if (enough && few_enough) return;
  fail("{} takes {}{} operands, but has {}", info.name, info.max_operands < 0 ? "at least " : "",
       info.min_operands, count);
}

/// What is left to multiply out: a term, and how many of its factors are known to be no sums.
class Expander {
 public:
  explicit Expander(SymbolicContext& context) : context_(context) {}

  std::optional<SymExpr> expand(SymExpr expr) {
    pending_ = {expr};
    while (!pending_.empty()) {
      const SymExpr term = pending_.back();
      pending_.pop_back();
      if (++steps_ > most_steps) return std::nullopt;
      if (!open(term)) done_.push_back(term);
    }
    return context_.add(done_);
  }

 private:
  static constexpr std::size_t most_steps = 4096;

  /// Replaces a term by those it multiplies out to; false when it has no sum to multiply out.
  bool open(SymExpr term) {
    if (context_.op(term) == SymOp::add) {
      if (context_.operands(term).size() > most_steps) return false;
      for (const SymExpr part : context_.operands(term)) pending_.push_back(part);
      return true;
    }
    const auto view = factors_of(context_, term);
    if (view.size() > most_factors) return false;
    const std::vector<SymExpr> factors(view.begin(), view.end());
    for (const SymExpr factor : factors) {
      const auto [base, exponent] = split_power(context_, factor);
      if (context_.op(base) != SymOp::add || exponent < 1 || exponent > most_exponent) continue;
      if (context_.operands(base).size() > most_steps) continue;
      std::vector<SymExpr> rest = factors;
      std::erase(rest, factor);
      rest.push_back(context_.pow(base, exponent - 1));
      const SymExpr other = context_.mul(rest);
      for (std::size_t i = 0; i < context_.operands(base).size(); ++i) {
        pending_.push_back(context_.mul(context_.operands(base)[i], other));
      }
      return true;
    }
    return false;
  }

  static constexpr std::size_t most_factors = 64;
  static constexpr std::int64_t most_exponent = 16;
  SymbolicContext& context_;
  std::vector<SymExpr> pending_;
  std::vector<SymExpr> done_;
  std::size_t steps_ = 0;
};

}  // namespace

SymExpr SymbolicContext::make(SymOp op, std::span<const SymExpr> operands) {
  check_arity(op, operands.size());
  const auto at = [operands](std::size_t i) { return operands[i]; };
  switch (op) {
    case SymOp::add:
      return add(operands);
    case SymOp::mul:
      return mul(operands);
    case SymOp::max:
      return max(operands);
    case SymOp::min:
      return min(operands);
    case SymOp::pow:
      return pow(at(0), at(1));
    case SymOp::floor_div:
      return floor_div(at(0), at(1));
    case SymOp::clean_div:
      return clean_div(at(0), at(1));
    case SymOp::mod:
      return mod(at(0), at(1));
    case SymOp::python_mod:
      return python_mod(at(0), at(1));
    case SymOp::modular_indexing:
      return modular_indexing(at(0), at(1), at(2));
    case SymOp::pow_by_natural:
      return pow_by_natural(at(0), at(1));
    case SymOp::float_pow:
      return float_pow(at(0), at(1));
    case SymOp::int_true_div:
      return int_true_div(at(0), at(1));
    case SymOp::float_true_div:
      return float_true_div(at(0), at(1));
    case SymOp::ceil_to_int:
      return ceil_to_int(at(0));
    case SymOp::floor_to_int:
      return floor_to_int(at(0));
    case SymOp::trunc_to_int:
      return trunc_to_int(at(0));
    case SymOp::trunc_to_float:
      return trunc_to_float(at(0));
    case SymOp::round_to_int:
      return round_to_int(at(0));
    case SymOp::round_decimal:
      return round_decimal(at(0), at(1));
    case SymOp::to_float:
      return to_float(at(0));
    case SymOp::abs:
      return abs(at(0));
    case SymOp::floor:
      return floor(at(0));
    case SymOp::ceiling:
      return ceiling(at(0));
    case SymOp::bitwise_and:
      return bitwise_and(at(0), at(1));
    case SymOp::bitwise_or:
      return bitwise_or(at(0), at(1));
    case SymOp::bitwise_xor:
      return bitwise_xor(at(0), at(1));
    case SymOp::where:
      return where(at(0), at(1), at(2));
    case SymOp::piecewise:
      return piecewise(operands);
    case SymOp::identity:
      return identity(at(0));
    case SymOp::is_non_overlapping_and_dense_indicator:
      return is_non_overlapping_and_dense_indicator(operands);
    case SymOp::eq:
      return eq(at(0), at(1));
    case SymOp::ne:
      return ne(at(0), at(1));
    case SymOp::lt:
      return lt(at(0), at(1));
    case SymOp::le:
      return le(at(0), at(1));
    case SymOp::land:
      return land(operands);
    case SymOp::lor:
      return lor(operands);
    case SymOp::lnot:
      return lnot(at(0));
    default:
      return opaque_unary(op, at(0));
  }
}

SymExpr SymbolicContext::substitute(SymExpr expr, const SymMap& replacements) {
  const Traversal traversal(*this, expr);
  std::vector<SymExpr> results;
  results.reserve(traversal.order().size());
  std::vector<SymExpr> parts;
  for (const SymExpr node : traversal.order()) {
    const auto found = replacements.find(node);
    if (found != replacements.end()) {
      results.push_back(found->second);
      continue;
    }
    parts.clear();
    bool changed = false;
    for (const SymExpr operand : operands(node)) {
      const SymExpr part = operand.is_constant() ? operand : results[traversal.place(operand)];
      changed |= part != operand;
      parts.push_back(part);
    }
    results.push_back(changed ? make(op(node), parts) : node);
  }
  return results.empty() ? expr : results.back();
}

SymExpr SymbolicContext::expand(SymExpr expr) {
  if (op(expr) != SymOp::add && op(expr) != SymOp::mul && op(expr) != SymOp::pow) return expr;
  return Expander(*this).expand(expr).value_or(expr);
}

}  // namespace winze
