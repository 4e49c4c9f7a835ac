// SPDX-License-Identifier: Apache-2.0
#include "python/native/fx_writer.h"

#include "python/native/handles.h"

#include <nanobind/stl/string.h>

#include <algorithm>

#include "winze/ir/text_printer.h"
#include "winze/ir/verifier.h"
#include "winze/support/diagnostic.h"

namespace winze {
namespace {

constexpr EditKind argument_kinds[] = {EditKind::set_slot, EditKind::replace_uses,
                                       EditKind::set_positional_count};

bool has_other_arguments(const Journal::Change& change) {
  return std::ranges::any_of(argument_kinds, [&](EditKind kind) { return change.has(kind); });
}

/// True where the edits are ones that a torch.fx graph shows.
bool is_visible(const Journal::Change& change) {
  return has_other_arguments(change) || change.has(EditKind::create_node) ||
         change.has(EditKind::erase_node) || change.has(EditKind::move_node) ||
         change.has(EditKind::set_meta) || change.has(EditKind::set_source) ||
         change.has(EditKind::set_name) || change.has(EditKind::set_node_name);
}

}  // namespace

FxWriter::FxWriter(const ProgramHolder& holder, const std::deque<FxGraph>& graphs,
                   const FxGraph& graph, std::vector<Journal::Change> changes, nb::object editor)
    : holder_(holder),
      graphs_(graphs),
      graph_(*graph.graph),
      context_(graph_.context()),
      read_(graph.nodes),
      changes_(std::move(changes)),
      editor_(std::move(editor)) {
  std::erase_if(changes_, [](const Journal::Change& change) { return !is_visible(change); });
}

/// A node that is there and was created since; that it was erased and brought back by an undo
/// leaves it the same.
bool FxWriter::is_made(const Journal::Change& change) const {
  return change.has(EditKind::create_node) && graph_.node_at(change.node).is_alive();
}

void FxWriter::check() const {
  std::vector<Node> alive;
  for (const Journal::Change& change : changes_) {
    const Node node = graph_.node_at(change.node);
    if (!node.is_alive()) continue;
    alive.push_back(node);
    if (!is_made(change)) continue;
    bool fits = !node.is_output();
    for (std::uint32_t i = 0; fits && i < node.argument_count(); ++i) {
      fits = node.argument(i).kind() != ArgumentKind::graph;
    }
    if (fits) continue;
    throw Error(Diagnostic{
        .message = "a native pass made a node that has no place in a torch.fx graph",
        .node = node.str(),
        .hint = "run this pass over the program in a file, with winze.lower or the command"});
  }
  if (alive.empty()) return;
  const std::vector<Diagnostic> findings = verify(alive, VerifyLevel::schema);
  if (!findings.empty()) throw Error(findings.front());
}

std::size_t FxWriter::write() {
  std::vector<std::pair<Node, const Journal::Change*>> in_order;
  for (const Journal::Change& change : changes_) {
    const Node node = graph_.node_at(change.node);
    if (!node.is_alive()) continue;
    in_order.emplace_back(node, &change);
    // Whoever stood for results of an erased node of this index stands for them no more.
    if (!is_made(change)) continue;
    for (std::uint32_t i = 0; i < node.value_count(); ++i) values_[node.value(i).id().index] = {};
  }
  std::ranges::sort(in_order, [](const auto& a, const auto& b) { return a.first.before(b.first); });
  for (const auto& [node, change] : in_order) {
    if (is_made(*change)) {
      create(node);
    } else {
      this->change(node, *change);
    }
  }
  erase_lost();
  return edits_;
}

nb::object FxWriter::original(NodeId node) const {
  return node.index < read_.node_of.size() ? read_.node_of[node.index] : nb::object();
}

nb::object FxWriter::fx_node(NodeId node) const {
  const auto made = made_.find(node.index);
  return made == made_.end() ? original(node) : made->second;
}

/// What stands before a node, all nodes before it being where they belong; None for the first one.
nb::object FxWriter::predecessor(Node node) const {
  const Node before = node.prev();
  return before ? fx_node(before.id()) : nb::none();
}

nb::object FxWriter::created(Node node) {
  const nb::object before = predecessor(node);
  if (node.is_placeholder())
    return editor_.attr("placeholder")(before, std::string(node.value().name()),
                                       example_of(node.value().meta_id()));
  if (node.kind() == NodeKind::get_attr)
    return editor_.attr("get_attr")(before, std::string(node.target()));
  const nb::tuple arguments = call_arguments(node);
  return editor_.attr("create")(before, target_of(node.op()), arguments[0], arguments[1],
                                origin_of(node), name_of(node), notes_of(node));
}

/// A torch.fx node of any of the graphs that yields what this meta says; None where there is none.
nb::object FxWriter::example_of(MetaId meta) const {
  for (const FxGraph& one : graphs_) {
    for (const Node node : one.graph->nodes()) {
      if (node.value_count() != 1 || node.value().meta_id() != meta) continue;
      const std::uint32_t index = node.value().id().index;
      if (index >= one.nodes.value_of.size() || !one.nodes.value_of[index].is_valid()) continue;
      return one.nodes.value_of[index];
    }
  }
  return nb::none();
}

void FxWriter::create(Node node) {
  const nb::object made = created(node);
  made_[node.id().index] = made;
  // A list of one value is a list all the same; the editor tells by what the call returns.
  if (node.value_count() == 1 && !nb::cast<bool>(editor_.attr("yields_list")(made))) {
    values_[node.value(0).id().index] = made;
  }
  ++edits_;
}

void FxWriter::change(Node node, const Journal::Change& change) {
  const nb::object fx_node = original(node.id());
  if (change.has(EditKind::move_node)) {
    editor_.attr("move_after")(fx_node, predecessor(node));
    ++edits_;
  }
  if (change.has(EditKind::set_name) || change.has(EditKind::set_node_name)) {
    editor_.attr("rename")(fx_node, name_of(node));
    ++edits_;
  }
  if (change.has(EditKind::set_source)) {
    editor_.attr("describe")(fx_node, origin_of(node), notes_of(node));
    ++edits_;
  }
  if (!has_other_arguments(change) && !change.has(EditKind::set_meta)) return;
  ++edits_;
  if (has_other_arguments(change)) {
    if (read_.is_flat[node.id().index]) {
      editor_.attr("change_inputs")(fx_node, input_values(node));
    } else if (node.is_call()) {
      const nb::tuple arguments = call_arguments(node);
      editor_.attr("change")(fx_node, arguments[0], arguments[1]);
    }
  }
  if (change.has(EditKind::set_meta) && node.is_call()) editor_.attr("meta_changed")(fx_node);
}

/// Nodes that are in the native graph no more.
void FxWriter::erase_lost() {
  for (const Journal::Change& change : changes_) {
    const bool is_there = graph_.node_at(change.node).is_alive() && !is_made(change);
    const nb::object lost = original(change.node);
    if (is_there || !lost.is_valid()) continue;
    editor_.attr("lose")(lost);
    ++edits_;
  }
  editor_.attr("finish")();
}

/// The torch.fx node for a value; a getitem is made where there is none yet.
nb::object FxWriter::fx_value(ValueId value) {
  const auto known = values_.find(value.index);
  if (known != values_.end() && known->second.is_valid()) return known->second;
  if (known == values_.end() && value.index < read_.value_of.size() &&
      read_.value_of[value.index].is_valid()) {
    return read_.value_of[value.index];
  }
  const Value native = graph_.value_at(value);
  nb::object made = editor_.attr("getitem")(fx_node(native.node().id()), native.index());
  values_[value.index] = made;
  return made;
}

nb::object FxWriter::elements(Node node, const Argument& list) {
  nb::list result;
  for (std::uint32_t i = 0; i < list_size(context_, list); ++i) {
    result.append(to_python(node, list_element(node, list, i)));
  }
  return result;
}

nb::object FxWriter::to_python(Node node, const Argument& argument) {
  if (argument.kind() == ArgumentKind::value) return fx_value(argument.value_id());
  if (argument.kind() == ArgumentKind::graph) {
    for (const FxGraph& nested : graphs_) {
      if (nested.graph == &graph_.subgraph(argument.graph_id())) return nested.attribute;
    }
  } else if (argument.kind() == ArgumentKind::op) {
    return target_of(argument.op());
  } else if (is_list_kind(argument.kind())) {
    return elements(node, argument);
  } else if (const nb::object constant = constant_to_python(context_, argument);
             constant.is_valid()) {
    return constant;
  }
  throw Error(fmt::format("{} has an argument that torch.fx graphs cannot hold", node.str()));
}

/// Positional and keyword arguments as torch.fx writes them, defaults at the end left out.
nb::tuple FxWriter::call_arguments(Node node) {
  const auto& formals = context_.ops().get(node.op()).schema.arguments;
  const GivenArguments given = node.given_arguments();
  nb::list positional;
  nb::dict keywords;
  for (const std::uint32_t i : given.args)
    positional.append(to_python(node, node.argument_or_default(i)));
  for (const std::uint32_t i : given.kwargs)
    keywords[std::string(formals[i].name).c_str()] = to_python(node, node.argument(i));
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

std::string FxWriter::name_of(Node node) {
  if (!node.name().empty() || node.value_count() != 1) return std::string(node.name());
  return std::string(node.value().name());
}

/// What the node's meta says beside the node that it comes from.
nb::dict FxWriter::notes_of(Node node) const {
  nb::dict notes;
  if (!node.source().valid()) return notes;
  for (const SourceInfo::Entry& entry : context_.source_info(node.source()).entries) {
    if (context_.text(entry.key) == fx_node_key) continue;
    const auto [key, value] = meta_entry(holder_, entry);
    notes[key] = value;
  }
  return notes;
}

/// The torch.fx node, of this graph or another, that a native one says it comes from.
nb::object FxWriter::origin_of(Node node) const {
  const SourceId source = node.source();
  if (!source.valid()) return nb::none();
  for (const SourceInfo::Entry& entry : context_.source_info(source).entries) {
    if (context_.text(entry.key) == fx_node_key)
      return fx_node_named(graphs_, context_.text(entry.value));
  }
  return nb::none();
}

}  // namespace winze
