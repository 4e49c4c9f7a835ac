// SPDX-License-Identifier: Apache-2.0
#include "python/native/fx_writer.h"

#include <nanobind/stl/string.h>

#include <algorithm>

#include "winze/ir/text_printer.h"
#include "winze/support/diagnostic.h"

namespace winze {
namespace {

void append_argument(Node node, const Argument& argument, std::vector<std::uint64_t>& words) {
  words.push_back(static_cast<std::uint64_t>(argument.kind()));
  if (!argument.is_list()) {
    words.push_back(argument.bits());
    return;
  }
  words.push_back(argument.count());
  for (std::uint32_t i = 0; i < argument.count(); ++i) {
    append_argument(node, node.element(argument, i), words);
  }
}

bool same_words(const std::vector<std::uint64_t>& words, std::size_t begin, std::size_t end,
                const std::vector<std::uint64_t>& now) {
  return end - begin == now.size() &&
         std::equal(now.begin(), now.end(), words.begin() + static_cast<std::ptrdiff_t>(begin));
}

}  // namespace

void GraphRecord::append_arguments(Node node, std::vector<std::uint64_t>& words) {
  for (std::uint32_t i = 0; i < node.argument_count(); ++i) {
    append_argument(node, node.argument(i), words);
  }
}

void GraphRecord::append_metas(Node node, std::vector<std::uint64_t>& words) {
  for (std::uint32_t i = 0; i < node.value_count(); ++i) {
    words.push_back(node.value(i).meta_id().index);
  }
}

GraphRecord::GraphRecord(const Graph& graph) : entries_(graph.node_capacity()) {
  std::uint32_t position = 0;
  for (const Node node : graph.nodes()) {
    Entry& entry = entries_[node.id().index];
    entry.begin = words_.size();
    append_arguments(node, words_);
    entry.metas = words_.size();
    append_metas(node, words_);
    entry.end = words_.size();
    entry.op = node.op();
    entry.first_value = first_value(node);
    entry.position = position++;
    entry.was_there = true;
  }
}

bool GraphRecord::has(Node node) const {
  if (node.id().index >= entries_.size()) return false;
  const Entry& entry = entries_[node.id().index];
  return entry.was_there && entry.op == node.op() && entry.first_value == first_value(node);
}

bool GraphRecord::is_lost(const Graph& graph, NodeId id) const {
  if (!entries_[id.index].was_there) return false;
  const Node node = graph.node_at(id);
  return !node.is_alive() || !has(node);
}

bool GraphRecord::has_same_arguments(Node node) const {
  const Entry& entry = entries_[node.id().index];
  std::vector<std::uint64_t> now;
  append_arguments(node, now);
  return same_words(words_, entry.begin, entry.metas, now);
}

bool GraphRecord::is_unchanged(Node node) const {
  if (!has_same_arguments(node)) return false;
  const Entry& entry = entries_[node.id().index];
  std::vector<std::uint64_t> now;
  append_metas(node, now);
  return same_words(words_, entry.metas, entry.end, now);
}

FxWriter::FxWriter(TorchVocabulary& torch, const std::deque<FxGraph>& graphs, FxGraph& graph,
                   const GraphRecord& before, nb::object editor)
    : torch_(torch),
      graphs_(graphs),
      graph_(*graph.graph),
      context_(graph_.context()),
      nodes_(graph.nodes),
      before_(before),
      editor_(std::move(editor)),
      cursor_(nb::none()),
      originals_(graph.nodes.node_of) {}

void FxWriter::check() const {
  for (const Node node : graph_.nodes()) {
    if (before_.has(node)) continue;
    bool fits = node.is_call();
    for (std::uint32_t i = 0; fits && i < node.argument_count(); ++i) {
      fits = node.argument(i).kind() != ArgumentKind::graph;
    }
    if (fits) continue;
    throw Error(Diagnostic{
        .message = "a native pass made a node that has no place in a torch.fx graph",
        .node = node.str(),
        .hint = "run this pass over the program in a file, with winze.lower or the command"});
  }
}

std::size_t FxWriter::write() {
  nodes_.node_of.resize(graph_.node_capacity());
  nodes_.is_flat.resize(graph_.node_capacity());
  nodes_.value_of.resize(graph_.value_capacity());
  for (const Node node : graph_.nodes()) visit(node);
  erase_lost();
  return edits_;
}

void FxWriter::visit(Node node) {
  const std::uint32_t index = node.id().index;
  if (!before_.has(node)) {
    create(node);
    return;
  }
  const nb::object& fx_node = nodes_.node_of[index];
  const std::uint32_t position = before_.position(node);
  if (position < last_position_) {
    editor_.attr("move_after")(fx_node, cursor_);
    ++edits_;
  } else {
    last_position_ = position;
  }
  if (!before_.is_unchanged(node)) change(node);
  cursor_ = fx_node;
}

void FxWriter::create(Node node) {
  const std::uint32_t index = node.id().index;
  const nb::tuple arguments = call_arguments(node);
  nb::object made = editor_.attr("create")(cursor_, target_of(node.op()), arguments[0],
                                           arguments[1], origin_of(node));
  nodes_.node_of[index] = made;
  nodes_.is_flat[index] = false;
  for (std::uint32_t i = 0; i < node.value_count(); ++i) {
    nodes_.value_of[node.value(i).id().index] = node.value_count() == 1 ? made : nb::object();
  }
  // A list of one value is a list all the same; the editor tells by what the call returns.
  if (node.value_count() == 1 && nb::cast<bool>(editor_.attr("yields_list")(made))) {
    nodes_.value_of[node.value(0).id().index] = nb::object();
  }
  cursor_ = std::move(made);
  ++edits_;
}

void FxWriter::change(Node node) {
  const std::uint32_t index = node.id().index;
  const nb::object& fx_node = nodes_.node_of[index];
  ++edits_;
  if (nodes_.is_flat[index]) {
    editor_.attr("change_inputs")(fx_node, input_values(node));
    return;
  }
  if (!node.is_call()) return;
  if (before_.has_same_arguments(node)) {
    editor_.attr("meta_changed")(fx_node);
    return;
  }
  const nb::tuple arguments = call_arguments(node);
  editor_.attr("change")(fx_node, arguments[0], arguments[1]);
}

/// Nodes that are in the native graph no more, last first.
void FxWriter::erase_lost() {
  for (std::size_t index = before_.capacity(); index-- > 0;) {
    if (!before_.is_lost(graph_, NodeId{static_cast<std::uint32_t>(index)})) continue;
    editor_.attr("lose")(originals_[index]);
    ++edits_;
  }
  editor_.attr("erase_lost")();
}

/// The torch.fx node for a value; a getitem is made where there is none yet.
nb::object FxWriter::fx_value(ValueId value) {
  nb::object& known = nodes_.value_of[value.index];
  if (!known.is_valid()) {
    const Value native = graph_.value_at(value);
    known = editor_.attr("getitem")(nodes_.node_of[native.node().id().index], native.index());
  }
  return known;
}

nb::object FxWriter::elements(Node node, const Argument& list) {
  nb::list result;
  for (std::uint32_t i = 0; i < list_size(context_, list); ++i) {
    result.append(to_python(node, list_element(node, list, i)));
  }
  return result;
}

nb::object FxWriter::to_python(Node node, const Argument& argument) {
  switch (argument.kind()) {
    case ArgumentKind::none:
      return nb::none();
    case ArgumentKind::value:
      return fx_value(argument.value_id());
    case ArgumentKind::integer:
      return nb::cast(argument.integer());
    case ArgumentKind::floating:
      return nb::cast(argument.floating());
    case ArgumentKind::boolean:
      return nb::cast(argument.boolean());
    case ArgumentKind::string:
      return nb::cast(std::string(context_.text(argument.string_id())));
    case ArgumentKind::complex: {
      const std::complex<double> number = context_.complex_of(argument);
      return nb::steal(PyComplex_FromDoubles(number.real(), number.imag()));
    }
    case ArgumentKind::dtype:
    case ArgumentKind::layout:
    case ArgumentKind::memory_format:
    case ArgumentKind::device:
      return torch_.to_python(context_, argument);
    case ArgumentKind::integers:
    case ArgumentKind::floats:
    case ArgumentKind::booleans:
    case ArgumentKind::strings:
    case ArgumentKind::list:
      return elements(node, argument);
    case ArgumentKind::op:
      return target_of(argument.op());
    case ArgumentKind::graph:
      for (const FxGraph& nested : graphs_) {
        if (nested.graph == &graph_.subgraph(argument.graph_id())) return nested.attribute;
      }
      [[fallthrough]];
    default:
      throw Error(fmt::format("{} has an argument that torch.fx graphs cannot hold", node.str()));
  }
}

/// Positional and keyword arguments as torch.fx writes them, defaults at the end left out.
nb::tuple FxWriter::call_arguments(Node node) {
  const Schema& schema = context_.ops().get(node.op()).schema;
  nb::list positional;
  nb::dict keywords;
  bool by_keyword = false;
  for (std::uint32_t i = 0; i < node.argument_count(); ++i) {
    const bool is_formal = i < schema.arguments.size();
    const Argument argument = node.argument(i);
    by_keyword =
        by_keyword || (is_formal && (schema.arguments[i].kwarg_only || argument.is_default()));
    if (argument.is_default()) continue;
    if (by_keyword && is_formal) {
      keywords[std::string(schema.arguments[i].name).c_str()] = to_python(node, argument);
    } else {
      positional.append(to_python(node, argument));
    }
  }
  return nb::make_tuple(nb::tuple(positional), keywords);
}

nb::list FxWriter::input_values(Node node) {
  nb::list inputs;
  for (std::uint32_t i = 0; i < node.argument_count(); ++i) {
    const Argument argument = node.argument(i);
    if (argument.is_list()) {
      for (std::uint32_t at = 0; at < argument.count(); ++at) {
        const Argument element = node.element(argument, at);
        if (element.kind() == ArgumentKind::output_spec) continue;
        inputs.append(to_python(node, element));
      }
    } else if (!is_list_kind(argument.kind())) {
      inputs.append(to_python(node, argument));
    }
  }
  return inputs;
}

nb::object FxWriter::target_of(OpId op) {
  const Op& record = context_.ops().get(op);
  return editor_.attr("resolve")(std::string(record.qualified_name));
}

nb::object FxWriter::origin_of(Node node) const {
  const SourceId source = node.source();
  if (!source.valid()) return nb::none();
  for (const SourceInfo::Entry& entry : context_.source_info(source).entries) {
    if (context_.text(entry.key) != "fx_node") continue;
    const auto index =
        static_cast<std::size_t>(std::stoul(std::string(context_.text(entry.value))));
    if (index < originals_.size() && originals_[index].is_valid()) return originals_[index];
  }
  return nb::none();
}

}  // namespace winze
