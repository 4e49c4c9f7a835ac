// SPDX-License-Identifier: Apache-2.0
#include "winze/symbolic/symbol_table.h"

#include <algorithm>
#include <array>
#include <limits>

namespace winze {
namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(Assumption::count)> names = {
    "positive",       "nonnegative", "negative",      "nonpositive", "nonzero",
    "zero",           "even",        "odd",           "prime",       "composite",
    "integer",        "noninteger",  "rational",      "irrational",  "algebraic",
    "transcendental", "real",        "extended_real", "imaginary",   "complex",
    "finite",         "infinite",    "commutative",   "hermitian",   "antihermitian",
};

std::string spelled(std::string_view name, SymbolAssumptions assumptions) {
  const std::string text = assumptions.str();
  return text.empty() ? fmt::format("Symbol('{}')", name)
                      : fmt::format("Symbol('{}', {})", name, text);
}

}  // namespace

std::string_view assumption_name(Assumption assumption) {
  return names[static_cast<std::size_t>(assumption)];
}

std::optional<Assumption> find_assumption(std::string_view name) {
  const auto* found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Assumption>(found - names.begin());
}

std::string SymbolAssumptions::str() const {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto value = get(static_cast<Assumption>(i));
    if (!value) continue;
    if (!text.empty()) text += ", ";
    text += names[i];
    text += *value ? "=True" : "=False";
  }
  return text;
}

Range SymbolAssumptions::range() const {
  Range result;
  const auto at_least = [&](std::int64_t value) { result.lo = std::max(result.lo, value); };
  const auto at_most = [&](std::int64_t value) { result.hi = std::min(result.hi, value); };
  // A positive float may lie between 0 and 1; the range holds the integers around it.
  const bool whole = is(Assumption::integer) || is(Assumption::even) || is(Assumption::odd);
  if (is(Assumption::positive)) at_least(whole ? 1 : 0);
  if (is(Assumption::nonnegative)) at_least(0);
  if (is(Assumption::negative)) at_most(whole ? -1 : 0);
  if (is(Assumption::nonpositive)) at_most(0);
  if (is(Assumption::zero)) result = intersection(result, Range::exactly(0));
  if (is(Assumption::prime)) at_least(2);
  if (is(Assumption::composite)) at_least(4);
  return result;
}

std::optional<std::uint32_t> SymbolTable::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return std::nullopt;
  return found->second;
}

std::uint32_t SymbolTable::declare(std::string_view name, SymbolAssumptions assumptions) {
  if (const auto number = find(name)) {
    const Symbol& known = symbols_[*number];
    if (known.assumptions == assumptions) return *number;
    throw Error(
        fmt::format(
            "the symbol `{}` is spelled both {} and {}, which are different symbols to sympy", name,
            spelled(name, known.assumptions), spelled(name, assumptions)),
        "give every occurrence of it the same assumptions");
  }
  if (symbols_.size() >= std::numeric_limits<std::uint32_t>::max()) fail("too many symbols");
  const auto number = static_cast<std::uint32_t>(symbols_.size());
  symbols_.push_back({std::string(name), assumptions, symbol_kind(name, assumptions),
                      assumptions.range(), SymExpr()});
  by_name_.emplace(name, number);
  return number;
}

SymKind symbol_kind(std::string_view name, SymbolAssumptions assumptions) {
  for (const Assumption whole : {Assumption::integer, Assumption::even, Assumption::odd,
                                 Assumption::prime, Assumption::composite}) {
    if (assumptions.is(whole)) return SymKind::int_kind;
  }
  const bool named_float = name.starts_with("zf") || name.starts_with("zuf");
  const bool real = assumptions.is(Assumption::real) || assumptions.is(Assumption::rational) ||
                    assumptions.is(Assumption::extended_real) ||
                    assumptions.get(Assumption::integer) == false;
  return named_float || real ? SymKind::float_kind : SymKind::int_kind;
}

}  // namespace winze
