// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <tsl/robin_map.h>
#include <tsl/robin_set.h>

#include "winze/symbolic/expr_store.h"
#include "winze/symbolic/range.h"
#include "winze/symbolic/sym_expr.h"
#include "winze/symbolic/sym_op.h"
#include "winze/symbolic/symbol_table.h"

namespace winze {

/// The answer of a proof. `unknown` says nothing: neither that it holds nor that it does not.
enum class Proof : std::uint8_t { no, yes, unknown };

/// A value of an expression: Python's int, float or bool.
using SymValue = std::variant<std::int64_t, double, bool>;

/// Gives the value of a symbol, or nothing.
using SymLookup = std::function<std::optional<SymValue>(SymExpr symbol)>;

/// What replaces what in `substitute`.
using SymMap = tsl::robin_map<SymExpr, SymExpr, std::hash<SymExpr>>;
using SymSet = tsl::robin_set<SymExpr, std::hash<SymExpr>>;

/// How `parse` treats a name that is not declared.
struct SymParseOptions {
  /// The assumptions with which a bare name of the plain form is declared when the context does not
  /// know it; without them it is an error. (srepr carries its own assumptions.)
  std::optional<SymbolAssumptions> declare_as;
};

/// Owns symbolic expressions and the symbols in them.
///
/// Each builder returns the canonical form: sums and products are flattened, constants folded with
/// Python's semantics, like terms and powers collected, operands in an order that does not depend
/// on history. Only simplifications that sympy with PyTorch's functions also makes are made, so
/// that an expression written for Python is the one that was read. Ranges never enter the canonical
/// form; they serve `range` and `prove…`. Products of sums are not expanded, except by a constant.
///
/// Builders throw Error when an exact integer leaves the range of int64, when a divisor is the
/// constant zero, and when an operand has the wrong kind. Cost: linear in the number of operands
/// (times its logarithm when unsorted).
///
/// Not safe for use by several threads at once.
class SymbolicContext {
 public:
  SymbolicContext() = default;
  SymbolicContext(const SymbolicContext&) = delete;
  SymbolicContext& operator=(const SymbolicContext&) = delete;

  // --- Atoms ---

  /// Finds or declares a symbol; its range is then what the assumptions say. Throws Error when the
  /// name is declared with other assumptions: sympy would hold the two for different symbols.
  SymExpr symbol(std::string_view name,
                 SymbolAssumptions assumptions = SymbolAssumptions::positive_integer());
  /// The symbol of this name, if declared.
  [[nodiscard]] std::optional<SymExpr> find_symbol(std::string_view name) const;
  [[nodiscard]] bool is_symbol(SymExpr expr) const { return op(expr) == SymOp::symbol; }
  [[nodiscard]] const std::string& symbol_name(SymExpr symbol) const;
  [[nodiscard]] SymbolAssumptions symbol_assumptions(SymExpr symbol) const;
  /// Every symbol, in order of declaration.
  [[nodiscard]] std::vector<SymExpr> symbols() const;

  SymExpr float_constant(double value);
  SymExpr bool_constant(bool value) const;
  /// In lowest terms, an integer when it is one. A denominator of 0 is an Error.
  SymExpr rational(std::int64_t numerator, std::int64_t denominator);
  [[nodiscard]] static SymExpr int_oo() { return ExprStore::atom(SymOp::int_infinity); }
  [[nodiscard]] static SymExpr negative_int_oo() {
    return ExprStore::atom(SymOp::negative_int_infinity);
  }

  // --- What an expression is ---

  [[nodiscard]] SymOp op(SymExpr expr) const {
    return expr.is_constant() ? SymOp::integer : store_.node(expr).op;
  }
  [[nodiscard]] SymKind kind(SymExpr expr) const {
    return expr.is_constant() ? SymKind::int_kind : store_.node(expr).kind;
  }
  /// Empty for atoms. Invalidated by building expressions.
  [[nodiscard]] std::span<const SymExpr> operands(SymExpr expr) const {
    return expr.is_constant() ? std::span<const SymExpr>() : store_.operands(expr);
  }
  /// The value of a constant of any kind, rationals as float; nothing for the rest.
  [[nodiscard]] std::optional<SymValue> constant_value(SymExpr expr) const;
  /// The symbols in the expression, by name.
  [[nodiscard]] std::vector<SymExpr> free_symbols(SymExpr expr) const;
  [[nodiscard]] bool has_symbol(SymExpr expr) const {
    return !expr.is_constant() && store_.node(expr).lead != ExprStore::no_symbol;
  }

