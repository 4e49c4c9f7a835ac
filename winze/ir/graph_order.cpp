// SPDX-License-Identifier: Apache-2.0
// The order of the nodes, and the index by operator.
#include <algorithm>
#include <cmath>

#include "winze/ir/graph.h"
#include "winze/ir/op_signature.h"

namespace winze {
namespace {

/// Distance of the order keys of neighbours when there is room: two million nodes fit before it
/// shrinks.
constexpr std::uint32_t order_gap = 2048;
/// The output node's key: everything goes before it.
constexpr std::uint32_t last_order = 0xFFFFFFFF;

}  // namespace

void Graph::link_node(NodeId node, NodeId after) {
  NodeRecord& record = nodes_[node.index];
  record.prev = after;
  record.next = after.valid() ? nodes_[after.index].next : first_;
  relink_node(node);
  assign_order(node);
}

void Graph::relink_node(NodeId node) {
  const NodeRecord& record = nodes_[node.index];
  (record.prev.valid() ? nodes_[record.prev.index].next : first_) = node;
  (record.next.valid() ? nodes_[record.next.index].prev : last_) = node;
}

void Graph::unlink_node(NodeId node) {
  const NodeRecord& record = nodes_[node.index];
  (record.prev.valid() ? nodes_[record.prev.index].next : first_) = record.next;
  (record.next.valid() ? nodes_[record.next.index].prev : last_) = record.prev;
  if (insertion_set_ && insert_after_ == node) insert_after_ = record.prev;
}

void Graph::assign_order(NodeId node) {
  NodeRecord& record = nodes_[node.index];
  if (record.kind == NodeKind::output) {
    record.order = last_order;
    return;
  }
  const std::uint32_t low = record.prev.valid() ? nodes_[record.prev.index].order : 0;
  const std::uint32_t high = record.next.valid() ? nodes_[record.next.index].order : last_order;
  const std::uint32_t room = high - low;
  if (room >= 2) {
    // Most insertions go on right after this one, so the smaller part is left in front of it.
    record.order = low + std::clamp<std::uint32_t>(room / 4, 1, order_gap);
  } else {
    renumber_around(node);
  }
}

/// Gives the nodes of a window around `node` evenly spaced keys. The window grows until the spacing
/// is wide for its size, which makes the cost per insertion logarithmic on average (Bender and
/// others, "Two simplified algorithms for maintaining order in a list", 2002).
void Graph::renumber_around(NodeId node) {
  NodeId left = node;
  NodeId right = node;
  std::uint64_t count = 1;
  std::uint64_t spacing = 0;
  std::uint32_t low = 0;
  for (std::uint64_t wanted = 16;; wanted *= 2) {
    while (count < wanted && nodes_[left.index].prev.valid()) {
      left = nodes_[left.index].prev;
      ++count;
    }
    while (count < wanted * 2 && nodes_[right.index].next.valid() &&
           nodes_[nodes_[right.index].next.index].kind != NodeKind::output) {
      right = nodes_[right.index].next;
      ++count;
    }
    const NodeId before = nodes_[left.index].prev;
    const NodeId after = nodes_[right.index].next;
    low = before.valid() ? nodes_[before.index].order : 0;
    const std::uint32_t high = after.valid() ? nodes_[after.index].order : last_order;
    spacing = (high - low) / (count + 1);
    const bool whole =
        !before.valid() && (!after.valid() || nodes_[after.index].kind == NodeKind::output);
    if (whole ||
        static_cast<double>(spacing) >= std::min(512.0, 16 * std::sqrt(static_cast<double>(count))))
      break;
  }
  spacing = std::min<std::uint64_t>(spacing, order_gap);
  WINZE_CHECK(spacing > 0, "graph \"{}\" has too many nodes", name_);
  std::uint32_t key = low;
  for (NodeId at = left;; at = nodes_[at.index].next) {
    key += static_cast<std::uint32_t>(spacing);
    nodes_[at.index].order = key;
    if (at == right) break;
  }
}

void Graph::move_after(NodeId node, NodeId after) {
  if (node == after || nodes_[node.index].prev == after) return;
  journal_->begin_edit();
  Journal::Record record;
  record.graph = this;
  record.kind = EditKind::move_node;
  record.a = nodes_[node.index].prev.index;
  record.node = node.index;
  journal_->add(record);
  unlink_node(node);
  link_node(node, after);
}

void Graph::move_checked(NodeId node, NodeId after) {
  WINZE_CHECK(!after.valid() || nodes_[after.index].kind != NodeKind::output,
              "a node is to be moved after the output");
  const std::uint32_t place = after.valid() ? nodes_[after.index].order : 0;
  const Node moved = node_at(node);
  for (const Value input : moved.input_values()) {
    if (nodes_[input.node().id().index].order > place) {
      fail("{} is to be moved before {}, which it uses", moved.str(), input.node().str());
    }
  }
  for (const Node user : moved.users()) {
    if (after.valid() && !comes_before(after, user.id())) {
      fail("{} is to be moved behind {}, which uses it", moved.str(), user.str());
    }
  }
  move_after(node, after);
}

NodeId Graph::insertion_predecessor() const {
  if (insertion_set_) return insert_after_;
  return last_.valid() && nodes_[last_.index].kind == NodeKind::output ? nodes_[last_.index].prev
                                                                       : last_;
}

InsertionGuard::InsertionGuard(Graph& graph, NodeId after, SourceId source)
    : graph_(&graph),
      saved_(graph.insert_after_),
      saved_set_(graph.insertion_set_),
      saved_source_(graph.insertion_source_) {
  ++graph.iterations_;
  graph.insert_after_ = after;
  graph.insertion_set_ = true;
  graph.insertion_source_ = source;
}

InsertionGuard::~InsertionGuard() {
  --graph_->iterations_;
  // What was erased meanwhile still tells what stood before it.
  while (saved_.valid() && !graph_->nodes_[saved_.index].alive)
    saved_ = graph_->nodes_[saved_.index].prev;
  graph_->insert_after_ = saved_;
  graph_->insertion_set_ = saved_set_;
  graph_->insertion_source_ = saved_source_;
}

InsertionGuard Graph::inserting_before(Node node) {
  return {*this, nodes_[node.id().index].prev, node.source()};
}
InsertionGuard Graph::inserting_after(Node node) {
  return {*this, node.id(), node.source()};
}

std::uint32_t Graph::index_key(const NodeRecord& record) const {
  constexpr std::uint32_t first_op_key = 4;
  if (record.kind != NodeKind::call_function) return static_cast<std::uint32_t>(record.kind);
  return first_op_key + context_->signature(record.op).op->base.index;
}

void Graph::add_to_index(NodeId node) {
  NodeSideRecord& side = node_sides_[node.index];
  Bucket& bucket = buckets_[index_key(nodes_[node.index])];
  side.same_op_prev = bucket.tail;
  side.same_op_next = NodeId{};
  restore_to_index(node, bucket);
}

void Graph::restore_to_index(NodeId node, Bucket& bucket) {
  const NodeSideRecord& side = node_sides_[node.index];
  (side.same_op_prev.valid() ? node_sides_[side.same_op_prev.index].same_op_next : bucket.head) =
      node;
  (side.same_op_next.valid() ? node_sides_[side.same_op_next.index].same_op_prev : bucket.tail) =
      node;
  ++bucket.count;
}

void Graph::remove_from_index(NodeId node) {
  const NodeSideRecord& side = node_sides_[node.index];
  Bucket& bucket = bucket_of(nodes_[node.index]);
  (side.same_op_prev.valid() ? node_sides_[side.same_op_prev.index].same_op_next : bucket.head) =
      side.same_op_next;
  (side.same_op_next.valid() ? node_sides_[side.same_op_next.index].same_op_prev : bucket.tail) =
      side.same_op_prev;
  --bucket.count;
}

const Graph::Bucket* Graph::bucket(std::uint32_t key) const {
  const auto found = buckets_.find(key);
  return found == buckets_.end() ? nullptr : &found->second;
}

std::vector<Node> Graph::nodes_of(std::uint32_t key, bool sorted) const {
  std::vector<Node> found;
  const Bucket* list = bucket(key);
  if (list == nullptr) return found;
  found.reserve(list->count);
  bool ascending = true;
  for (NodeId at = list->head; at.valid(); at = node_sides_[at.index].same_op_next) {
    ascending = ascending && (found.empty() || comes_before(found.back().id(), at));
    found.push_back(node_at(at));
  }
  if (sorted && !ascending) {
    std::ranges::sort(found, [this](Node a, Node b) { return comes_before(a.id(), b.id()); });
  }
  return found;
}

std::vector<Node> Graph::find_nodes(OpId op, bool sorted) const {
  NodeRecord probe;
  probe.op = op;
  return nodes_of(index_key(probe), sorted);
}

std::vector<Node> Graph::find_nodes(NodeKind kind, bool sorted) const {
  if (kind != NodeKind::call_function) return nodes_of(static_cast<std::uint32_t>(kind), sorted);
  std::vector<Node> found;
  for (Node node : nodes()) {
    if (node.is_call()) found.push_back(node);
  }
  return found;
}

std::uint32_t Graph::count(OpId op) const {
  NodeRecord probe;
  probe.op = op;
  const Bucket* list = bucket(index_key(probe));
  return list == nullptr ? 0 : list->count;
}

}  // namespace winze
