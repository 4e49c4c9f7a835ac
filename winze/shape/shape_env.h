// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <tsl/robin_set.h>

#include "winze/shape/expr_memo.h"
#include "winze/support/integer_map.h"
#include "winze/symbolic/symbolic_context.h"

namespace winze {

/// Something that a rule needs and that the ranges of the symbols do not prove.
struct ShapeConstraint {
  SymExpr condition;  ///< a boolean expression that has to hold when the program runs
  std::string why;    ///< what it is for, as a phrase: `sizes 3 and s0 broadcast`
};

/// Of a program: the node (`Node::key`) whose results are the first to have a symbol, by the bits
/// of the symbol.
struct FirstNodes {
  std::uint32_t graph_serial = 0;
  IntegerMap<std::uint64_t> keys;
};

/// Arithmetic and questions about sizes, named after PyTorch's ShapeEnv.
///
/// Every answer is a proof from the ranges of the symbols and what is assumed of them, never a
/// guess from example values. Where PyTorch asks `guard_or_false`, a rule asks whether the proof is
/// `yes`. What a rule must have and cannot prove it requires: that becomes a constraint, and what
/// does not hold an Error.
class ShapeEnv {
 public:
  explicit ShapeEnv(SymbolicContext& symbols) : symbols_(symbols) {}

  [[nodiscard]] SymbolicContext& symbols() const { return symbols_; }

  [[nodiscard]] SymInt add(SymInt a, SymInt b) const;
  [[nodiscard]] SymInt sub(SymInt a, SymInt b) const;
  [[nodiscard]] SymInt mul(SymInt a, SymInt b) const;
  [[nodiscard]] SymInt max(SymInt a, SymInt b) const;
  [[nodiscard]] SymInt min(SymInt a, SymInt b) const;
  /// Python's `a // b`.
  [[nodiscard]] SymInt floor_div(SymInt a, SymInt b) const;
  /// Python's `a % b`.
  [[nodiscard]] SymInt mod(SymInt a, SymInt b) const;
  /// Kept for `ShapeCall`, which finds it when it is first asked for.
  [[nodiscard]] FirstNodes& first_nodes() { return first_nodes_; }

  /// `max(size, 1)` as PyTorch records it in strides.
  [[nodiscard]] SymInt at_least_one(SymInt size) const;

  [[nodiscard]] Proof equal(SymInt a, SymInt b) const;
  [[nodiscard]] Proof less(SymInt a, SymInt b) const;
  [[nodiscard]] Proof less_equal(SymInt a, SymInt b) const;
  [[nodiscard]] bool known_equal(SymInt a, SymInt b) const { return equal(a, b) == Proof::yes; }
  [[nodiscard]] bool known_one(SymInt a) const { return known(a, 1); }
  [[nodiscard]] bool known_zero(SymInt a) const { return known(a, 0); }
  [[nodiscard]] bool known_less(SymInt a, SymInt b) const { return less(a, b) == Proof::yes; }
  [[nodiscard]] bool known_at_least(SymInt a, SymInt b) const {
    return less_equal(b, a) == Proof::yes;
  }
  /// Whether a symbol that stands for data of the program (`u0`) occurs in it: PyTorch has no
  /// example value of it.
  [[nodiscard]] bool is_unbacked(SymInt value) const {
    return !value.is_constant() && (symbol_facts(value) & has_unbacked) != 0;
  }
  /// Takes a condition for true from now on, besides the ranges of the symbols: comparisons of
  /// integers, and conjunctions of these. Others, and those beyond a fixed number, are passed over.
  void assume(SymExpr condition);
  /// How many facts are assumed: what `forget_assumptions` takes to undo what is assumed
  /// afterwards.
  [[nodiscard]] std::size_t assumption_count() const { return not_negative_.size(); }
  void forget_assumptions(std::size_t kept = 0);

  /// From now on the range of each of these symbols, which stand for data, widens to what the call
  /// yields that makes the symbol: its range was no more than what the call's operands allowed.
  void renew_ranges(SymSet symbols) { renewed_ = std::move(symbols); }
  [[nodiscard]] bool renews_range(SymExpr symbol) const { return renewed_.contains(symbol); }

  /// Known to be a multiple of `b`; false where `b` may be 0.
  [[nodiscard]] bool known_multiple(SymInt a, SymInt b) const;

