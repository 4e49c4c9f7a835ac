// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "winze/ir/context.h"
#include "winze/ir/graph.h"

// What the printer and the parser of the text form must agree on.
namespace winze {

/// Nested graphs, and lists in lists, may be so deep in the text form.
inline constexpr int text_max_depth = 64;

/// The strides that a tensor type without `strides` has: row-major, where a size of 0 counts as 1,
/// and a symbolic size as itself if its symbols are declared positive, else as `Max(1, size)`.
/// Ranges of symbols play no part, so that a text means the same wherever it is read.
[[nodiscard]] std::vector<SymInt> text_strides(SymbolicContext& symbols,
                                               std::span<const SymInt> sizes);

/// Device types that need no quotes: those of c10::DeviceType.
[[nodiscard]] bool is_device_word(std::string_view name);
/// Appends `cpu`, `cuda:1`, or `device("name", 0)` for a type that PyTorch does not know.
void append_device(std::string& out, const Context& context, Device device);

/// The assumptions that a symbol has where its declaration gives none: an integer for `u0` and the
/// like, which export gives to unbacked symbols, else a positive integer.
[[nodiscard]] SymbolAssumptions default_assumptions(std::string_view symbol_name);

/// Appends `symbol s0`, with the assumptions where they are not the default ones.
void append_symbol(std::string& out, const SymbolicContext& symbols, SymExpr symbol);

/// True for an operator whose only result is a list: its values stand in brackets.
[[nodiscard]] bool returns_one_list(const Op& op);

/// Words for InputKind and OutputKind, by number.
inline constexpr std::array<std::string_view, 7> input_role_words = {
    "input", "param", "buffer", "constant", "object", "constant_input", "token"};
inline constexpr std::array<std::string_view, 8> output_role_words = {
    "output",         "loss",           "buffer_mutation", "param_mutation",
    "param_gradient", "input_gradient", "input_mutation",  "token"};

/// Appends a blank and the text in quotes; of a text of several lines `line_break` and a string
/// each.
void append_long_text(std::string& out, std::string_view text, std::string_view line_break);

/// Appends an expression in the plain form, or its srepr in quotes where that could not be read
/// back.
void append_expression(std::string& out, const SymbolicContext& symbols, SymExpr expression);
/// Appends `[s0, 16]`.
void append_sizes(std::string& out, const SymbolicContext& symbols, std::span<const SymInt> sizes);

/// Appends the type of a value, such as `f32[2, 3] strides [1, 2] requires_grad`, `int = s0`,
/// `None`. The device is left out where it is `default_device`.
void append_type(std::string& out, Context& context, MetaId meta, Device default_device);
/// The same of a meta that need not be interned.
void append_type(std::string& out, Context& context, const Meta& meta, Device default_device);

/// The symbols in the metas of a graph and all nested in it, in order of declaration.
[[nodiscard]] std::vector<SymExpr> symbols_of(const Graph& graph);

/// Collects symbols of metas, each looked at once.
class SymbolCollector {
 public:
  explicit SymbolCollector(const Context& context) : context_(&context) {}
  void add(MetaId meta);
  void add(SymExpr expression);
  /// The metas of a graph and all nested in it.
  void add(const Graph& graph);
  /// In order of declaration.
  [[nodiscard]] std::vector<SymExpr> symbols() const;

 private:
  const Context* context_;
  std::vector<bool> seen_metas_;
  tsl::robin_map<SymExpr, bool, std::hash<SymExpr>> seen_expressions_;
  tsl::robin_map<SymExpr, bool, std::hash<SymExpr>> found_;
};

}  // namespace winze
