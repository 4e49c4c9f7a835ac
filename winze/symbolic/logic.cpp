// SPDX-License-Identifier: Apache-2.0
// Relations, booleans and choices.
#include <algorithm>
#include <tuple>
#include <utility>

#include "winze/symbolic/expr_parts.h"
#include "winze/symbolic/symbolic_context.h"

namespace winze {
namespace {

/// The order of `a` and `b` when it is the same for all values: both are constants, or they differ
/// by a constant.
std::partial_ordering known_order(SymbolicContext& context, SymExpr a, SymExpr b) {
  if (a.is_constant() && b.is_constant()) {
    return std::partial_ordering(a.constant() <=> b.constant());
  }
  auto [x, x_rest] = split_constant(context, a);
  auto [y, y_rest] = split_constant(context, b);
  if (x_rest != y_rest) return std::partial_ordering::unordered;
  // With a float, adding a constant may round to the same value.
  const bool whole = context.kind(a) == SymKind::int_kind && context.kind(b) == SymKind::int_kind;
  if (x_rest != SymExpr(0) && !whole) return std::partial_ordering::unordered;
  return compare(*as_number(context.store(), x), *as_number(context.store(), y));
}

SymExpr relation(SymbolicContext& context, SymOp op, SymExpr a, SymExpr b) {
  require_number(context, a, op);
  require_number(context, b, op);
  const auto order = known_order(context, a, b);
  if (order != std::partial_ordering::unordered) {
    return context.bool_constant(op == SymOp::lt ? order < 0 : order <= 0);
  }
  if (a == b) return context.bool_constant(op == SymOp::le);
  const SymExpr operands[] = {a, b};
  return context.store().intern(op, SymKind::bool_kind, operands);
}

/// `n + 2 == 5` as `n == 3`: an integer that equals a constant, without a constant term of its own.
std::pair<SymExpr, SymExpr> without_constant(SymbolicContext& context, SymExpr a, SymExpr b) {
  if (a.is_constant()) std::swap(a, b);
  if (!b.is_constant() || context.kind(a) != SymKind::int_kind) return {a, b};
  const auto [constant, rest] = split_constant(context, a);
  if (!constant.is_constant()) return {a, b};
  const auto other_side = checked_sub(b.constant(), constant.constant());
  if (!other_side || !SymExpr::fits(*other_side)) return {a, b};
  return {rest, *other_side};
}

SymExpr equality(SymbolicContext& context, SymOp op, SymExpr a, SymExpr b) {
  const bool bools = context.kind(a) == SymKind::bool_kind;
  if (bools != (context.kind(b) == SymKind::bool_kind)) {
    fail("{} compares a boolean with a number", sym_op_info(op).name);
  }
  if (a == b) return context.bool_constant(op == SymOp::eq);
  if (bools) {
    const bool both = context.constant_value(a) && context.constant_value(b);
    if (both) return context.bool_constant(op == SymOp::ne);  // true and false
  } else {
    const auto order = known_order(context, a, b);
    if (order != std::partial_ordering::unordered) {
      return context.bool_constant((order == 0) == (op == SymOp::eq));
    }
  }
  if (!bools) std::tie(a, b) = without_constant(context, a, b);
  // Constants, which come first in the order, stand on the right.
  const bool a_constant = !context.has_symbol(a);
  const bool b_constant = !context.has_symbol(b);
  const bool swap = a_constant != b_constant ? a_constant : context.store().before(b, a);
  const SymExpr operands[] = {swap ? b : a, swap ? a : b};
  return context.store().intern(op, SymKind::bool_kind, operands);
}

/// And and Or: flattened, each operand once, constants folded, `x` with `Not(x)` decided.
SymExpr junction(SymbolicContext& context, SymOp op, std::span<const SymExpr> given) {
  const SymExpr neutral = context.bool_constant(op == SymOp::land);
  const SymExpr decisive = context.bool_constant(op == SymOp::lor);
  std::vector<SymExpr> operands;
  for (const SymExpr operand : given) {
    require_bool(context, operand, op);
    const auto parts =
        context.op(operand) == op ? context.operands(operand) : std::span(&operand, 1);
    context.store().add_work(parts.size());
    for (const SymExpr part : parts) {
      if (part == decisive) return decisive;
      if (part != neutral) operands.push_back(part);
    }
  }
  const auto before = [&](SymExpr a, SymExpr b) { return context.store().before(a, b); };
  std::ranges::sort(operands, before);
  operands.erase(std::ranges::unique(operands).begin(), operands.end());
  for (const SymExpr operand : operands) {
    if (context.op(operand) != SymOp::lnot) continue;
    const SymExpr inside = context.operands(operand)[0];
    if (std::ranges::binary_search(operands, inside, before)) return decisive;
  }
  if (operands.empty()) return neutral;
  if (operands.size() == 1) return operands[0];
  return context.store().intern(op, SymKind::bool_kind, operands);
}

}  // namespace

SymExpr SymbolicContext::eq(SymExpr a, SymExpr b) {
  return equality(*this, SymOp::eq, a, b);
}
SymExpr SymbolicContext::ne(SymExpr a, SymExpr b) {
  return equality(*this, SymOp::ne, a, b);
}
SymExpr SymbolicContext::lt(SymExpr a, SymExpr b) {
  return relation(*this, SymOp::lt, a, b);
}
SymExpr SymbolicContext::le(SymExpr a, SymExpr b) {
  return relation(*this, SymOp::le, a, b);
}

SymExpr SymbolicContext::land(SymExpr a, SymExpr b) {
  const SymExpr operands[] = {a, b};
  return junction(*this, SymOp::land, operands);
}
SymExpr SymbolicContext::land(std::span<const SymExpr> operands) {
  return junction(*this, SymOp::land, std::vector<SymExpr>(operands.begin(), operands.end()));
}
SymExpr SymbolicContext::lor(SymExpr a, SymExpr b) {
  const SymExpr operands[] = {a, b};
  return junction(*this, SymOp::lor, operands);
}
SymExpr SymbolicContext::lor(std::span<const SymExpr> operands) {
  return junction(*this, SymOp::lor, std::vector<SymExpr>(operands.begin(), operands.end()));
}

SymExpr SymbolicContext::lnot(SymExpr a) {
  require_bool(*this, a, SymOp::lnot);
  if (a == bool_constant(true)) return bool_constant(false);
  if (a == bool_constant(false)) return bool_constant(true);
  if (op(a) == SymOp::lnot) return operands(a)[0];
  if (is_relation(op(a))) {
    const SymExpr x = operands(a)[0];
    const SymExpr y = operands(a)[1];
    if (op(a) == SymOp::eq) return ne(x, y);
    if (op(a) == SymOp::ne) return eq(x, y);
    // Not so for floats: both `x < nan` and `x >= nan` are false.
    const bool whole = kind(x) == SymKind::int_kind && kind(y) == SymKind::int_kind;
    if (whole) return op(a) == SymOp::lt ? le(y, x) : lt(y, x);
  }
  return store_.intern(SymOp::lnot, SymKind::bool_kind, {&a, 1});
}

SymExpr SymbolicContext::where(SymExpr condition, SymExpr then, SymExpr otherwise) {
  require_bool(*this, condition, SymOp::where);
  const bool bools = kind(then) == SymKind::bool_kind;
  if (bools != (kind(otherwise) == SymKind::bool_kind)) {
    fail("Where chooses between a boolean and a number");
  }
  if (condition == bool_constant(true)) return then;
  if (condition == bool_constant(false)) return otherwise;
  const SymExpr choices[] = {then, otherwise};
  const SymExpr parts[] = {condition, then, otherwise};
  return store_.intern(SymOp::where, bools ? SymKind::bool_kind : arithmetic_kind(*this, choices),
                       parts);
}

SymExpr SymbolicContext::piecewise(std::span<const SymExpr> operands) {
  if (operands.empty() || operands.size() % 2 != 0) {
    fail("Piecewise needs pairs of a value and a condition");
  }
  std::vector<SymExpr> parts;
  std::vector<SymExpr> values;
  for (std::size_t i = 0; i < operands.size(); i += 2) {
    require_number(*this, operands[i], SymOp::piecewise);
    require_bool(*this, operands[i + 1], SymOp::piecewise);
    if (operands[i + 1] == bool_constant(false)) continue;
    // A piece of the same value as the one before only widens its condition.
    if (!values.empty() && values.back() == operands[i]) {
      parts.back() = lor(parts.back(), operands[i + 1]);
    } else {
      parts.push_back(operands[i]);
      parts.push_back(operands[i + 1]);
      values.push_back(operands[i]);
    }
    if (parts.back() == bool_constant(true)) break;
  }
  if (parts.empty()) return ExprStore::atom(SymOp::nan);
  if (parts[1] == bool_constant(true)) return parts[0];
  return store_.intern(SymOp::piecewise, arithmetic_kind(*this, values), parts);
}

}  // namespace winze
