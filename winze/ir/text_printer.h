// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "winze/ir/graph.h"
#include "winze/ir/text_names.h"

namespace winze {

/// What is shown of where nodes come from.
enum class TextSources : std::uint8_t {
  table,     ///< `loc 3` at the node and a table at the end: nothing is lost
  comments,  ///< the user's line as a comment above the nodes it made
  none,
};

struct TextPrintOptions {
  TextSources sources = TextSources::table;
};

/// A graph as text: what `parse_graph` reads back to an equal graph, and prints to the same bytes
/// again. docs/text-format.md has the grammar. O(nodes).
/// \throws Error where graphs or lists nest deeper than 64.
[[nodiscard]] std::string print_graph(const Graph& graph, const TextPrintOptions& options = {});

/// The device that most of a graph is on: that of its first tensor, `cpu` where it has none. Types
/// in the text leave it out.
[[nodiscard]] Device default_device_of(const Graph& graph);

/// Appends the text form piece by piece, for print_graph and for programs.
class TextPrinter {
 public:
  TextPrinter(Context& context, std::string& out, TextPrintOptions options = {})
      : context_(&context), out_(&out), options_(options) {}

  void set_default_device(Device device) { default_device_ = device; }

  /// `device cuda:0`, where the default device is not the cpu.
  void device_line();
  /// `graph forward(...) {` to `}` and a line end.
  void graph(const Graph& graph);
  /// The sources that the graphs printed so far refer to.
  void source_table();
  /// Appends the type as it stands behind a value.
  void type(MetaId meta);
  /// An argument that needs no graph: a constant, or a list of constants in the caller's memory.
  void constant(const Argument& argument);
  /// One node in one line without line end; bodies of nested graphs are left out. `names` may be
  /// null: then given names are shown as they are, and unnamed values as `%#12` by index.
  void node(const Node& node, const ValueNames* names);
  /// An argument of a node in one line; bodies of nested graphs are left out.
  void argument(const Node& node, const Argument& argument, const ValueNames& names);

 private:
  struct Scope {
    const Graph* graph = nullptr;
    const ValueNames* names = nullptr;
    int depth = 0;  ///< of nested graphs; -1 where their bodies are left out
  };

  void body(const Scope& scope);
  void header(const Scope& scope, std::string_view line_break);
  void placeholder(const Scope& scope, const Node& node);
  void statement(const Scope& scope, const Node& node);
  void call(const Scope& scope, const Node& node);
  void results(const Scope& scope, const Node& node);
  void operator_name(const Op& op);
  void arguments(const Scope& scope, const Node& node, const Op& op);
  void return_values(const Scope& scope, const Node& node);
  void suffix(const Node& node);
  void value(const Scope& scope, ValueId value);
  void argument(const Scope& scope, const Node& node, const Argument& argument, int depth);
  void list(const Scope& scope, const Node& node, const Argument& list, int depth);
  void scalar(const Argument& argument);
  void constant_list(const Argument& argument);
  void nested_graph(const Scope& scope, const Graph& graph);
  void source_comment(const Node& node, int depth);
  void indent(int depth) { out_->append(static_cast<std::size_t>(depth) * 2, ' '); }
  void separate(bool& first) {
    if (!first) *out_ += ", ";
    first = false;
  }
  void integer(std::int64_t value);

  Context* context_;
  std::string* out_;
  TextPrintOptions options_;
  Device default_device_;
  std::vector<std::string> types_;             // by meta; empty where not printed yet
  std::vector<std::uint32_t> source_numbers_;  // by source; number + 1
  std::vector<SourceId> sources_;              // in order of first use
  std::string last_comment_;
};

/// How many elements a list argument has, wherever it is kept; 0 for what is no list.
[[nodiscard]] std::uint32_t list_size(const Context& context, const Argument& list);
/// Element `index` of a list argument of `node`, those of interned constant lists too.
[[nodiscard]] Argument list_element(const Node& node, const Argument& list, std::uint32_t index);
/// True for the kinds that are lists.
[[nodiscard]] bool is_list_kind(ArgumentKind kind);

}  // namespace winze
