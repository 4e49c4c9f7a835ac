// SPDX-License-Identifier: Apache-2.0
#include "winze/ir/node.h"

#include <algorithm>
#include <deque>

#include <tsl/robin_set.h>

#include "winze/ir/graph.h"
#include "winze/ir/graph_slots.h"
#include "winze/ir/op_signature.h"

namespace winze {
namespace {

/// The nodes of a sequence, each once, in order of first occurrence.
class UniqueNodes {
 public:
  void add(Node node) {
    if (seen_.insert(node.id().index).second) nodes_.push_back(node);
  }
  [[nodiscard]] std::vector<Node> take() { return std::move(nodes_); }

 private:
  tsl::robin_set<std::uint32_t> seen_;
  std::vector<Node> nodes_;
};

/// Copies of lists, so that they do not lie in slots that are about to be written to.
class ListCopies {
 public:
  Argument copy(const Node& node, const Argument& argument) {
    if (!argument.is_list() || argument.count() == 0) return argument;
    std::vector<Argument>& elements = lists_.emplace_back();
    for (std::uint32_t index = 0; index < argument.count(); ++index)
      elements.push_back(copy(node, node.element(argument, index)));
    return Argument(std::span<const Argument>(elements));
  }

 private:
  std::deque<std::vector<Argument>> lists_;
};

}  // namespace

Argument::Argument(const Value& value)
    : kind_(ArgumentKind::value), count_(value.graph().serial()), payload_(value.id().index) {}

void Node::refuse_handle() const {
  WINZE_CHECK(graph_ != nullptr, "an empty node handle is used");
  const Graph::NodeRecord& record = graph_->nodes_[id_.index];
  detail::check_failed("the handle's generation is the node's", __FILE__, __LINE__,
                       fmt::format("a node handle is stale: its node ({} {}) was erased",
                                   record.kind == NodeKind::call_function
                                       ? graph_->context().ops().qualified_name(record.op)
                                       : std::string_view("node"),
                                   id_.index));
}
void Value::refuse_handle() const {
  WINZE_CHECK(graph_ != nullptr, "an empty value handle is used");
  detail::check_failed(
      "the handle's generation is the node's", __FILE__, __LINE__,
      fmt::format("a value handle is stale: the node of value {} was erased", id_.index));
}
void Node::refuse_value(std::uint32_t index) const {
  detail::check_failed("index < value_count()", __FILE__, __LINE__,
                       fmt::format("value {} of a node that yields {}", index, value_count()));
}
void Node::refuse_argument(std::uint32_t index) const {
  detail::check_failed("index < argument_count()", __FILE__, __LINE__,
                       fmt::format("argument {} of a node with {}", index, argument_count()));
}

Value::Value(Node node) : Value(node.value()) {
  WINZE_CHECK(node.value_count() == 1, "a node with {} values stands for none of them: {}",
              node.value_count(), node.str());
}

std::uint32_t Value::index() const {
  return id_.index - graph_->nodes_[node().id().index].first_value;
}
const Meta& Value::meta() const {
  return graph_->context().meta(meta_id());
}

void Value::set_meta(MetaId meta) const {
  MetaId& current = checked().values_[id_.index].meta;
  if (current == meta) return;
  graph_->journal_->begin_edit();
  Journal::Record record;
  record.graph = graph_;
  record.kind = EditKind::set_meta;
  record.a = id_.index;
  record.b = current.index;
  record.node = graph_->values_[id_.index].node.index;
  graph_->journal_->add(record);
  current = meta;
}

std::string_view Value::name() const {
  const auto& names = checked().value_names_;
  return id_.index < names.size() ? graph_->context().text(names[id_.index]) : std::string_view();
}

void Value::set_name(std::string_view name) const {
  auto& names = checked().value_names_;
  if (id_.index >= names.size()) names.resize(graph_->values_.size());
  Journal::Record record;
  record.graph = graph_;
  record.kind = EditKind::set_name;
  record.a = id_.index;
  record.b = names[id_.index].index;
  record.node = graph_->values_[id_.index].node.index;
  graph_->journal_->add(record);
  names[id_.index] = graph_->context().string(name);
}

UseRange Value::uses() const {
  return {graph_, checked().values_[id_.index].first_use};
}

std::vector<Node> Value::users() const {
  UniqueNodes unique;
  for (const Use use : uses()) unique.add(use.node);
  return unique.take();
}

std::uint32_t Value::replace_all_uses_with(Value replacement) const {
  WINZE_CHECK(graph_ == replacement.graph_, "a value is to be replaced by one of another graph");
  return checked().replace_uses(id_, replacement.id_, nullptr);
}

bool Node::is_call_to(OpId op) const {
  const OpId own = this->op();
  return is_call() && (own == op || graph_->context().signature(own).op->base == op);
}

std::string_view Node::target() const {
  switch (kind()) {
    case NodeKind::placeholder:
      return value().name();
    case NodeKind::get_attr:
      return graph_->context().text(argument(0).string_id());
    case NodeKind::call_function:
      return graph_->context().ops().qualified_name(op());
    case NodeKind::output:
      break;
  }
  return "output";
}

std::vector<Value> Node::values() const {
  std::vector<Value> values;
  values.reserve(value_count());
  for (std::uint32_t index = 0; index < value_count(); ++index) values.push_back(value(index));
  return values;
}

Argument Node::argument(std::string_view name) const {
  const Op& op = graph_->context().ops().get(this->op());
  const int index = op.schema.find_argument(name);
  if (index < 0)
    fail("{} has no argument \"{}\"; its schema is {}", op.qualified_name, name,
         print_schema(op.schema));
  return argument(static_cast<std::uint32_t>(index));
}

Argument Node::argument_or_default(std::uint32_t index) const {
  const Argument given = argument(index);
  return given.is_default() ? graph_->context().signature(op()).arguments[index].default_value
                            : given;
}

std::uint32_t Node::positional_count() const {
  return checked().positional_end(*this, graph_->given_positional_count(*this));
}

void Node::set_positional_count(std::uint32_t count) const {
  const std::uint32_t before = checked().given_positional_count(*this);
  const std::uint32_t after =
      graph_->is_own_spelling(*this, count) ? count : CallOptions::as_dispatched;
  if (after == before) return;
  Journal::Record record;
  record.graph = graph_;
  record.kind = EditKind::set_positional_count;
  record.a = before;
  record.node = id_.index;
  graph_->journal_->add(record);
  graph_->spell(id_, after);
}

GivenArguments Node::given_arguments(std::uint32_t positional) const {
  const auto& formals = graph_->context().signature(op()).arguments;
  GivenArguments given;
  for (std::uint32_t index = 0; index < argument_count(); ++index) {
    const bool is_keyword_only = index < formals.size() && formals[index].kwarg_only;
    if (index < positional && !is_keyword_only) {
      given.args.push_back(index);
    } else if (!argument(index).is_default()) {
      given.kwargs.push_back(index);
    }
  }
  return given;
}

Value Node::argument_value(std::uint32_t index) const {
  const Argument given = argument(index);
  return given.is_value() ? graph_->value_at(given.value_id()) : Value();
}

Argument Node::element(const Argument& list, std::uint32_t index) const {
  WINZE_CHECK(list.is_list() && index < list.count(), "element {} of a list of {}", index,
              list.count());
  return checked().element(list, index);
}

void Node::set_argument(std::uint32_t index, const Argument& argument) const {
  WINZE_CHECK(index < argument_count(), "argument {} of a node with {}", index, argument_count());
  const NodeId before = prev().valid() ? prev().id() : NodeId{};
  Argument stored = argument;
  if (is_call()) {
    const OpSignature& signature = graph_->context().signature(op());
    graph_->check_argument(signature, index, argument, before);
    stored = graph_->normalized(signature, index, argument);
  } else {
    graph_->check_value(argument, before, target());
  }
  ListCopies copies;
  stored = copies.copy(*this, stored);
  graph_->journal_->begin_edit();
  graph_->change_slot(SlotId{graph_->nodes_[id_.index].first_slot + index}, stored);
}

std::vector<Value> Node::input_values() const {
  std::vector<Value> values;
  tsl::robin_set<std::uint32_t> seen;
  graph_->visit_slots(checked().nodes_[id_.index], [&](SlotId slot) {
    if (graph_->slot_kinds_[slot.index] != ArgumentKind::value) return;
    const ValueId value{graph_->slots_[slot.index].a};
    if (seen.insert(value.index).second) values.push_back(graph_->value_at(value));
  });
  return values;
}

std::vector<Node> Node::all_input_nodes() const {
  UniqueNodes unique;
  for (const Value value : input_values()) unique.add(value.node());
  return unique.take();
}

bool Node::uses(Value value) const {
  bool found = false;
  graph_->visit_slots(checked().nodes_[id_.index], [&](SlotId slot) {
    found = found || (graph_->slot_kinds_[slot.index] == ArgumentKind::value &&
                      graph_->slots_[slot.index].a == value.id().index);
  });
  return found && &value.graph() == graph_;
}

std::uint32_t Node::replace_input_with(Value old_value, Value new_value) const {
  if (old_value == new_value) return 0;
  std::vector<SlotId> slots;
  graph_->visit_slots(checked().nodes_[id_.index], [&](SlotId slot) {
    if (graph_->slot_kinds_[slot.index] == ArgumentKind::value &&
        graph_->slots_[slot.index].a == old_value.id().index) {
      slots.push_back(slot);
    }
  });
  if (slots.empty()) return 0;
  graph_->check_value(Argument(new_value), prev().valid() ? prev().id() : NodeId{}, target());
  graph_->journal_->begin_edit();
  for (const SlotId slot : slots) graph_->change_slot(slot, Argument(new_value));
  return static_cast<std::uint32_t>(slots.size());
}

std::vector<Node> Node::users() const {
  UniqueNodes unique;
  for (const Value value : values()) {
    for (const Use use : value.uses()) unique.add(use.node);
  }
  return unique.take();
}

std::uint32_t Node::replace_all_uses_with(Node replacement) const {
  WINZE_CHECK(value_count() == replacement.value_count(),
              "a node with {} values is to be replaced by one with {}", value_count(),
              replacement.value_count());
  std::uint32_t count = 0;
  for (std::uint32_t index = 0; index < value_count(); ++index) {
    count += value(index).replace_all_uses_with(replacement.value(index));
  }
  return count;
}

void Node::prepend(Node node) const {
  if (node == *this) return;
  const Node previous = prev();
  checked().move_checked(node.id_, previous.valid() ? previous.id_ : NodeId{});
}
void Node::append(Node node) const {
  if (node == *this) return;
  checked().move_checked(node.id_, id_);
}
void Node::erase() const {
  checked().erase_node(*this);
}

std::string_view Node::name() const {
  const auto& names = checked().node_names_;
  const auto found = names.find(id_.index);
  return found == names.end() ? std::string_view() : graph_->context().text(found->second);
}

void Node::set_name(std::string_view name) const {
  auto& names = checked().node_names_;
  const auto found = names.find(id_.index);
  Journal::Record record;
  record.graph = graph_;
  record.kind = EditKind::set_node_name;
  record.a = found == names.end() ? StringId::none_value : found->second.index;
  record.node = id_.index;
  graph_->journal_->add(record);
  names[id_.index] = graph_->context().string(name);
}

SourceId Node::source() const {
  return checked().node_sides_[id_.index].source;
}

void Node::set_source(SourceId source) const {
  Journal::Record record;
  record.graph = &checked();
  record.kind = EditKind::set_source;
  record.a = graph_->node_sides_[id_.index].source.index;
  record.node = id_.index;
  graph_->journal_->add(record);
  graph_->node_sides_[id_.index].source = source;
}

}  // namespace winze
