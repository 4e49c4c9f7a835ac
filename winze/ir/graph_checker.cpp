// SPDX-License-Identifier: Apache-2.0
#include "winze/ir/graph_checker.h"

#include <algorithm>

namespace winze {
namespace {

std::string_view kind_name(NodeKind kind) {
  switch (kind) {
    case NodeKind::placeholder:
      return "a placeholder";
    case NodeKind::get_attr:
      return "a get_attr";
    case NodeKind::call_function:
      return "a call";
    case NodeKind::output:
      return "an output";
  }
  return "a node of no known kind";
}

}  // namespace

void GraphChecker::check() {
  seen_slots_.assign(graph_->slots_.size(), false);
  seen_nested_.assign(graph_->subgraphs_.size(), false);
  if (graph_->node_sides_.size() != graph_->nodes_.size()) {
    return add(NodeId{}, "{} nodes have {} side records", graph_->nodes_.size(),
               graph_->node_sides_.size());
  }
  if (graph_->slot_kinds_.size() != graph_->slots_.size()) {
    return add(NodeId{}, "{} argument slots have {} kinds", graph_->slots_.size(),
               graph_->slot_kinds_.size());
  }
  if (!check_list()) return;
  bool in_bounds = true;
  for (NodeId node = graph_->first_; node.valid(); node = record(node).next)
    in_bounds = check_ranges(node) && in_bounds;
  if (!in_bounds) return;
  for (NodeId node = graph_->first_; node.valid(); node = record(node).next) {
    check_shape(node);
    check_slots(node);
  }
  for (NodeId node = graph_->first_; node.valid(); node = record(node).next) check_values(node);
  if (operands_ != uses_) {
    add(NodeId{}, "{} arguments are values, but the lists of uses have {} entries", operands_,
        uses_);
  }
  check_placement();
  check_index();
  check_side_tables();
}

/// Follows the links; false where they do not lead through each living node once.
bool GraphChecker::check_list() {
  std::size_t count = 0;
  NodeId previous;
  for (NodeId node = graph_->first_; node.valid(); node = record(node).next) {
    if (!in_range(node)) {
      add(previous, "the next node has index {}, but there are {} nodes", node.index,
          graph_->nodes_.size());
      return false;
    }
    if (++count > graph_->nodes_.size()) {
      add(node, "the list of nodes runs in a circle");
      return false;
    }
    if (!record(node).alive) add(node, "an erased node is in the list of nodes");
    if (record(node).prev != previous)
      add(node, "the link to the previous node does not lead back");
    if (previous.valid() && record(previous).order >= record(node).order) {
      add(node, "the order key {} is not above that of the node before, {}", record(node).order,
          record(previous).order);
    }
    previous = node;
  }
  if (graph_->last_ != previous)
    add(previous, "the last node of the list is not the graph's last node");
  if (count != graph_->alive_) {
    add(NodeId{}, "the list has {} nodes, but {} are counted", count, graph_->alive_);
  }
  return true;
}

/// Whether slots and values of the node lie inside their arrays.
bool GraphChecker::check_ranges(NodeId node) {
  const Record& own = record(node);
  bool fine = true;
  if (std::size_t{own.first_slot} + own.slot_count > graph_->slots_.size()) {
    add(node, "its arguments lie outside of the argument slots");
    fine = false;
  }
  if (std::size_t{own.first_value} + own.value_count > graph_->values_.size()) {
    add(node, "its results lie outside of the values");
    fine = false;
  }
  if (own.kind == NodeKind::call_function && own.op.index >= graph_->context_->ops().size()) {
    add(node, "its operator {} is not one of the context", own.op.index);
    fine = false;
  }
  return fine;
}

void GraphChecker::check_slots(NodeId node) {
  const Record& own = record(node);
  for (std::uint32_t index = 0; index < own.slot_count; ++index)
    check_slot(node, own.first_slot + index, 0);
}

void GraphChecker::check_slot(NodeId node, std::uint32_t slot, int depth) {
  const auto& content = graph_->slots_[slot];
  if (!seen_slots_.empty()) {
    if (seen_slots_[slot]) return add(node, "argument slot {} belongs to two arguments", slot);
    seen_slots_[slot] = true;
  }
  if (content.owner != node)
    add(node, "argument slot {} says that it belongs to node {}", slot, content.owner.index);
  switch (graph_->slot_kinds_[slot]) {
    case ArgumentKind::value:
      return check_operand(node, slot);
    case ArgumentKind::graph:
      return check_nested(node, content.a);
    case ArgumentKind::list:
      break;
    default:
      return;
  }
  if (content.b == 0) return;
  if (depth >= max_list_depth) return add(node, "its lists nest deeper than {}", max_list_depth);
  if (std::size_t{content.a} + content.b > graph_->slots_.size()) {
    return add(node, "a list lies outside of the argument slots");
  }
  for (std::uint32_t index = 0; index < content.b; ++index)
    check_slot(node, content.a + index, depth + 1);
}

void GraphChecker::check_operand(NodeId node, std::uint32_t slot) {
  ++operands_;
  const ValueId value{graph_->slots_[slot].a};
  if (value.index >= graph_->values_.size()) {
    return add(node, "it uses value {}, but there are {} values", value.index,
               graph_->values_.size());
  }
  const NodeId producer = graph_->values_[value.index].node;
  if (!is_alive(producer)) return add(node, "it uses value {} of an erased node", value.index);
  if (record(producer).order >= record(node).order) {
    add(node, "it uses value {} before it is defined by node {}", value.index, producer.index);
  }
  const std::uint32_t previous = graph_->slots_[slot].b;
  const std::uint32_t next = graph_->slots_[slot].c;
  const auto& slots = graph_->slots_;
  const auto& owner = graph_->values_[value.index];
  const bool linked =
      (previous == SlotId::none_value ? owner.first_use.index == slot
                                      : previous < slots.size() && slots[previous].c == slot) &&
      (next == SlotId::none_value ? owner.last_use.index == slot
                                  : next < slots.size() && slots[next].b == slot);
  if (!linked)
    add(node, "its use of value {} is not in the list of uses of that value", value.index);
}

void GraphChecker::check_nested(NodeId node, std::uint32_t index) {
  const Graph* nested = GraphChecker::nested(*graph_, index);
  if (nested == nullptr) return add(node, "its nested graph {} does not exist", index);
  if (!seen_nested_.empty()) {
    if (seen_nested_[index]) add(node, "graph \"{}\" is an argument of two calls", nested->name());
    seen_nested_[index] = true;
  }
  if (nested->holder_ != node)
    add(node, "graph \"{}\" says that another node holds it", nested->name());
  if (nested->parent_ != graph_)
    add(node, "graph \"{}\" says that it is nested in another graph", nested->name());
  if (nested->journal_ != graph_->journal_)
    add(node, "graph \"{}\" has a journal of its own", nested->name());
}

void GraphChecker::check_values(NodeId node) {
  const Record& own = record(node);
  for (std::uint32_t value = own.first_value; value < own.first_value + own.value_count; ++value) {
    if (graph_->values_[value].node != node) {
      add(node, "its value {} says that node {} defines it", value,
          graph_->values_[value].node.index);
    }
    if (!graph_->values_[value].meta.valid()) add(node, "its value {} has no meta", value);
    check_uses(node, value);
  }
}

void GraphChecker::check_uses(NodeId node, std::uint32_t value) {
  const auto& slots = graph_->slots_;
  std::uint32_t count = 0;
  SlotId previous;
  SlotId slot = graph_->values_[value].first_use;
  for (; slot.valid(); slot = SlotId{slots[slot.index].c}) {
    if (slot.index >= slots.size())
      return add(node, "the uses of value {} lead outside of the argument slots", value);
    if (count++ > graph_->values_[value].use_count)
      return add(node, "the list of uses of value {} is longer than its count of {}", value,
                 graph_->values_[value].use_count);
    if (graph_->slot_kinds_[slot.index] != ArgumentKind::value || slots[slot.index].a != value ||
        !seen_slots_[slot.index]) {
      return add(node, "the uses of value {} name slot {}, which does not use it", value,
                 slot.index);
    }
    if (slots[slot.index].b != previous.index)
      add(node, "the uses of value {} are not linked both ways", value);
    previous = slot;
  }
  uses_ += count;
  if (graph_->values_[value].last_use != previous)
    add(node, "the last use of value {} is not the end of its list", value);
  if (count != graph_->values_[value].use_count) {
    add(node, "value {} has {} uses, but {} are counted", value, count,
        graph_->values_[value].use_count);
  }
}

/// What a node of this kind consists of.
void GraphChecker::check_shape(NodeId node) {
  const Record& own = record(node);
  const auto expect = [&](std::uint32_t slots, std::uint32_t values) {
    if (own.slot_count != slots || own.value_count != values) {
      add(node, "{} has {} arguments and {} results, not {} and {}", kind_name(own.kind),
          own.slot_count, own.value_count, slots, values);
    }
    if (own.op.is_valid()) add(node, "{} has an operator", kind_name(own.kind));
  };
  switch (own.kind) {
    case NodeKind::placeholder:
      return expect(1, 1);
    case NodeKind::get_attr:
      expect(1, 1);
      if (own.slot_count > 0 && graph_->slot_kinds_[own.first_slot] != ArgumentKind::string)
        add(node, "a get_attr names no attribute");
      return;
    case NodeKind::output:
      return expect(2, 0);
    case NodeKind::call_function:
      return;
  }
  add(node, "it is a node of no known kind");
}

/// Placeholders first, the output last.
void GraphChecker::check_placement() {
  bool in_header = true;
  for (NodeId node = graph_->first_; node.valid(); node = record(node).next) {
    const Record& own = record(node);
    if (own.kind == NodeKind::placeholder && !in_header)
      add(node, "a placeholder stands behind other nodes");
    if (own.kind != NodeKind::placeholder) in_header = false;
    if (own.kind == NodeKind::output && node != graph_->last_)
      add(node, "an output stands before other nodes");
  }
}

void GraphChecker::check_index() {
  std::size_t indexed = 0;
  for (const auto& [key, list] : graph_->buckets_) {
    check_bucket(key, list);
    indexed += list.count;
  }
  if (indexed != graph_->alive_) {
    add(NodeId{}, "the index by operator holds {} nodes of {}", indexed, graph_->alive_);
  }
}

void GraphChecker::check_bucket(std::uint32_t key, const Graph::Bucket& list) {
  std::uint32_t count = 0;
  NodeId previous;
  for (NodeId node = list.head; node.valid(); node = side(node).same_op_next) {
    if (!is_alive(node)) return add(previous, "the index by operator leads to an erased node");
    if (++count > list.count)
      return add(node, "the index by operator lists more nodes than it counts");
    if (graph_->index_key(record(node)) != key)
      add(node, "the index by operator lists it under another operator");
    if (side(node).same_op_prev != previous)
      add(node, "the index by operator is not linked both ways");
    previous = node;
  }
  if (list.tail != previous) add(previous, "the index by operator does not end with its last node");
  if (count != list.count)
    add(previous, "the index by operator lists {} nodes but counts {}", count, list.count);
}

/// Names, groups of results, references from outside.
void GraphChecker::check_side_tables() {
  if (graph_->value_names_.size() > graph_->values_.size()) {
    add(NodeId{}, "{} values have {} names", graph_->values_.size(), graph_->value_names_.size());
  }
  for (const auto& [node, structure] : graph_->result_structures_) {
    if (!is_alive(NodeId{node})) continue;  // kept for undo
    std::int64_t total = 0;
    for (const std::int32_t group : structure.groups) {
      if (group < ResultStructure::single)
        add(NodeId{node}, "a group of results has {} values", group);
      total += group == ResultStructure::single ? 1 : group;
    }
    if (total != record(NodeId{node}).value_count) {
      add(NodeId{node}, "its groups of results have {} values, but it yields {}", total,
          record(NodeId{node}).value_count);
    }
  }
  for (const auto& [node, count] : graph_->positional_counts_) {
    if (is_alive(NodeId{node}) && record(NodeId{node}).kind != NodeKind::call_function)
      add(NodeId{node}, "{} arguments are given by position, but it is no call", count);
  }
  for (std::size_t reference = 0; reference < graph_->observed_.size(); ++reference) {
    const ValueId value = graph_->observed_[reference];
    if (!value.valid()) continue;
    if (value.index >= graph_->values_.size() || !is_alive(graph_->values_[value.index].node)) {
      add(NodeId{}, "reference {} from outside is to a value of an erased node", reference);
    }
  }
}

void GraphChecker::check_nodes(std::span<const Node> nodes) {
  for (const Node& node : nodes) {
    if (findings_->full()) return;
    const NodeId id = node.id();
    if (!is_alive(id)) continue;
    if (!check_ranges(id)) continue;
    check_local_links(id);
    check_shape(id);
    check_slots(id);
    const Record& own = record(id);
    for (std::uint32_t value = own.first_value; value < own.first_value + own.value_count;
         ++value) {
      if (graph_->values_[value].node != id) {
        add(id, "its value {} says that node {} defines it", value,
            graph_->values_[value].node.index);
      }
      if (!graph_->values_[value].meta.valid()) add(id, "its value {} has no meta", value);
      check_local_uses(id, value);
    }
  }
}

/// That the users of a value come behind it, and that the list of its uses holds together.
void GraphChecker::check_local_uses(NodeId node, std::uint32_t value) {
  const auto& slots = graph_->slots_;
  std::uint32_t count = 0;
  for (SlotId slot = graph_->values_[value].first_use; slot.valid();
       slot = SlotId{slots[slot.index].c}) {
    if (slot.index >= slots.size() || graph_->slot_kinds_[slot.index] != ArgumentKind::value ||
        slots[slot.index].a != value || ++count > graph_->values_[value].use_count) {
      return add(node, "the list of uses of value {} is broken", value);
    }
    const NodeId user = slots[slot.index].owner;
    if (!is_alive(user)) {
      add(node, "value {} is used by an erased node", value);
    } else if (record(user).order <= record(node).order) {
      add(node, "value {} is used by node {}, which stands before it", value, user.index);
    }
  }
  if (count != graph_->values_[value].use_count) {
    add(node, "value {} has {} uses, but {} are counted", value, count,
        graph_->values_[value].use_count);
  }
}

void GraphChecker::check_local_links(NodeId node) {
  const Record& own = record(node);
  const bool before = own.prev.valid() ? is_alive(own.prev) && record(own.prev).next == node &&
                                             record(own.prev).order < own.order
                                       : graph_->first_ == node;
  if (!before) add(node, "its link to the previous node is broken, or out of order");
  const bool after = own.next.valid() ? is_alive(own.next) && record(own.next).prev == node &&
                                            own.order < record(own.next).order
                                      : graph_->last_ == node;
  if (!after) add(node, "its link to the next node is broken, or out of order");
  const NodeId previous = own.prev;
  if (own.kind == NodeKind::placeholder && previous.valid() && in_range(previous) &&
      record(previous).kind != NodeKind::placeholder) {
    add(node, "a placeholder stands behind other nodes");
  }
  if (own.kind == NodeKind::output && own.next.valid())
    add(node, "an output stands before other nodes");
}

}  // namespace winze