  // --- Arithmetic ---

  SymExpr add(SymExpr a, SymExpr b);
  SymExpr add(std::span<const SymExpr> terms);
  SymExpr sub(SymExpr a, SymExpr b);
  SymExpr neg(SymExpr a);
  SymExpr mul(SymExpr a, SymExpr b);
  SymExpr mul(std::span<const SymExpr> factors);
  /// sympy's Pow.
  SymExpr pow(SymExpr base, SymExpr exponent);
  /// `base ** exponent` where the exponent is an integer of 0 or more.
  SymExpr pow_by_natural(SymExpr base, SymExpr exponent);
  SymExpr float_pow(SymExpr base, SymExpr exponent);
  SymExpr max(SymExpr a, SymExpr b);
  SymExpr max(std::span<const SymExpr> operands);
  SymExpr min(SymExpr a, SymExpr b);
  SymExpr min(std::span<const SymExpr> operands);
  SymExpr abs(SymExpr a);

  /// Python's `a // b`.
  SymExpr floor_div(SymExpr a, SymExpr b);
  /// `a // b` where the division is known to leave nothing over.
  SymExpr clean_div(SymExpr a, SymExpr b);
  /// `-(-a // b)`, held as CleanDiv or FloorDiv as PyTorch does.
  SymExpr ceil_div(SymExpr a, SymExpr b);
  /// `a % b` for `a >= 0` and `b > 0`.
  SymExpr mod(SymExpr a, SymExpr b);
  /// Python's `a % b`.
  SymExpr python_mod(SymExpr a, SymExpr b);
  /// `(a // b) % modulus`.
  SymExpr modular_indexing(SymExpr a, SymExpr b, SymExpr modulus);
  SymExpr int_true_div(SymExpr a, SymExpr b);
  SymExpr float_true_div(SymExpr a, SymExpr b);
  SymExpr lshift(SymExpr a, SymExpr b);
  SymExpr rshift(SymExpr a, SymExpr b);
  SymExpr bitwise_and(SymExpr a, SymExpr b);
  SymExpr bitwise_or(SymExpr a, SymExpr b);
  SymExpr bitwise_xor(SymExpr a, SymExpr b);

  SymExpr to_float(SymExpr a);
  SymExpr ceil_to_int(SymExpr a);
  SymExpr floor_to_int(SymExpr a);
  SymExpr trunc_to_int(SymExpr a);
  SymExpr trunc_to_float(SymExpr a);
  /// Python's `round(a)`: half to even.
  SymExpr round_to_int(SymExpr a);
  /// Python's `round(a, digits)`, a float.
  SymExpr round_decimal(SymExpr a, SymExpr digits);

  /// sympy's floor and ceiling.
  SymExpr floor(SymExpr a);
  SymExpr ceiling(SymExpr a);

  /// A function of Python's math module: `op` is one of SymOp::opaque_….
  SymExpr opaque_unary(SymOp op, SymExpr a);
  SymExpr sqrt(SymExpr a) { return opaque_unary(SymOp::opaque_sqrt, a); }
  SymExpr exp(SymExpr a) { return opaque_unary(SymOp::opaque_exp, a); }
  SymExpr log(SymExpr a) { return opaque_unary(SymOp::opaque_log, a); }
  SymExpr log2(SymExpr a) { return opaque_unary(SymOp::opaque_log2, a); }

  SymExpr identity(SymExpr a);
  /// 1 when sizes and strides describe a dense tensor without overlap in some order, else 0.
  /// `operands`: all sizes, then all strides.
  SymExpr is_non_overlapping_and_dense_indicator(std::span<const SymExpr> operands);

  /// Any operation by its operands, checked and canonicalized as by the named builders.
  SymExpr make(SymOp op, std::span<const SymExpr> operands);

  // --- Booleans ---

