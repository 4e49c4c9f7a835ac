// SPDX-License-Identifier: Apache-2.0
#include "winze/shape/shape_env.h"

#include <algorithm>

namespace winze {
namespace {

bool constants(SymInt a, SymInt b) {
  return a.is_constant() && b.is_constant();
}
Proof from_bool(bool value) {
  return value ? Proof::yes : Proof::no;
}

}  // namespace

SymInt ShapeEnv::add(SymInt a, SymInt b) const {
  std::int64_t result = 0;
  if (constants(a, b) && !__builtin_add_overflow(a.constant(), b.constant(), &result))
    return result;
  return arithmetic(Question::add, a, b, [&] { return symbols_.add(a, b); });
}

SymInt ShapeEnv::sub(SymInt a, SymInt b) const {
  std::int64_t result = 0;
  if (constants(a, b) && !__builtin_sub_overflow(a.constant(), b.constant(), &result))
    return result;
  return arithmetic(Question::sub, a, b, [&] { return symbols_.sub(a, b); });
}

SymInt ShapeEnv::mul(SymInt a, SymInt b) const {
  std::int64_t result = 0;
  if (constants(a, b) && !__builtin_mul_overflow(a.constant(), b.constant(), &result))
    return result;
  return arithmetic(Question::mul, a, b, [&] { return symbols_.mul(a, b); });
}

SymInt ShapeEnv::max(SymInt a, SymInt b) const {
  if (constants(a, b)) return std::max(a.constant(), b.constant());
  return arithmetic(Question::max, a, b, [&] {
    if (less_equal(a, b) == Proof::yes) return b;
    if (less_equal(b, a) == Proof::yes) return a;
    return symbols_.max(a, b);
  });
}

SymInt ShapeEnv::min(SymInt a, SymInt b) const {
  if (constants(a, b)) return std::min(a.constant(), b.constant());
  return arithmetic(Question::min, a, b, [&] {
    if (less_equal(a, b) == Proof::yes) return a;
    if (less_equal(b, a) == Proof::yes) return b;
    return symbols_.min(a, b);
  });
}

SymInt ShapeEnv::floor_div(SymInt a, SymInt b) const {
  return arithmetic(Question::floor_div, a, b, [&] { return symbols_.floor_div(a, b); });
}

SymInt ShapeEnv::mod(SymInt a, SymInt b) const {
  return arithmetic(Question::mod, a, b, [&] { return symbols_.python_mod(a, b); });
}

SymInt ShapeEnv::at_least_one(SymInt size) const {
  if (size.is_constant()) return std::max<std::int64_t>(size.constant(), 1);
  // sympy knows what symbols are declared to be, not their ranges: an unbacked symbol keeps its
  // Max.
  const bool positive = symbols_.range(size).lo >= 1 && (symbol_facts(size) & all_positive) != 0;
  return positive ? size : symbols_.max(size, 1);
}

std::uint8_t ShapeEnv::find_symbol_facts(SymExpr value) const {
  std::uint8_t facts = is_known | all_positive;
  for (const SymExpr symbol : symbols_.free_symbols(value)) {
    if (!symbols_.symbol_assumptions(symbol).is(Assumption::positive)) facts &= ~all_positive;
    const std::string& name = symbols_.symbol_name(symbol);
    if (name.starts_with('u') || name.starts_with("zuf")) facts |= has_unbacked;
  }
  const std::uint32_t index = value.index();
  if (index >= facts_.size()) facts_.resize(index + index / 2 + 64);
  facts_[index] = facts;
  return facts;
}

Proof ShapeEnv::equal(SymInt a, SymInt b) const {
  if (a == b) return Proof::yes;
  if (constants(a, b)) return Proof::no;
  return proof(Question::equal, a, b, [&] {
    if (intersection(symbols_.range(a), symbols_.range(b)).empty()) return Proof::no;
    const Proof by_ranges = symbols_.prove_eq(a, b);
    if (by_ranges != Proof::unknown) return by_ranges;
    return less_equal(a, b) == Proof::yes && less_equal(b, a) == Proof::yes ? Proof::yes
                                                                            : Proof::unknown;
  });
}

Proof ShapeEnv::less(SymInt a, SymInt b) const {
  if (constants(a, b)) return from_bool(a.constant() < b.constant());
  return proof(Question::less, a, b, [&] {
    const Proof by_ranges = symbols_.prove_lt(a, b);
    if (by_ranges != Proof::unknown || not_negative_.empty()) return by_ranges;
    if (follows(add(a, 1), b)) return Proof::yes;
    return follows(b, a) ? Proof::no : Proof::unknown;
  });
}

Proof ShapeEnv::less_equal(SymInt a, SymInt b) const {
  if (constants(a, b)) return from_bool(a.constant() <= b.constant());
  return proof(Question::less_equal, a, b, [&] {
    const Proof by_ranges = symbols_.prove_le(a, b);
    if (by_ranges != Proof::unknown || not_negative_.empty()) return by_ranges;
    if (follows(a, b)) return Proof::yes;
    return follows(add(b, 1), a) ? Proof::no : Proof::unknown;
  });
}

void ShapeEnv::assume(SymExpr condition) {
  memo_ = {};
  constexpr std::size_t most_conditions = 256;
  std::vector<SymExpr> open = {condition};
  for (std::size_t next = 0; next < open.size() && open.size() <= most_conditions; ++next) {
    const auto view = symbols_.operands(open[next]);
    const std::vector<SymExpr> operands(view.begin(), view.end());
    const SymOp op = symbols_.op(open[next]);
    if (op == SymOp::land) {
      open.insert(open.end(), operands.begin(), operands.end());
      continue;
    }
    const bool compares = op == SymOp::eq || op == SymOp::le || op == SymOp::lt;
    if (!compares || symbols_.kind(operands[0]) != SymKind::int_kind ||
        symbols_.kind(operands[1]) != SymKind::int_kind)
      continue;
    const SymExpr difference = symbols_.sub(operands[1], operands[0]);
    assume_not_negative(op == SymOp::lt ? symbols_.sub(difference, 1) : difference);
    if (op == SymOp::eq) assume_not_negative(symbols_.neg(difference));
  }
}

void ShapeEnv::forget_assumptions(std::size_t kept) {
  memo_ = {};
  not_negative_.resize(std::min(kept, not_negative_.size()));
}

void ShapeEnv::assume_not_negative(SymExpr value) {
  constexpr std::size_t most_assumptions = 64;
  if (not_negative_.size() < most_assumptions && symbols_.prove_le(0, value) == Proof::unknown)
    not_negative_.push_back(value);
}

bool ShapeEnv::follows(SymInt a, SymInt b) const {
  return std::ranges::any_of(not_negative_, [&](SymExpr slack) {
    return symbols_.prove_le(symbols_.add(a, slack), b) == Proof::yes;
  });
}

bool ShapeEnv::known_multiple(SymInt a, SymInt b) const {
  if (b == SymInt(0) || (symbols_.range(b).contains(0) && !known_less(0, b))) return false;
  if (constants(a, b)) return a.constant() % b.constant() == 0;
  return proof(Question::multiple, a, b, [&] { return symbols_.prove_divisible(a, b); }) ==
         Proof::yes;
}

void ShapeEnv::refuse(const std::string& why) {
  throw Error(why);
}

}  // namespace winze
