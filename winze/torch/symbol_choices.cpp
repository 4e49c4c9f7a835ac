// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/symbol_choices.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <tsl/robin_set.h>

#include "winze/support/plural.h"
#include "winze/support/quote.h"
#include "winze/torch/input_file.h"

namespace winze {
namespace {

constexpr std::array<std::int64_t, 12> primes = {3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41};
/// A high end is tried at most so large, or so many times as large as what was exported with.
constexpr std::int64_t largest_size = 64;
constexpr std::int64_t largest_growth = 4;
constexpr int max_repairs = 400;

}  // namespace

std::optional<std::int64_t> SymbolChoice::evaluate(SymExpr expression) const {
  if (expression.is_constant()) return expression.constant();
  const SymbolicContext& symbols = program_->context().symbols();
  return symbols.evaluate_int(expression, [&](SymExpr symbol) -> std::optional<SymValue> {
    if (const auto found = values_.find(symbol); found != values_.end()) return found->second;
    const SymHint hint = program_->expressions.hint(symbols, symbol);
    if (const auto* number = std::get_if<std::int64_t>(&hint)) return *number;
    const Range range = symbols.range(symbol);
    return range.lo == Range::minus_infinity ? 0 : range.lo;
  });
}

std::optional<SymValue> SymbolChoice::evaluate_exactly(SymExpr expression) const {
  return program_->context().symbols().evaluate(expression,
                                                [&](SymExpr symbol) -> std::optional<SymValue> {
                                                  const auto found = values_.find(symbol);
                                                  if (found == values_.end()) return std::nullopt;
                                                  return found->second;
                                                });
}

SymbolChoices::SymbolChoices(const ExportedProgram& program, const SymbolValues& fixed,
                             std::uint64_t max_bytes)
    : program_(program) {
  find_symbols();
  fix(fixed);
  read_guards();
  SymbolChoice hints(program);
  SymbolChoice low(program);
  SymbolChoice ones(program);
  bool has_zero = false;
  for (const SymExpr symbol : symbols_) {
    const Range range = range_of(symbol);
    hints.set(symbol, hint_of(symbol));
    low.set(symbol, range.lo);
    ones.set(symbol, std::clamp<std::int64_t>(1, range.lo, range.hi));
    has_zero |= range.lo < 1;
  }
  add(hints);
  if (symbols_.empty()) return;
  add_primes(0);
  add_high(max_bytes);
  add(low);
  if (has_zero) add(ones);
  add_primes(symbols_.size());
  if (choices_.empty()) {  // the guards that were read leave nothing: the run has to say
    choices_.push_back(hints);
    notes_.emplace_back("no sizes were found that satisfy the program's guards");
  }
}

void SymbolChoices::find_symbols() {
  const SymbolicContext& symbols = program_.context().symbols();
  tsl::robin_set<SymExpr, std::hash<SymExpr>> seen;
  const auto gather = [&](SymExpr expression) {
    for (const SymExpr symbol : symbols.free_symbols(expression)) {
      if (symbols.kind(symbol) == SymKind::int_kind && seen.insert(symbol).second)
        symbols_.push_back(symbol);
    }
  };
  for (const Node input : user_inputs(program_)) {
    const Meta& meta = input.value().meta();
    if (meta.kind == ValueKind::sym_int && meta.has_expression) gather(meta.expression);
    if (!meta.is_tensor()) continue;
    for (const SymInt size : meta.tensor.sizes) gather(size);
  }
}

void SymbolChoices::fix(const SymbolValues& fixed) {
  const SymbolicContext& symbols = program_.context().symbols();
  for (const auto& [name, value] : fixed) {
    const auto found = std::ranges::find_if(
        symbols_, [&](SymExpr symbol) { return symbols.symbol_name(symbol) == name; });
    if (found == symbols_.end()) {
      std::vector<std::string> names;
      names.reserve(symbols_.size());
      for (const SymExpr symbol : symbols_) names.push_back(symbols.symbol_name(symbol));
      throw Error(fmt::format("no input's size has the symbol {}", quote(name)),
                  names.empty() ? "all sizes of this program's inputs are fixed"
                                : fmt::format("its symbols are {}", first_few(names)));
    }
    const Range range = symbols.range(*found);
    if (!range.contains(value))
      fail("{}={} is outside the range of {}, which is {}", name, value, name, range.str());
    fixed_[*found] = value;
  }
}

Range SymbolChoices::range_of(SymExpr symbol) const {
  if (const auto found = fixed_.find(symbol); found != fixed_.end())
    return Range::exactly(found->second);
  Range range = program_.context().symbols().range(symbol);
  range.lo = std::max<std::int64_t>(range.lo, 0);
  return range;
}

std::int64_t SymbolChoices::hint_of(SymExpr symbol) const {
  const Range range = range_of(symbol);
  const SymHint hint = program_.expressions.hint(program_.context().symbols(), symbol);
  const auto* number = std::get_if<std::int64_t>(&hint);
  return std::clamp<std::int64_t>(number == nullptr ? 2 : *number, range.lo, range.hi);
}

/// What cannot be read is left to the run.
void SymbolChoices::read_guards() {
  if (program_.guards_code.empty() || symbols_.empty()) return;
  const GuardReader reader(program_);
  constexpr std::size_t most = 1000;
  for (std::size_t index = 0; index < std::min(most, program_.guards_code.size()); ++index) {
    const std::vector<SymExpr> wanted = reader.read(program_.guards_code[index]).conditions;
    guards_.insert(guards_.end(), wanted.begin(), wanted.end());
  }
}

bool SymbolChoices::is_allowed(const SymbolChoice& choice) const {
  for (const SymExpr symbol : symbols_) {
    if (!range_of(symbol).contains(choice.at(symbol))) return false;
  }
  const auto number = [&](SymExpr expression) -> std::optional<std::int64_t> {
    const auto value = choice.evaluate_exactly(expression);
    const auto* integer = value ? std::get_if<std::int64_t>(&*value) : nullptr;
    return integer == nullptr ? std::nullopt : std::optional(*integer);
  };
  for (const SymExpr guard : guards_) {
    const auto holds = choice.evaluate_exactly(guard);
    if (!holds || *holds != SymValue(true)) return false;
  }
  for (const Node input : user_inputs(program_)) {
    const Meta& meta = input.value().meta();
    if (!meta.is_tensor()) continue;
    for (const SymInt size : meta.tensor.sizes) {
      const auto value = number(size);
      if (!value || *value < 0) return false;
    }
  }
  return true;
}

std::optional<SymbolChoice> SymbolChoices::repaired(const SymbolChoice& choice) const {
  if (is_allowed(choice)) return choice;
  int tries = 0;
  // One symbol at a time, then all together, up and down.
  for (std::int64_t step = 1; tries < max_repairs && step <= 64; ++step) {
    for (const std::int64_t delta : {step, -step}) {
      SymbolChoice all = choice;
      for (const SymExpr symbol : symbols_) {
        SymbolChoice one = choice;
        one.set(symbol, choice.at(symbol) + delta);
        all.set(symbol, choice.at(symbol) + delta);
        ++tries;
        if (is_allowed(one)) return one;
      }
      if (is_allowed(all)) return all;
    }
  }
  return std::nullopt;
}

void SymbolChoices::add(const SymbolChoice& choice) {
  const auto allowed = repaired(choice);
  if (!allowed) return;
  if (std::ranges::find(choices_, *allowed) == choices_.end()) choices_.push_back(*allowed);
}

/// A different prime for each symbol, so that no two sizes are equal by chance.
void SymbolChoices::add_primes(std::size_t first) {
  SymbolChoice choice(program_);
  for (std::size_t index = 0; index < symbols_.size(); ++index) {
    const Range range = range_of(symbols_[index]);
    std::int64_t value = primes[(first + index) % primes.size()];
    if (!range.contains(value)) {
      const auto inside =
          std::ranges::find_if(primes, [&](std::int64_t prime) { return range.contains(prime); });
      value = inside == primes.end() ? std::clamp(value, range.lo, range.hi) : *inside;
    }
    choice.set(symbols_[index], value);
  }
  add(choice);
}

void SymbolChoices::add_high(std::uint64_t max_bytes) {
  SymbolChoice choice(program_);
  for (const SymExpr symbol : symbols_) {
    const Range range = range_of(symbol);
    const std::int64_t most = std::max({largest_size, largest_growth * hint_of(symbol), range.lo});
    choice.set(symbol, std::min(range.hi, most));
  }
  while (bytes_of(choice) > static_cast<double>(max_bytes) && lower_widest(choice)) {
  }
  const auto allowed = repaired(choice);
  if (!allowed) return;
  note_untried(*allowed);
  add(*allowed);
}

/// Halves the symbols that are furthest above their lower ends: one of a few, of many some at once.
bool SymbolChoices::lower_widest(SymbolChoice& choice) const {
  std::vector<std::pair<std::int64_t, std::size_t>> widest;  // the negative spread, and whose
  for (std::size_t index = 0; index < symbols_.size(); ++index)
    widest.emplace_back(range_of(symbols_[index]).lo - choice.at(symbols_[index]), index);
  std::ranges::sort(widest);
  widest.resize(std::max<std::size_t>(1, widest.size() / 16));
  bool is_lowered = false;
  for (const auto& [spread, index] : widest) {
    const SymExpr symbol = symbols_[index];
    const std::int64_t lower = std::max(range_of(symbol).lo, choice.at(symbol) / 2);
    is_lowered |= lower != choice.at(symbol);
    choice.set(symbol, lower);
  }
  return is_lowered;
}

/// One note for all symbols of which it says the same.
void SymbolChoices::note_untried(const SymbolChoice& high) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::string>> names;
  for (const SymExpr symbol : symbols_) {
    const std::int64_t end = range_of(symbol).hi;
    if (high.at(symbol) != end)
      names[{end, high.at(symbol)}].push_back(program_.context().symbols().symbol_name(symbol));
  }
  for (const auto& [ends, symbols] : names) {
    const auto [end, tried] = ends;
    const std::string bound = end != Range::infinity ? fmt::format("may be up to {}", end)
                              : symbols.size() == 1  ? "has no upper bound"
                                                     : "have no upper bound";
    notes_.push_back(
        fmt::format("{} {}; the largest tried is {}", first_few(symbols), bound, tried));
  }
}

/// Bytes of all tensors that a run makes, were none freed: an upper bound for memory and a measure
/// of the work.
double SymbolChoices::bytes_of(const SymbolChoice& choice) const {
  double sum = 0;
  tsl::robin_map<std::uint32_t, double> by_meta;
  for (const Graph* graph : program_.graph->all_graphs()) {
    for (const Node node : graph->nodes()) {
      for (const Value value : node.values()) {
        if (!value.is_tensor()) continue;
        const auto [found, inserted] = by_meta.emplace(value.meta_id().index, 0);
        if (inserted) {
          double bytes = element_size(value.meta().tensor.dtype);
          for (const SymInt size : value.meta().tensor.sizes)
            bytes *=
                static_cast<double>(std::max<std::int64_t>(0, choice.evaluate(size).value_or(1)));
          found.value() = bytes;
        }
        sum += found->second;
      }
    }
  }
  return sum;
}

SymbolValues SymbolChoices::named(const SymbolChoice& choice) const {
  SymbolValues values;
  for (const SymExpr symbol : symbols_)
    values.emplace_back(program_.context().symbols().symbol_name(symbol), choice.at(symbol));
  return values;
}

}  // namespace winze