  SymExpr eq(SymExpr a, SymExpr b);
  SymExpr ne(SymExpr a, SymExpr b);
  SymExpr lt(SymExpr a, SymExpr b);
  SymExpr le(SymExpr a, SymExpr b);
  SymExpr gt(SymExpr a, SymExpr b) { return lt(b, a); }
  SymExpr ge(SymExpr a, SymExpr b) { return le(b, a); }
  SymExpr land(SymExpr a, SymExpr b);
  SymExpr land(std::span<const SymExpr> operands);
  SymExpr lor(SymExpr a, SymExpr b);
  SymExpr lor(std::span<const SymExpr> operands);
  SymExpr lnot(SymExpr a);
  SymExpr where(SymExpr condition, SymExpr then, SymExpr otherwise);
  /// Operands: value and condition in turn; the first whose condition holds is the value.
  SymExpr piecewise(std::span<const SymExpr> operands);

  // --- Ranges ---

  /// Replaces the range of a symbol by what both `range` and its assumptions allow.
  void set_range(SymExpr symbol, Range range);
  /// Every value the expression can have lies in it; for floats the integers around it (a NaN has
  /// no place in a range), for booleans 0 and 1. Kept between calls until a range changes.
  [[nodiscard]] Range range(SymExpr expr) const;
  /// Changes whenever the range of a symbol does: what was proved under the same number still
  /// holds.
  [[nodiscard]] std::uint32_t range_epoch() const { return epoch_; }

  // --- Proofs: about every assignment of values within the ranges for which both are defined ---

  Proof prove_eq(SymExpr a, SymExpr b);
  Proof prove_ne(SymExpr a, SymExpr b);
  Proof prove_lt(SymExpr a, SymExpr b);
  Proof prove_le(SymExpr a, SymExpr b);
  Proof prove_gt(SymExpr a, SymExpr b) { return prove_lt(b, a); }
  Proof prove_ge(SymExpr a, SymExpr b) { return prove_le(b, a); }
  /// Whether a boolean expression always holds (yes), never holds (no).
  Proof prove(SymExpr condition);
  /// Whether `a % k == 0` always (yes) or never (no).
  Proof prove_divisible(SymExpr a, SymExpr k);

  // --- Values and rewriting ---

  /// The value as Python with PyTorch computes it. Nothing when a symbol has no value, and where
  /// Python would raise: division by zero, a domain error, an integer out of int64.
  [[nodiscard]] std::optional<SymValue> evaluate(SymExpr expr, const SymLookup& lookup) const;
  /// The same for an expression without symbols or with integer symbols only.
  [[nodiscard]] std::optional<std::int64_t> evaluate_int(SymExpr expr,
                                                         const SymLookup& lookup) const;
  /// Replaces symbols and whole sub-expressions, all at once, and canonicalizes the result.
  SymExpr substitute(SymExpr expr, const SymMap& replacements);
  /// Products of sums and powers of sums multiplied out, while that stays below a fixed size.
  SymExpr expand(SymExpr expr);
  /// Simplified by what the ranges allow: `Max(1, u0)` is `u0` when `u0 >= 1`. Equal to `expr` for
  /// every assignment within the ranges, but not its canonical form.
  SymExpr simplify(SymExpr expr);

  // --- Text ---

  /// Reads sympy's srepr or the plain form, told apart by themselves. Throws Error with the column.
  /// Time and memory are bounded by the length of the text.
  SymExpr parse(std::string_view text, const SymParseOptions& options = {});
  /// sympy's srepr, with the assumptions of each symbol.
  [[nodiscard]] std::string srepr(SymExpr expr) const;
  /// The plain form, as Python would write it: `2*s0 + 1`, `s0//2`. `parse` reads it back to the
  /// same expression when the symbols are declared.
  [[nodiscard]] std::string str(SymExpr expr) const;

  /// The nodes, for the other files of this component.
  [[nodiscard]] ExprStore& store() { return store_; }
  [[nodiscard]] const ExprStore& store() const { return store_; }

 private:
  ExprStore store_;
  mutable std::vector<Range> range_cache_;          // by node index
  mutable std::vector<std::uint32_t> range_epoch_;  // of the cached range; 0: none
  std::uint32_t epoch_ = 1;                         // of the symbols' ranges
};

}  // namespace winze
