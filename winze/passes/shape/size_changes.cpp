// SPDX-License-Identifier: Apache-2.0
#include "winze/passes/shape/size_changes.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <tsl/robin_map.h>

#include "winze/ir/text_parser.h"
#include "winze/ir/text_types.h"
#include "winze/shape/linear_solution.h"
#include "winze/shape/meta_substitution.h"
#include "winze/shape/sizes.h"
#include "winze/support/plural.h"
#include "winze/support/quote.h"

namespace winze {
namespace {

struct Assignment {
  std::string_view name;
  std::string_view value;
};

Assignment split(std::string_view text, std::string_view wanted) {
  const std::size_t at = text.find('=');
  if (at == 0 || at == std::string_view::npos)
    throw Error(fmt::format("{} says nothing about a size", quote(text)),
                fmt::format("write it as {}", wanted));
  return {text.substr(0, at), text.substr(at + 1)};
}

class ChangeReader {
 public:
  explicit ChangeReader(const ExportedProgram& program)
      : program_(program), symbols_(program.context().symbols()), env_(symbols_) {
    SymbolCollector collector(program.context());
    collector.add(*program.graph);
    declared_ = collector.symbols();
    known_.insert(declared_.begin(), declared_.end());
  }

  SizeChanges read(std::span<const std::string> symbols, std::span<const std::string> inputs) {
    for (const std::string& text : inputs) read_type(text);
    for (const std::string& text : symbols) read_symbol(text);
    MetaSubstitution values(program_.context(), changes_.replacements);
    for (auto& [input, meta] : changes_.inputs) {
      meta = values(meta);
      unify(input, input.value().meta_id(), meta);
    }
    check_symbols_left();
    find_ranges();
    return std::move(changes_);
  }

 private:
  [[nodiscard]] bool is_known(SymExpr symbol) const { return known_.contains(symbol); }
  [[nodiscard]] bool is_fresh(SymExpr symbol) const { return is_fresh_.contains(symbol); }

  [[nodiscard]] Node find_input(std::string_view name) const {
    const Context& context = program_.context();
    std::vector<std::string> names;
    for (const Node input : program_.graph->placeholders()) {
      const Argument role = input.argument(0);
      if (role.kind() != ArgumentKind::input_spec ||
          context.input_spec_of(role).kind != InputKind::user_input)
        continue;
      if (input.target() == name) return input;
      names.emplace_back(input.target());
    }
    throw Error(
        fmt::format("the program has no input {}", quote(name)),
        names.empty() ? "it takes none" : fmt::format("its inputs are {}", first_few(names)));
  }

  void read_type(std::string_view text) {
    const Assignment wish = split(text, "x=f32[s0, 128]");
    const Node input = find_input(wish.name);
    const Meta& is = input.value().meta();
    if (!is.is_tensor())
      throw Error(fmt::format("input {} is no tensor", quote(wish.name)),
                  "give the symbol of a number its value with sym, as s0=7");
    Context& context = program_.context();
    TextParser parser(context, wish.value, fmt::format("--input {}", wish.name));
    const Meta& type = context.meta(parser.type());
    if (!parser.lexer().at_end()) parser.lexer().fail_expected("nothing behind the type");
    if (!type.is_tensor())
      fail("input {} is a tensor, and cannot become {}", quote(wish.name), quote(wish.value));
    for (const SymInt size : type.tensor.sizes) {
      for (const SymExpr symbol : symbols_.free_symbols(size)) {
        if (is_known(symbol) || is_fresh(symbol)) continue;
        if (!symbols_.symbol_name(symbol).starts_with('s'))
          throw Error(
              fmt::format("the size of an input cannot be {}, which names what depends on data",
                          symbols_.symbol_name(symbol)),
              "names of sizes begin with s, as s0");
        fresh_.push_back(symbol);
        is_fresh_.insert(symbol);
      }
    }
    changes_.inputs.emplace_back(input, meta_of(type.tensor, is.tensor, wish.value));
  }

