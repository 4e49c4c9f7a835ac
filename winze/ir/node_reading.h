// SPDX-License-Identifier: Apache-2.0
#pragma once

// What handles read from their graph, inline: walks and matches are made of these. Included by
// graph.h.
#include "winze/ir/graph.h"

namespace winze {

#ifdef WINZE_CHECK_HANDLES
Node::Node(Graph* graph, NodeId id)
    : graph_(graph), id_(id), generation_(graph->nodes_[id.index].generation) {}
Value::Value(Graph* graph, ValueId id)
    : graph_(graph),
      id_(id),
      generation_(graph->nodes_[graph->values_[id.index].node.index].generation) {}
Graph& Node::checked() const {
  if (graph_ == nullptr || graph_->nodes_[id_.index].generation != generation_) refuse_handle();
  return *graph_;
}
Graph& Value::checked() const {
  const bool is_current =
      graph_ != nullptr &&
      graph_->nodes_[graph_->values_[id_.index].node.index].generation == generation_;
  if (!is_current) refuse_handle();
  return *graph_;
}
#else
Node::Node(Graph* graph, NodeId id) : graph_(graph), id_(id) {}
Value::Value(Graph* graph, ValueId id) : graph_(graph), id_(id) {}
Graph& Node::checked() const {
  return *graph_;
}
Graph& Value::checked() const {
  return *graph_;
}
#endif

Node Value::node() const {
  return {&checked(), graph_->values_[id_.index].node};
}
std::uint64_t Value::key() const {
  return std::uint64_t{graph_->serial()} << 32U | id_.index;
}
MetaId Value::meta_id() const {
  return checked().values_[id_.index].meta;
}
std::uint32_t Value::use_count() const {
  return checked().values_[id_.index].use_count;
}

std::uint64_t Node::key() const {
  return std::uint64_t{graph_->serial()} << 32U | id_.index;
}
NodeKind Node::kind() const {
  return checked().nodes_[id_.index].kind;
}
OpId Node::op() const {
  return checked().nodes_[id_.index].op;
}
bool Node::is_alive() const {
  return valid() && graph_->nodes_[id_.index].alive;
}
std::uint32_t Node::value_count() const {
  return checked().nodes_[id_.index].value_count;
}
Value Node::value(std::uint32_t index) const {
  if (index >= value_count()) refuse_value(index);
  return {graph_, ValueId{graph_->nodes_[id_.index].first_value + index}};
}
bool Node::has_no_uses() const {
  const Graph::NodeRecord& record = checked().nodes_[id_.index];
  for (std::uint32_t value = record.first_value; value < record.first_value + record.value_count;
       ++value) {
    if (graph_->values_[value].use_count != 0) return false;
  }
  return true;
}
std::uint32_t Node::argument_count() const {
  return checked().nodes_[id_.index].slot_count;
}
Argument Node::argument(std::uint32_t index) const {
  if (index >= argument_count()) refuse_argument(index);
  return graph_->read_slot(graph_->nodes_[id_.index].first_slot + index);
}
Node Node::next() const {
  return checked().node_at(graph_->nodes_[id_.index].next);
}
Node Node::prev() const {
  return checked().node_at(graph_->nodes_[id_.index].prev);
}
bool Node::before(Node other) const {
  return checked().comes_before(id_, other.id_);
}

inline Argument Graph::read_slot(std::uint32_t slot) const {
  const Slot& content = slots_[slot];
  const ArgumentKind kind = slot_kinds_[slot];
  if (kind == ArgumentKind::value) return Argument::of_value(ValueId{content.a}, serial_);
  if (kind == ArgumentKind::list) return Argument::slots(SlotId{content.a}, content.b);
  return Argument::from_bits(kind, content.a | static_cast<std::uint64_t>(content.b) << 32);
}

inline NodeRange Graph::nodes() const {
  return NodeRange(*this);
}

inline NodeIterator& NodeIterator::operator++() {
  const RecordArray<Graph::NodeRecord>& records = graph_->nodes_;
  do {
    node_ = records[node_.index].next;
  } while (node_.valid() && !records[node_.index].alive);
  // Nodes mostly lie in the order of the list, but the processor cannot know: each link must come
  // from memory before it sees the next. Measured at a million nodes: 6.3 ns a node without, 4.7
  // with 16 records ahead, 2.6 with 32, 2.3 from 64 on.
  constexpr std::size_t ahead = 64;
  records.prefetch(node_.index + ahead);
  return *this;
}

}  // namespace winze
