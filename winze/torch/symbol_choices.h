// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tsl/robin_map.h>

#include "winze/program/guards.h"
#include "winze/program/program.h"

namespace winze {

/// Values of the symbols of a program, by name.
using SymbolValues = std::vector<std::pair<std::string, std::int64_t>>;

/// One value for each symbol that stands in an input's sizes.
class SymbolChoice {
 public:
  explicit SymbolChoice(const ExportedProgram& program) : program_(&program) {}

  void set(SymExpr symbol, std::int64_t value) { values_[symbol] = value; }
  [[nodiscard]] std::int64_t at(SymExpr symbol) const { return values_.at(symbol); }
  /// The value of an expression; symbols that only a run binds count as their hints, else as the
  /// least of their range. Nothing where it has none.
  [[nodiscard]] std::optional<std::int64_t> evaluate(SymExpr expression) const;
  /// The same with symbols of inputs alone.
  [[nodiscard]] std::optional<SymValue> evaluate_exactly(SymExpr expression) const;
  bool operator==(const SymbolChoice& other) const { return values_ == other.values_; }

 private:
  const ExportedProgram* program_;
  tsl::robin_map<SymExpr, std::int64_t, std::hash<SymExpr>> values_;
};

/// Choices of sizes that test something: those that the program was exported with, distinct primes,
/// the upper ends of the ranges, the lower ends, 1 where 0 is the lower end. Each satisfies the
/// ranges and, as far as they can be read, the guards that export recorded.
class SymbolChoices {
 public:
  /// `fixed` are the user's own: an Error where one is not there or outside its range. An upper end
  /// is lowered until all values of the graph together take at most `max_bytes`.
  SymbolChoices(const ExportedProgram& program, const SymbolValues& fixed, std::uint64_t max_bytes);

  /// At least 1.
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(choices_.size()); }
  [[nodiscard]] const SymbolChoice& operator[](std::uint32_t index) const {
    return choices_[index];
  }
  [[nodiscard]] SymbolValues named(const SymbolChoice& choice) const;
  /// Which upper ends were not tried.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  void find_symbols();
  void read_guards();
  void fix(const SymbolValues& fixed);
  [[nodiscard]] std::int64_t hint_of(SymExpr symbol) const;
  [[nodiscard]] Range range_of(SymExpr symbol) const;
  [[nodiscard]] bool is_allowed(const SymbolChoice& choice) const;
  /// Changes a choice a little until it is allowed.
  [[nodiscard]] std::optional<SymbolChoice> repaired(const SymbolChoice& choice) const;
  [[nodiscard]] double bytes_of(const SymbolChoice& choice) const;
  void add(const SymbolChoice& choice);
  void add_primes(std::size_t first);
  void add_high(std::uint64_t max_bytes);
  /// Whether anything could be lowered.
  [[nodiscard]] bool lower_widest(SymbolChoice& choice) const;
  void note_untried(const SymbolChoice& high);

  const ExportedProgram& program_;
  std::vector<SymExpr> symbols_;
  tsl::robin_map<SymExpr, std::int64_t, std::hash<SymExpr>> fixed_;
  std::vector<SymExpr> guards_;
  std::vector<SymbolChoice> choices_;
  std::vector<std::string> notes_;
};

}  // namespace winze