  /// What the text does not say stays.
  [[nodiscard]] MetaId meta_of(TensorMeta wanted, const TensorMeta& is, std::string_view text) {
    const auto says = [&](std::string_view word) { return text.find(word) != text.npos; };
    if (!says("device")) wanted.device = is.device;
    if (!says("layout")) wanted.layout = is.layout;
    wanted.requires_grad = is.requires_grad;
    DimVector strides(wanted.strides);
    if (!says("strides") && wanted.dim() == is.dim() && !is_contiguous(env_, is) &&
        is_non_overlapping_and_dense(env_, is))
      strides = dense_strides_like(env_, wanted.sizes, is.strides);
    wanted.strides = strides;
    return program_.context().tensor_meta(wanted);
  }

  void read_symbol(std::string_view text) {
    const Assignment wish = split(text, "s0=7 or s0=[2, 64]");
    const std::optional<SymExpr> symbol = symbols_.find_symbol(wish.name);
    if (!symbol || (!is_known(*symbol) && !is_fresh(*symbol))) {
      std::vector<std::string> names;
      for (const SymExpr known : declared_) names.push_back(symbols_.symbol_name(known));
      throw Error(fmt::format("the program has no symbol {}", quote(wish.name)),
                  names.empty() ? "all of its sizes are fixed: give an input a dynamic size first, "
                                  "as in --input 'x=f32[s0, 128]'"
                                : fmt::format("its symbols are {}", first_few(names)));
    }
    if (wish.value.starts_with('[')) {
      TextParser parser(program_.context(), wish.value, fmt::format("--sym {}", wish.name));
      TextSymbol parsed;
      parser.range(parsed);
      if (!parser.lexer().at_end()) parser.lexer().fail_expected("nothing behind the range");
      const Range range{parsed.min.value_or(Range::minus_infinity),
                        parsed.max.value_or(Range::infinity)};
      changes_.ranges.emplace_back(*symbol, range);
      return;
    }
    std::int64_t value = 0;
    const char* const begin = wish.value.data();
    const char* const end = begin + wish.value.size();
    const auto [rest, error] = std::from_chars(begin, end, value);
    if (error != std::errc() || rest != end || !SymExpr::fits(value))
      throw Error(fmt::format("{} is neither a number nor a range", quote(wish.value)),
                  "write s0=7 or s0=[2, 64]");
    replace(*symbol, value);
  }

  void replace(SymExpr symbol, SymExpr by) {
    const auto [found, is_new] = changes_.replacements.emplace(symbol, by);
    if (is_new || found->second == by) return;
    fail("{} cannot be both {} and {}", symbols_.symbol_name(symbol), symbols_.str(found->second),
         symbols_.str(by));
  }

  void unify(const Node& input, MetaId is, MetaId wanted) {
    const Context& context = program_.context();
    const Sizes old_sizes = context.meta(is).tensor.sizes;
    const Sizes new_sizes = context.meta(wanted).tensor.sizes;
    if (old_sizes.size() != new_sizes.size()) return;
    for (std::size_t dim = 0; dim < old_sizes.size(); ++dim)
      unify(input, dim, old_sizes[dim], new_sizes[dim]);
  }

  void unify(const Node& input, std::size_t dim, SymInt is, SymInt wanted) {
    if (is == wanted || is.is_constant()) return;
    if (symbols_.is_symbol(is) && (wanted.is_constant() || symbols_.is_symbol(wanted)))
      return replace(is, wanted);
    const auto solution =
        wanted.is_constant() ? linear_solution(symbols_, is, wanted) : std::nullopt;
    if (solution) return replace(solution->symbol, solution->value);
    throw Error(fmt::format("size {} of input {} is {}, which {} does not give a value", dim,
                            quote(input.target()), symbols_.str(is), symbols_.str(wanted)),
                "give its symbols values or ranges with sym");
  }

