// SPDX-License-Identifier: Apache-2.0
// Graphs as a table and in Graphviz's language.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "winze/ir/graph.h"
#include "winze/ir/text_names.h"
#include "winze/ir/text_printer.h"
#include "winze/ir/text_types.h"

namespace winze {
namespace {

using Row = std::array<std::string, 5>;

std::string_view opcode(NodeKind kind) {
  switch (kind) {
    case NodeKind::placeholder:
      return "placeholder";
    case NodeKind::get_attr:
      return "get_attr";
    case NodeKind::call_function:
      return "call_function";
    case NodeKind::output:
      break;
  }
  return "output";
}

/// The values of a node, as `%a, %b`.
std::string result_names(const Node& node, const ValueNames& names) {
  std::string text;
  for (std::uint32_t index = 0; index < node.value_count(); ++index) {
    if (index > 0) text += ", ";
    names.append(text, node.value(index).id());
  }
  return text;
}

std::string argument_text(const Node& node, const Argument& argument, const ValueNames& names) {
  std::string text;
  TextPrinter(node.graph().context(), text).argument(node, argument, names);
  return text;
}

Row table_row(const Node& node, const ValueNames& names) {
  Row row{std::string(opcode(node.kind())), result_names(node, names), std::string(node.target()),
          "()", "{}"};
  if (row[1].empty()) row[1] = node.is_output() ? "output" : std::string(node.name());
  std::string args;
  std::string kwargs;
  std::size_t count = 0;
  if (node.is_output()) {
    args = argument_text(node, node.argument(0), names);
    count = 1;
  } else if (node.is_call()) {
    const Schema& schema = node.graph().context().ops().get(node.op()).schema;
    const GivenArguments given = node.given_arguments();
    for (const std::uint32_t index : given.args) {
      args += fmt::format("{}{}", count++ == 0 ? "" : ", ",
                          argument_text(node, node.argument_or_default(index), names));
    }
    for (const std::uint32_t index : given.kwargs) {
      kwargs += fmt::format("{}'{}': {}", kwargs.empty() ? "" : ", ", schema.arguments[index].name,
                            argument_text(node, node.argument(index), names));
    }
  }
  row[3] = count == 1 ? "(" + args + ",)" : "(" + args + ")";
  row[4] = "{" + kwargs + "}";
  return row;
}

void append_table(std::string& out, const Graph& graph) {
  std::vector<Row> rows{{"opcode", "name", "target", "args", "kwargs"}, {}};
  const ValueNames names(graph);
  for (const Node node : graph.nodes()) rows.push_back(table_row(node, names));
  std::array<std::size_t, 5> widths{};
  for (const Row& row : rows) {
    for (std::size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], row[column].size());
  }
  for (std::size_t column = 0; column < widths.size(); ++column)
    rows[1][column].assign(widths[column], '-');
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t column = 0; column < row.size(); ++column) {
      line += row[column];
      line.append(widths[column] + 2 - row[column].size(), ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
}

/// Writes a text as a string of Graphviz's language; line ends become left-aligned ones.
std::string dot_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n') {
      out += "\\l";
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else {
      out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
  }
  return out + '"';
}

class DotPrinter {
 public:
  explicit DotPrinter(const Graph& graph) { print(graph); }
  std::string take() { return std::move(out_); }

 private:
  void print(const Graph& graph) {
    out_ = fmt::format("digraph {} {{\n  node [shape=box, fontname=\"monospace\"];\n",
                       dot_string(graph.name()));
    body(graph, 1);
    out_ += "}\n";
  }

  [[nodiscard]] static std::string id(const Node& node) {
    return fmt::format("g{}n{}", node.graph().serial(), node.id().index);
  }

  void body(const Graph& graph, int depth) {
    if (depth > text_max_depth)
      fail("graph \"{}\" cannot be drawn: graphs nest deeper than {}", graph.name(),
           text_max_depth);
    const ValueNames names(graph);
    const std::string indent(static_cast<std::size_t>(depth) * 2, ' ');
    for (const Node node : graph.nodes()) {
      out_ += fmt::format("{}{} [label={}];\n", indent, id(node), dot_string(label(node, names)));
      for (const Value input : node.input_values())
        out_ += fmt::format("{}{} -> {};\n", indent, id(input.node()), id(node));
      for (std::uint32_t index = 0; index < node.argument_count(); ++index) {
        const Argument argument = node.argument(index);
        if (argument.kind() == ArgumentKind::graph)
          cluster(node, graph.subgraph(argument.graph_id()), depth);
      }
    }
  }

  void cluster(const Node& holder, const Graph& nested, int depth) {
    const std::string indent(static_cast<std::size_t>(depth) * 2, ' ');
    out_ += fmt::format("{}subgraph cluster_g{} {{\n{}  label={};\n", indent, nested.serial(),
                        indent, dot_string(nested.name()));
    body(nested, depth + 1);
    out_ += indent + "}\n";
    if (nested.first())
      out_ += fmt::format("{}{} -> {} [style=dotted];\n", indent, id(holder), id(nested.first()));
  }

  static std::string label(const Node& node, const ValueNames& names) {
    std::string text = result_names(node, names);
    if (!text.empty()) text += '\n';
    if (!node.is_placeholder()) text += fmt::format("{}\n", node.target());
    for (std::uint32_t index = 0; index < node.value_count(); ++index) {
      append_type(text, node.graph().context(), node.value(index).meta_id(), Device{});
      text += '\n';
    }
    return text;
  }

  std::string out_;
};

}  // namespace

std::string Graph::print_tabular() const {
  std::string out;
  append_table(out, *this);
  return out;
}

std::string Graph::to_dot() const {
  return DotPrinter(*this).take();
}

}  // namespace winze
