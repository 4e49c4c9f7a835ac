// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tsl/robin_map.h>

#include "winze/ir/graph.h"
#include "winze/ir/text_lexer.h"
#include "winze/support/string_map.h"

namespace winze {

struct OpSignature;

/// Reads a graph as `print_graph` writes it and as docs/text-format.md describes it. `file` is what
/// errors call the text. O(size of the text).
/// \throws Error with line, column and the line itself.
[[nodiscard]] std::unique_ptr<Graph> parse_graph(Context& context, std::string_view text,
                                                 std::string_view file = {});

/// `symbol s0 (integer=True) in [2, 64]`
struct TextSymbol {
  std::string name;
  SymExpr symbol;
  bool has_range = false;
  std::optional<std::int64_t> min;  ///< unset for -int_oo
  std::optional<std::int64_t> max;  ///< unset for int_oo
};

/// Reads the text form piece by piece, for parse_graph and for programs. Everything that is wrong
/// throws Error; what was made so far is then of no use.
class TextParser {
 public:
  /// `text` must outlive the parser.
  TextParser(Context& context, std::string_view text, std::string_view file);
  ~TextParser();

  [[nodiscard]] TextLexer& lexer() { return lexer_; }
  [[nodiscard]] Context& context() { return *context_; }

  /// `device cuda:0` behind the word `device`: what types without a device mean from here on.
  void device_line();
  /// `s0 (...) in [2, 64]` behind the word `symbol`; declares it. The range is left to the caller.
  TextSymbol symbol_line();
  /// `[2, 64]`
  void range(TextSymbol& symbol);
  /// `forward(...) {...}` behind the word `graph`, into an empty graph.
  void graph(Graph& graph);
  /// `3 {...}` behind the word `loc`.
  void source_entry();
  /// To be called at the end of the text: gives nodes their sources.
  void finish();

  /// A type as it stands behind a value.
  MetaId type();
  /// An argument without values and graphs. A list is one that the context can intern.
  Argument constant();
  /// An expression, up to the comma or the bracket that ends it, and unless `in_brackets` a blank;
  /// blanks in parentheses are part of it. `//` divides here.
  SymExpr expression(bool in_brackets);
  /// A value of the graph read last by `graph`, `%x`.
  Value value_in(Graph& graph);

 private:
  /// The values that a name may mean: those of one graph.
  struct Scope {
    Scope(Graph& scope_graph, int scope_depth) : graph(&scope_graph), depth(scope_depth) {}
    /// The value of that name, or an invalid one.
    [[nodiscard]] ValueId find(StringId name) const;
    /// False where the name is taken.
    bool define(StringId name, ValueId value);

    Graph* graph;
    int depth;
    /// By the name's id, which is dense in order of first use: no search for the outermost graph.
    std::vector<ValueId> outer_names;
    tsl::robin_map<std::uint32_t, ValueId> nested_names;
    /// By number, as it is: numbers count up, and have nine digits at most, which bounds what
    /// chosen ones can cost.
    tsl::robin_map<std::uint32_t, ValueId> numbered;
  };
  /// A value that was named not long ago: most uses are near the definition.
  struct Recent {
    const Scope* scope = nullptr;
    std::string_view name;
    ValueId value;
  };
  struct ResultName {
    StringId name;             ///< invalid for an unnamed value
    std::string_view shown;    ///< the name where it stands in the text without quotes
    std::uint32_t number = 0;  ///< of an unnamed value
    std::size_t offset = 0;
  };
  struct Operator {
    OpId id;
    bool is_opaque = false;  ///< arguments are collected with their names first
    std::string target;      ///< of an opaque operator
    const Op* op = nullptr;
    std::uint32_t positional = 0;  ///< how many arguments may be given by position
  };
  /// A call as it is read. Kept for the next one at the same depth, so that its memory is used
  /// again.
  struct Call {
    const Operator* callee = nullptr;
    std::size_t offset = 0;
    std::vector<ResultName> names;
    std::vector<std::int32_t> groups;
    std::vector<MetaId> metas;
    std::vector<Argument> arguments;  ///< in schema position
    std::vector<bool> given;
    std::vector<Argument> more;  ///< positional ones beyond the schema's
    std::vector<std::string> opaque_names;
    std::vector<bool> opaque_keywords;
    std::vector<std::string> extra_names;
    std::vector<Argument> extra_values;
    std::uint32_t next_position = 0;
    std::uint32_t positional_count = CallOptions::as_dispatched;  ///< where the text has a `*`
    ResultStructure structure;
    void clear();
  };

  // text_parser.cpp
  void body(Scope& scope);
  void placeholders(Scope& scope);
  void placeholder(Scope& scope);
  void statement(Scope& scope);
  void result_names(Call& call);
  ResultName result_name();
  void define(Scope& scope, const ResultName& name, Value value);
  void call(Scope& scope, Call& call);
  void result_types(Call& call);
  [[nodiscard]] Node make_call(Scope& scope, Call& call);
  void return_values(Scope& scope);
  Argument output_role();
  void suffix(const Node& node);
  const Operator& operator_name();
  const Operator& quoted_operator(std::string_view target);
  const Operator& find_operator(std::string_view name, std::size_t offset);
  [[nodiscard]] bool is_known_namespace(std::string_view name);
  Value use(Scope& scope);
  [[nodiscard]] Recent& recent(std::string_view name);
  [[noreturn]] void fail_undefined(Scope& scope, std::size_t offset, std::string_view name);

  // text_argument_parser.cpp
  void call_arguments(Scope& scope, Call& call);
  void call_argument(Scope& scope, Call& call);
  void begin_keywords(Call& call);
  void place_positional(Call& call, const Argument& argument, std::size_t offset);
  void place_keyword(Call& call, std::string_view name, const Argument& argument,
                     std::size_t offset);
  OpId complete_call(Call& call);
  Argument argument(Scope* scope, int depth);
  Argument list(Scope* scope, int depth);
  Argument number_or_complex();
  Argument word_argument(Scope* scope);
  Argument nested_graph(Scope& scope);
  Argument custom_object();
  Device device();
  std::optional<Argument> constant_list(std::span<const Argument> elements);

  // text_type_parser.cpp
  MetaId tensor_type(ScalarType dtype, std::size_t begin);
  void tensor_modifiers(TensorMeta& meta, std::vector<SymInt>& strides);
  MetaId sym_type(ValueKind kind);
  void sizes(std::vector<SymInt>& out);
  SymExpr parse_expression(std::string_view text, std::size_t offset);
  void declare_symbols(std::string_view text, std::size_t offset);
  std::optional<std::int64_t> range_end();
  [[noreturn]] void fail_expression(const Error& error, std::size_t offset,
                                    std::string_view text) const;
  SymbolAssumptions assumptions(std::string_view name);

  Context* context_;
  TextLexer lexer_;
  Device default_device_;
  StringViewMap<MetaId> tensor_types_;
  StringViewMap<SymExpr> expressions_;
  std::deque<Operator> operators_;
  StringMap<const Operator*> quoted_operators_;
  StringViewMap<const Operator*> operator_words_;  // views of the text
  StringMap<bool> namespaces_;
  std::vector<Argument> elements_;           // of the lists being read
  std::deque<std::vector<Argument>> lists_;  // of the calls being read
  std::deque<Call> calls_;                   // by depth of their graph
  std::unique_ptr<Scope> last_scope_;
  std::array<Recent, 1024> recent_;
  std::vector<SourceId> sources_;
  struct PendingSource {
    Node node;
    std::uint32_t number;
    std::size_t offset;
  };
  std::vector<PendingSource> pending_sources_;
};

}  // namespace winze