  /// A symbol that becomes something else is not there any more, unless another one becomes it.
  void check_symbols_left() const {
    SymSet new_names;
    for (const auto& [symbol, by] : changes_.replacements) new_names.insert(by);
    for (const auto& [input, meta] : changes_.inputs) {
      for (const SymInt size : program_.context().meta(meta).tensor.sizes) {
        for (const SymExpr symbol : symbols_.free_symbols(size)) {
          const auto found = changes_.replacements.find(symbol);
          if (found != changes_.replacements.end() && !new_names.contains(symbol))
            fail("{} becomes {}, but input {} is to have the size {}", symbols_.symbol_name(symbol),
                 symbols_.str(found->second), quote(input.target()), symbols_.str(size));
        }
      }
    }
    for (const Node input : program_.graph->placeholders()) {
      const Meta& meta = input.value().meta();
      if (meta.kind != ValueKind::sym_int || !meta.has_expression) continue;
      const auto found = changes_.replacements.find(meta.expression);
      if (found != changes_.replacements.end() && found->second.is_constant())
        throw Error(fmt::format("{} cannot become {}: it is the number that input {} takes",
                                symbols_.str(meta.expression), symbols_.str(found->second),
                                quote(input.target())),
                    "give it a range; a constant input is part of the signature");
    }
  }

  void find_ranges() {
    SymSet wished;
    for (const auto& [symbol, range] : changes_.ranges) {
      wished.insert(symbol);
      if (is_known(symbol)) warn_outside(symbol, range, range.str());
      if (changes_.replacements.contains(symbol))
        fail("{} cannot get a range: it becomes {}", symbols_.symbol_name(symbol),
             symbols_.str(changes_.replacements.at(symbol)));
    }
    // In the order of declaration, so that what is written does not depend on hashes.
    std::vector<std::pair<SymExpr, Range>> inherited;
    tsl::robin_map<SymExpr, std::size_t, std::hash<SymExpr>> position;  // in `inherited`
    for (const SymExpr symbol : declared_) {
      const auto found = changes_.replacements.find(symbol);
      if (found == changes_.replacements.end()) continue;
      const SymExpr by = found->second;
      if (by.is_constant()) {
        warn_outside(symbol, Range::exactly(by.constant()), symbols_.str(by));
      } else if (!wished.contains(by)) {
        const auto [same, is_first] = position.emplace(by, inherited.size());
        if (is_first) inherited.emplace_back(by, is_known(by) ? symbols_.range(by) : Range::all());
        Range& range = inherited[same->second].second;
        range = intersection(range, symbols_.range(symbol));
        if (range.empty())
          fail("{} cannot become {}: their ranges have no number in common",
               symbols_.symbol_name(symbol), symbols_.str(by));
      }
    }
    changes_.ranges.insert(changes_.ranges.end(), inherited.begin(), inherited.end());
    for (const SymExpr symbol : fresh_) {
      if (!wished.contains(symbol) && !changes_.replacements.contains(symbol))
        changes_.ranges.emplace_back(symbol, new_size_range);
    }
  }

  void warn_outside(SymExpr symbol, Range wanted, const std::string& shown) {
    const Range range = symbols_.range(symbol);
    if (intersection(range, wanted) == wanted) return;
    changes_.warnings.push_back(fmt::format(
        "{} becomes {}, and was exported within {}: branches that export took for sizes "
        "in that range may be other ones outside of it",
        symbols_.symbol_name(symbol), shown, range.str()));
  }

  const ExportedProgram& program_;
  SymbolicContext& symbols_;
  ShapeEnv env_;
  std::vector<SymExpr> declared_;  ///< symbols of the program, in order of declaration
  SymSet known_;                   ///< the same
  std::vector<SymExpr> fresh_;     ///< symbols that only the wishes name
  SymSet is_fresh_;
  SizeChanges changes_;
};

}  // namespace

SizeChanges read_size_changes(const ExportedProgram& program, std::span<const std::string> symbols,
                              std::span<const std::string> inputs) {
  return ChangeReader(program).read(symbols, inputs);
}

}  // namespace winze
