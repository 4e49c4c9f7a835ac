// SPDX-License-Identifier: Apache-2.0
#include "winze/passes/shape/program_sizes.h"

#include <algorithm>

#include <fmt/format.h>
#include <tsl/robin_map.h>

#include "winze/shape/meta_substitution.h"
#include "winze/shape/sizes.h"
#include "winze/support/quote.h"
#include "winze/support/string_map.h"

namespace winze {
namespace {

std::optional<std::int64_t> end_of(std::int64_t value, std::int64_t infinity) {
  return value == infinity ? std::nullopt : std::optional(value);
}

RangeConstraint constraint_of(std::string name, Range range) {
  return {std::move(name), end_of(range.lo, Range::minus_infinity),
          end_of(range.hi, Range::infinity)};
}

std::optional<std::int64_t> integer(const SymHint& hint) {
  const auto* value = std::get_if<std::int64_t>(&hint);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

/// What a range constraint is about: a symbol, or the size of an input, such as `2*s0 + 1`. Nothing
/// for symbols that no expression uses, which export lists too.
std::optional<SymExpr> constrained(SymbolicContext& symbols, const std::string& text) {
  if (const auto symbol = symbols.find_symbol(text)) return symbol;
  try {
    return symbols.parse(text);
  } catch (const Error&) {
    return std::nullopt;
  }
}

Range range_of(const RangeConstraint& constraint) {
  return {constraint.min_val.value_or(Range::minus_infinity),
          constraint.max_val.value_or(Range::infinity)};
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// `L['x'].size()[0]`
bool names_size(std::string_view text) {
  return text.starts_with("L['") && text.ends_with(']') && text.find("L['", 1) == text.npos;
}

/// Whether it does no more than give a size its number: `L['x'].size()[0] == 4`.
bool names_one_size(std::string_view guard) {
  constexpr std::string_view equals = " == ";
  const std::size_t at = guard.find(equals);
  if (at == std::string_view::npos) return false;
  const std::string_view left = guard.substr(0, at);
  const std::string_view right = guard.substr(at + equals.size());
  return (names_size(left) && is_number(right)) || (is_number(left) && names_size(right));
}

}  // namespace

ProgramSizes::ProgramSizes(const ExportedProgram& program) : guards_(program) {
  const Context& context = program.context();
  for (const Node input : program.graph->placeholders()) {
    const Argument role = input.argument(0);
    const Meta& meta = input.value().meta();
    if (role.kind() != ArgumentKind::input_spec || !meta.is_tensor() ||
        context.input_spec_of(role).kind != InputKind::user_input)
      continue;
    Example& example = examples_.emplace_back(input, meta.tensor.dtype);
    for (const SymInt size : meta.tensor.sizes) {
      example.sizes.push_back(size.is_constant()
                                  ? std::optional(size.constant())
                                  : integer(program.expressions.hint(context.symbols(), size)));
    }
  }
}

void ProgramSizes::update_symbols(ExportedProgram& program, const SizeChanges& changes) const {
  update_ranges(program, changes);
  update_hints(program, changes);
}

void ProgramSizes::update_ranges(ExportedProgram& program, const SizeChanges& changes) const {
  SymbolicContext& symbols = program.context().symbols();
  MetaSubstitution substitution(program.context(), changes.replacements);
  for (const auto& [symbol, range] : changes.ranges) {
    symbols.set_range(symbol, range);
    if (symbols.range(symbol).empty())
      fail("the range {} of {} leaves no value", range.str(), symbols.symbol_name(symbol));
  }
  std::vector<RangeConstraint> kept;
  for (RangeConstraint& constraint : program.range_constraints) {
    const std::optional<SymExpr> expression = constrained(symbols, constraint.symbol);
    if (!expression) {
      kept.push_back(std::move(constraint));
      continue;
    }
    const SymExpr now = substitution(*expression);
    if (now.is_constant() || (now != *expression && symbols.is_symbol(now))) continue;
    if (now == *expression && symbols.range(now) == range_of(constraint)) {
      kept.push_back(std::move(constraint));
    } else {
      kept.push_back(constraint_of(symbols.str(now), symbols.range(now)));
    }
  }
  StringSet names;
  for (const RangeConstraint& constraint : kept) names.insert(constraint.symbol);
  for (const auto& [symbol, range] : changes.ranges) {
    const std::string& name = symbols.symbol_name(symbol);
    if (names.insert(name).second) kept.push_back(constraint_of(name, symbols.range(symbol)));
  }
  program.range_constraints = std::move(kept);
}

SymMap ProgramSizes::examples_of(const ExportedProgram& program, const SizeChanges& changes) const {
  const Context& context = program.context();
  tsl::robin_map<std::uint32_t, MetaId> wanted;  // by input
  for (const auto& [input, meta] : changes.inputs) wanted[input.id().index] = meta;
  SymMap examples;
  for (const Example& example : examples_) {
    const auto change = wanted.find(example.input.id().index);
    const MetaId meta = change == wanted.end() ? example.input.value().meta_id() : change->second;
    const Sizes sizes = context.meta(meta).tensor.sizes;
    if (sizes.size() != example.sizes.size()) continue;
    for (std::size_t dim = 0; dim < sizes.size(); ++dim) {
      if (example.sizes[dim]) examples.emplace(sizes[dim], *example.sizes[dim]);
    }
  }
  return examples;
}

void ProgramSizes::update_hints(ExportedProgram& program, const SizeChanges& changes) const {
  const SymbolicContext& symbols = program.context().symbols();
  SymSet with_range;
  for (const auto& [symbol, range] : changes.ranges) with_range.insert(symbol);
  const auto changed = [&](SymExpr symbol) {
    return changes.replacements.contains(symbol) || with_range.contains(symbol);
  };
  ExpressionTable kept;
  for (const auto& [expression, entry] : program.expressions.entries()) {
    if (std::ranges::none_of(symbols.free_symbols(expression), changed))
      kept.add(expression, entry);
  }
  const SymMap examples = examples_of(program, changes);
  for (const auto& [symbol, range] : changes.ranges) {
    const auto found = examples.find(symbol);
    const auto example = found != examples.end()
                             ? std::optional(found->second.constant())
                             : integer(program.expressions.hint(symbols, symbol));
    if (example || range.lo != Range::minus_infinity) {
      const Range allowed = symbols.range(symbol);
      kept.add(symbol, {std::clamp(example.value_or(allowed.lo), allowed.lo, allowed.hi), {}});
    }
  }
  program.expressions = std::move(kept);
}

void ProgramSizes::update_guards(ExportedProgram& program) const {
  SymbolicContext& symbols = program.context().symbols();
  const GuardReader now(program);
  std::vector<std::string> kept;
  for (std::string& guard : program.guards_code) {
    const GuardReader::Result before = guards_.read(guard);
    const GuardReader::Result after = now.read(guard);
    Proof proof = Proof::yes;
    for (const SymExpr condition : after.conditions) {
      const Proof part = symbols.prove(condition);
      if (part != Proof::yes && proof != Proof::no) proof = part;
    }
    const bool was_constant =
        before.is_complete && std::ranges::none_of(before.conditions, [&](SymExpr condition) {
          return symbols.has_symbol(condition);
        });
    if (proof != Proof::yes && was_constant && names_one_size(guard)) continue;
    if (proof == Proof::no) {
      throw Error(
          fmt::format("the program relies on {}, which the new sizes contradict", quote(guard)),
          "export decided something by it; export the module anew with sizes like these");
    }
    kept.push_back(std::move(guard));
  }
  program.guards_code = std::move(kept);
}

void ProgramSizes::refresh_ranges(ExportedProgram& program) const {
  update_ranges(program, {});
}

bool ProgramSizes::drop_example_inputs(ExportedProgram& program) const {
  if (!program.example_inputs || program.example_inputs->bytes.empty()) return false;
  const SymbolicContext& symbols = program.context().symbols();
  SymMap values;
  for (const Example& example : examples_) {
    const Meta& meta = example.input.value().meta();
    const Sizes sizes = meta.tensor.sizes;
    bool fits = meta.is_tensor() && meta.tensor.dtype == example.dtype &&
                sizes.size() == example.sizes.size();
    for (std::size_t dim = 0; fits && dim < sizes.size(); ++dim) {
      if (!example.sizes[dim]) {
        fits = false;
      } else if (sizes[dim].is_constant()) {
        fits = sizes[dim].constant() == *example.sizes[dim];
      } else {
        fits = symbols.range(sizes[dim]).contains(*example.sizes[dim]);
        if (symbols.is_symbol(sizes[dim]))
          fits = fits && values.emplace(sizes[dim], *example.sizes[dim]).first->second ==
                             SymExpr(*example.sizes[dim]);
      }
    }
    if (fits) continue;
    program.example_inputs.reset();
    return true;
  }
  return false;
}

}  // namespace winze
