// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "winze/support/string_map.h"
#include "winze/symbolic/range.h"
#include "winze/symbolic/sym_expr.h"

namespace winze {

/// The assumptions that sympy knows of a symbol, in the order in which srepr prints them here.
/// PyTorch writes `positive=True, integer=True` for sizes and `integer=True` for unbacked ones.
enum class Assumption : std::uint8_t {
  positive,
  nonnegative,
  negative,
  nonpositive,
  nonzero,
  zero,
  even,
  odd,
  prime,
  composite,
  integer,
  noninteger,
  rational,
  irrational,
  algebraic,
  transcendental,
  real,
  extended_real,
  imaginary,
  complex,
  finite,
  infinite,
  commutative,
  hermitian,
  antihermitian,
  count,
};

/// The name that sympy uses, such as `positive`.
[[nodiscard]] std::string_view assumption_name(Assumption assumption);
/// The assumption of this name, if sympy has it.
[[nodiscard]] std::optional<Assumption> find_assumption(std::string_view name);

/// The assumptions with which a symbol was declared. Two symbols of one name and different
/// assumptions are different to sympy, so they are part of a symbol's identity.
class SymbolAssumptions {
 public:
  constexpr SymbolAssumptions() = default;

  /// `positive=True, integer=True`: what PyTorch gives the sizes of inputs.
  [[nodiscard]] static constexpr SymbolAssumptions positive_integer() {
    return SymbolAssumptions().with(Assumption::positive).with(Assumption::integer);
  }
  /// `integer=True`: what PyTorch gives unbacked symbols and integer inputs.
  [[nodiscard]] static constexpr SymbolAssumptions any_integer() {
    return SymbolAssumptions().with(Assumption::integer);
  }

  /// These and one more, `name=True` or `name=False`.
  [[nodiscard]] constexpr SymbolAssumptions with(Assumption assumption, bool value = true) const {
    SymbolAssumptions result = *this;
    const std::uint32_t bit = 1U << static_cast<unsigned>(assumption);
    result.known_ |= bit;
    result.true_ = value ? result.true_ | bit : result.true_ & ~bit;
    return result;
  }
  /// True or false as declared; nothing when not declared. Consequences are not drawn.
  [[nodiscard]] constexpr std::optional<bool> get(Assumption assumption) const {
    const std::uint32_t bit = 1U << static_cast<unsigned>(assumption);
    if ((known_ & bit) == 0) return std::nullopt;
    return (true_ & bit) != 0;
  }
  [[nodiscard]] constexpr bool is(Assumption assumption) const {
    return get(assumption).value_or(false);
  }
  [[nodiscard]] constexpr bool empty() const { return known_ == 0; }
  friend constexpr bool operator==(SymbolAssumptions, SymbolAssumptions) = default;

  /// `positive=True, integer=True`; empty without assumptions.
  [[nodiscard]] std::string str() const;
  /// What the assumptions say of the value, as a range of integers.
  [[nodiscard]] Range range() const;

 private:
  std::uint32_t known_ = 0;
  std::uint32_t true_ = 0;
};

/// The symbols of a context: name, assumptions, range. Symbols are numbered in order of
/// declaration.
class SymbolTable {
 public:
  struct Symbol {
    std::string name;
    SymbolAssumptions assumptions;
    SymKind kind = SymKind::int_kind;
    Range range;
    SymExpr expr;
  };

  [[nodiscard]] std::size_t size() const { return symbols_.size(); }
  [[nodiscard]] const Symbol& operator[](std::uint32_t number) const { return symbols_[number]; }
  [[nodiscard]] Symbol& operator[](std::uint32_t number) { return symbols_[number]; }
  /// The number of the symbol of this name.
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view name) const;
  /// Finds or declares. Throws Error when the name is declared with other assumptions, since sympy
  /// would hold the two for different symbols.
  std::uint32_t declare(std::string_view name, SymbolAssumptions assumptions);

 private:
  std::vector<Symbol> symbols_;
  StringMap<std::uint32_t> by_name_;
};

/// What a symbol stands for: float for `real=True` without `integer=True` and for PyTorch's names
/// `zf…` and `zuf…`, otherwise int.
[[nodiscard]] SymKind symbol_kind(std::string_view name, SymbolAssumptions assumptions);

}  // namespace winze
