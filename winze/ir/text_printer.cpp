// SPDX-License-Identifier: Apache-2.0
#include "winze/ir/text_printer.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "winze/ir/text_lexer.h"
#include "winze/ir/text_types.h"
#include "winze/support/python_repr.h"
#include "winze/support/quote.h"

namespace winze {
namespace {

constexpr std::size_t line_width = 100;
/// Nodes after which the size of a body is estimated.
constexpr std::size_t sampled_nodes = 1000;
/// Longer lines, such as those that hold nested graphs, are not taken to go on.
constexpr std::size_t longest_line = 256;

/// Makes room for the nodes that are left, going by what the first ones took. Growing step by step
/// would touch twice the memory and copy all of it; room that stays unused is never touched.
void reserve_text(std::string& out, std::size_t nodes_left, std::size_t sample_bytes) {
  const std::size_t bytes = std::min(sample_bytes / sampled_nodes, longest_line) * nodes_left;
  out.reserve(out.size() + bytes + bytes / 2);  // later names and numbers are longer
}

}  // namespace

Device default_device_of(const Graph& graph) {
  for (const Node node : graph.nodes()) {
    for (std::uint32_t index = 0; index < node.value_count(); ++index) {
      const MetaId meta = node.value(index).meta_id();
      if (meta.valid() && graph.context().meta(meta).is_tensor()) {
        return graph.context().meta(meta).tensor.device;
      }
    }
  }
  return {};
}

std::string print_graph(const Graph& graph, const TextPrintOptions& options) {
  std::string out;
  TextPrinter printer(graph.context(), out, options);
  printer.set_default_device(default_device_of(graph));
  printer.device_line();
  const SymbolicContext& symbols = graph.context().symbols();
  for (const SymExpr symbol : symbols_of(graph)) {
    append_symbol(out, symbols, symbol);
    const Range range = symbols.range(symbol);
    if (range != symbols.symbol_assumptions(symbol).range()) out += " in " + range.str();
    out += '\n';
  }
  printer.graph(graph);
  if (options.sources == TextSources::table) printer.source_table();
  return out;
}

std::string Node::str() const {
  if (!valid()) return "<no node>";
  std::string out;
  TextPrinter printer(graph().context(), out, {.sources = TextSources::none});
  printer.node(*this, nullptr);
  return out;
}

void TextPrinter::device_line() {
  if (default_device_ == Device{}) return;
  *out_ += "device ";
  append_device(*out_, *context_, default_device_);
  *out_ += '\n';
}

void TextPrinter::graph(const Graph& graph) {
  const ValueNames names(graph);
  const Scope scope{&graph, &names, 0};
  body(scope);
  *out_ += '\n';
}

void TextPrinter::node(const Node& node, const ValueNames* names) {
  const Scope scope{&node.graph(), names, -1};
  if (node.is_placeholder()) {
    placeholder(scope, node);
  } else {
    statement(scope, node);
  }
}

void TextPrinter::nested_graph(const Scope& scope, const Graph& graph) {
  if (scope.depth < 0) {  // one line: the name stands for the body
    *out_ += "graph ";
    append_text_name(*out_, graph.name());
    *out_ += " {...}";
    return;
  }
  if (scope.depth >= text_max_depth) {
    fail("graph \"{}\" cannot be printed: graphs nest deeper than {}", graph.name(),
         text_max_depth);
  }
  const ValueNames names(graph);
  body({&graph, &names, scope.depth + 1});
}

void TextPrinter::header(const Scope& scope, std::string_view line_break) {
  bool first = true;
  for (const Node node : scope.graph->nodes()) {
    if (!node.is_placeholder()) break;
    if (!first) *out_ += line_break.empty() ? ", " : ",";
    first = false;
    *out_ += line_break;
    placeholder(scope, node);
  }
}

void TextPrinter::body(const Scope& scope) {
  const Graph& graph = *scope.graph;
  const std::size_t line_begin = out_->rfind('\n') + 1;  // 0 where there is none
  *out_ += "graph ";
  append_text_name(*out_, graph.name());
  *out_ += '(';
  // On one line where that is short enough, else one line each.
  const std::size_t begin = out_->size();
  header(scope, {});
  if (out_->size() - line_begin > line_width) {
    out_->resize(begin);
    std::string line_break(static_cast<std::size_t>(scope.depth) * 4 + 5, ' ');
    line_break[0] = '\n';
    header(scope, line_break);
  }
  *out_ += ')';
  if (graph.is_single_tensor_return()) *out_ += " -> Tensor";
  if (!graph.unknown_fields().empty()) {
    *out_ += " unknown_fields ";
    append_quoted(*out_, graph.unknown_fields());
  }
  *out_ += " {\n";
  bool in_header = true;
  std::size_t printed = 0;
  const std::size_t body_begin = out_->size();
  for (const Node node : graph.nodes()) {
    if (node.is_placeholder() && in_header) continue;
    in_header = false;
    if (printed++ == sampled_nodes) {
      reserve_text(*out_, graph.size() - sampled_nodes, out_->size() - body_begin);
    }
    if (options_.sources == TextSources::comments) source_comment(node, scope.depth * 2 + 1);
    indent(scope.depth * 2 + 1);
    statement(scope, node);
    *out_ += '\n';
  }
  indent(scope.depth * 2);
  *out_ += '}';
}

void TextPrinter::source_comment(const Node& node, int depth) {
  const auto line = context_->user_line(node.source());
  std::string comment = line ? line->str() : std::string();
  std::ranges::replace(comment, '\n', ' ');
  if (comment == last_comment_) return;
  last_comment_ = std::move(comment);
  if (last_comment_.empty()) return;
  indent(depth);
  *out_ += "// ";
  *out_ += last_comment_;
  *out_ += '\n';
}

void TextPrinter::placeholder(const Scope& scope, const Node& node) {
  value(scope, node.value().id());
  *out_ += ": ";
  Argument constant_value;
  const Argument spec = node.argument(0);
  if (spec.kind() == ArgumentKind::input_spec) {
    const InputSpec& role = context_->input_spec_of(spec);
    *out_ += input_role_words[static_cast<std::size_t>(role.kind)];
    *out_ += ' ';
    if (role.target.valid()) {
      append_quoted(*out_, context_->text(role.target));
      *out_ += ' ';
    }
    if (role.name.valid()) {
      *out_ += "named ";
      append_quoted(*out_, context_->text(role.name));
      *out_ += ' ';
    }
    if (!role.persistent) *out_ += "non_persistent ";
    constant_value = role.constant;
  }
  type(node.value().meta_id());
  if (!constant_value.is_default()) {
    *out_ += " = ";
    constant(constant_value);
  }
  suffix(node);
}

void TextPrinter::statement(const Scope& scope, const Node& node) {
  switch (node.kind()) {
    case NodeKind::placeholder:  // out of place: the verifier says so
      *out_ += "placeholder ";
      return placeholder(scope, node);
    case NodeKind::get_attr:
      value(scope, node.value().id());
      *out_ += " = get_attr ";
      append_quoted(*out_, context_->text(node.argument(0).string_id()));
      *out_ += " : ";
      type(node.value().meta_id());
      return suffix(node);
    case NodeKind::call_function:
      return call(scope, node);
    case NodeKind::output:
      return return_values(scope, node);
  }
}

void TextPrinter::results(const Scope& scope, const Node& node) {
  const ResultStructure* structure = scope.graph->result_structure(node);
  const std::uint32_t count = node.value_count();
  const Op& op = context_->ops().get(node.op());
  std::uint32_t at = 0;
  bool first = true;
  const auto group = [&](std::int32_t size) {
    separate(first);
    if (size != ResultStructure::single) *out_ += '[';
    bool first_element = true;
    for (std::int32_t left = size == ResultStructure::single ? 1 : size; left > 0 && at < count;
         --left) {
      separate(first_element);
      value(scope, node.value(at++).id());
    }
    if (size != ResultStructure::single) *out_ += ']';
  };
  if (structure != nullptr) {
    for (const std::int32_t size : structure->groups) group(size);
  } else if (returns_one_list(op)) {
    group(static_cast<std::int32_t>(count));
  }
  while (at < count) group(ResultStructure::single);
  if (!first) *out_ += " = ";
}

void TextPrinter::call(const Scope& scope, const Node& node) {
  const Op& op = context_->ops().get(node.op());
  results(scope, node);
  operator_name(op);
  arguments(scope, node, op);
  const ResultStructure* structure = scope.graph->result_structure(node);
  if (structure != nullptr && structure->is_single_tensor_return) {
    *out_ += *structure->is_single_tensor_return ? " -> Tensor" : " -> tuple";
  }
  for (std::uint32_t index = 0; index < node.value_count(); ++index) {
    *out_ += index == 0 ? " : " : ", ";
    type(node.value(index).meta_id());
  }
  suffix(node);
}

void TextPrinter::operator_name(const Op& op) {
  if (op.is_opaque()) {
    append_quoted(*out_, op.target());
  } else {
    *out_ += op.qualified_name;
  }
}

void TextPrinter::arguments(const Scope& scope, const Node& node, const Op& op) {
  const std::vector<SchemaArgument>& formal = op.schema.arguments;
  const std::uint32_t count = node.argument_count();
  const auto is_keyword = [&](std::uint32_t index) {
    return index < formal.size() && formal[index].kwarg_only;
  };
  // Arguments beyond the schema's follow its positional ones, so that those before them must be
  // spelled.
  const bool has_more = count > formal.size();
  std::uint32_t spelled = 0;
  bool has_graph = false;
  for (std::uint32_t index = 0; index < count; ++index) {
    const Argument argument = node.argument(index);
    if (!is_keyword(index) && (!argument.is_default() || has_more)) spelled = index + 1;
    has_graph = has_graph || argument.kind() == ArgumentKind::graph;
  }
  has_graph = has_graph && scope.depth >= 0;
  // From here on what the schema has by position too is given by keyword.
  const bool has_star =
      scope.graph->given_positional_count(node) != CallOptions::as_dispatched && !op.is_opaque();
  const std::uint32_t star = has_star ? node.positional_count() : spelled;
  bool first = true;
  bool skipped = false;
  const auto begin_argument = [&] {
    if (!first) *out_ += has_graph ? "," : ", ";
    first = false;
    if (!has_graph) return;
    *out_ += '\n';
    indent(scope.depth * 2 + 2);
  };
  const auto write = [&](std::uint32_t index) {
    const Argument argument = node.argument(index);
    begin_argument();
    const bool keyword = is_keyword(index) || skipped;
    if (index < formal.size() && (keyword || op.is_opaque())) {
      const std::string_view name = formal[index].name;
      if (keyword || !name.empty()) {
        append_text_name(*out_, name);
        *out_ += keyword ? "=" : ": ";
      }
    }
    this->argument(scope, node, argument, 0);
  };
  *out_ += '(';
  for (std::uint32_t index = 0; index < spelled; ++index) {
    if (index == star) {
      begin_argument();
      *out_ += '*';
      skipped = true;
    }
    if (is_keyword(index) && !op.is_opaque()) continue;
    if (node.argument(index).is_default() && !has_more) {
      skipped = true;
    } else {
      write(index);
    }
  }
  skipped = false;
  for (std::uint32_t index = 0; index < count; ++index) {
    const bool written = index < spelled && (op.is_opaque() || !is_keyword(index));
    if (!written && !node.argument(index).is_default()) write(index);
  }
  *out_ += ')';
}

void TextPrinter::return_values(const Scope& scope, const Node& node) {
  *out_ += "return";
  const Argument values = node.argument(0);
  const Argument specs = node.argument(1);
  const std::uint32_t count = list_size(*context_, values);
  const std::uint32_t spec_count = list_size(*context_, specs);
  for (std::uint32_t index = 0; index < count; ++index) {
    *out_ += index == 0 ? " " : ", ";
    const Argument spec = index < spec_count ? list_element(node, specs, index) : Argument::none();
    if (spec.kind() == ArgumentKind::output_spec) {
      const OutputSpec& role = context_->output_spec_of(spec);
      *out_ += output_role_words[static_cast<std::size_t>(role.kind)];
      *out_ += ' ';
      if (role.target.valid()) {
        append_quoted(*out_, context_->text(role.target));
        *out_ += ' ';
      }
    }
    argument(scope, node, list_element(node, values, index), 0);
  }
  suffix(node);
}

void TextPrinter::suffix(const Node& node) {
  if (const std::string_view name = node.name(); !name.empty()) {
    *out_ += " name ";
    append_quoted(*out_, name);
  }
  const SourceId source = node.source();
  if (options_.sources != TextSources::table || !source.valid()) return;
  if (source.index >= source_numbers_.size())
    source_numbers_.resize(source.index + source.index / 2 + 16);
  std::uint32_t& number = source_numbers_[source.index];
  if (number == 0) {
    sources_.push_back(source);
    number = static_cast<std::uint32_t>(sources_.size());
  }
  *out_ += " loc ";
  integer(number - 1);
}

void TextPrinter::source_table() {
  for (std::size_t number = 0; number < sources_.size(); ++number) {
    const SourceInfo& info = context_->source_info(sources_[number]);
    *out_ += "\nloc ";
    integer(static_cast<std::int64_t>(number));
    *out_ += " {\n";
    for (const SourceInfo::Entry& entry : info.entries) {
      *out_ += "  ";
      const std::string_view key = context_->text(entry.key);
      if (!is_text_word(key))
        *out_ += "key ";  // else it would be read as part of the string before
      append_text_name(*out_, key);
      *out_ += ':';
      append_long_text(*out_, context_->text(entry.value), "\n    ");
      *out_ += '\n';
    }
    if (info.unknown_fields.valid()) {
      *out_ += "  unknown_fields = ";
      append_quoted(*out_, context_->text(info.unknown_fields));
      *out_ += '\n';
    }
    *out_ += "}\n";
  }
}

void TextPrinter::type(MetaId meta) {
  if (!meta.valid()) {
    *out_ += "unknown";
    return;
  }
  if (meta.index >= types_.size()) types_.resize(meta.index + meta.index / 2 + 16);
  std::string& text = types_[meta.index];
  if (text.empty()) append_type(text, *context_, meta, default_device_);
  *out_ += text;
}

void TextPrinter::value(const Scope& scope, ValueId id) {
  if (scope.names != nullptr) {
    scope.names->append(*out_, id);
    return;
  }
  const std::string_view name = scope.graph->value_at(id).name();
  if (!name.empty()) return append_value_name(*out_, name);
  *out_ += "%#";
  integer(id.index);
}

}  // namespace winze

fmt::format_context::iterator fmt::formatter<winze::Node>::format(
    const winze::Node& node, fmt::format_context& context) const {
  return fmt::format_to(context.out(), "{}", node.str());
}