  /// Records `condition` as needed; `why` is a function that gives the reason as a phrase. Throws
  /// Error where it never holds.
  template <typename Why>
  void require_equal(SymInt a, SymInt b, Why why) {
    if (a == b) return;
    require_proof(equal(a, b), [&] { return symbols_.eq(a, b); }, why);
  }
  template <typename Why>
  void require_at_least(SymInt a, SymInt b, Why why) {
    require_proof(less_equal(b, a), [&] { return symbols_.ge(a, b); }, why);
  }

  /// Records what a part of a call has been found to need.
  void require(ShapeConstraint constraint) { constraints_.push_back(std::move(constraint)); }

  /// Records that `value`, which may be anything in `possible`, lies in `held`.
  template <typename Why>
  void require_in(SymInt value, Range held, Range possible, Why why) {
    if (possible.lo < held.lo) constraints_.push_back({symbols_.ge(value, held.lo), why()});
    if (possible.hi > held.hi) constraints_.push_back({symbols_.le(value, held.hi), why()});
  }

  [[nodiscard]] std::string str(SymInt value) const { return symbols_.str(value); }

  [[nodiscard]] const std::vector<ShapeConstraint>& constraints() const { return constraints_; }
  void clear_constraints() { constraints_.clear(); }
  [[nodiscard]] std::vector<ShapeConstraint> take_constraints() { return std::move(constraints_); }

 private:
  void assume_not_negative(SymExpr value);
  /// Whether `a <= b` follows from one of the assumptions.
  [[nodiscard]] bool follows(SymInt a, SymInt b) const;
  [[nodiscard]] bool known(SymInt a, std::int64_t value) const {
    if (a.is_constant()) return a.constant() == value;
    const Range range = symbols_.range(a);
    return range.is_single() && range.lo == value;
  }
  template <typename Condition, typename Why>
  void require_proof(Proof proof, Condition condition, Why why) {
    if (proof == Proof::yes) return;
    if (proof == Proof::no) refuse(why());
    constraints_.push_back({condition(), why()});
  }
  [[noreturn]] static void refuse(const std::string& why);

  /// What was asked of two expressions, as a key of the memo.
  enum class Question : std::uint8_t {
    add,
    sub,
    mul,
    max,
    min,
    floor_div,
    mod,
    equal,
    less,
    less_equal,
    multiple
  };
  /// Rules ask the same of the same few sizes again and again: what `compute` gives is kept as long
  /// as neither a range nor an assumption changes.
  template <typename Compute>
  [[nodiscard]] SymInt arithmetic(Question question, SymInt a, SymInt b, Compute compute) const {
    const ExprMemo::Key key{a.bits(), b.bits(), symbols_.range_epoch(),
                            static_cast<std::uint32_t>(question)};
    if (const std::uint64_t* known = memo_.find(key)) return SymExpr::from_bits(*known);
    const SymInt result = compute();
    memo_.put(key, result.bits());
    return result;
  }
  template <typename Compute>
  [[nodiscard]] Proof proof(Question question, SymInt a, SymInt b, Compute compute) const {
    const ExprMemo::Key key{a.bits(), b.bits(), symbols_.range_epoch(),
                            static_cast<std::uint32_t>(question)};
    if (const std::uint64_t* known = memo_.find(key)) return static_cast<Proof>(*known);
    const Proof result = compute();
    memo_.put(key, static_cast<std::uint64_t>(result));
    return result;
  }

  /// What is known of the symbols in an expression: whether each is declared positive, whether one
  /// is unbacked. Neither changes, so that it is found once.
  enum SymbolFacts : std::uint8_t { is_known = 1, all_positive = 2, has_unbacked = 4 };
  [[nodiscard]] std::uint8_t symbol_facts(SymExpr value) const {
    const std::uint32_t index = value.index();
    if (index < facts_.size() && facts_[index] != 0) return facts_[index];
    return find_symbol_facts(value);
  }
  [[nodiscard]] std::uint8_t find_symbol_facts(SymExpr value) const;

  SymbolicContext& symbols_;
  mutable std::vector<std::uint8_t> facts_;  ///< by index of the expression; 0 where not asked yet
  std::vector<SymExpr> not_negative_;        ///< the assumptions: each is at least 0
  SymSet renewed_;
  FirstNodes first_nodes_;
  std::vector<ShapeConstraint> constraints_;
  mutable ExprMemo memo_;
};

}  // namespace winze
