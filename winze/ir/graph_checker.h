// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "winze/ir/graph.h"
#include "winze/ir/verifier_findings.h"

namespace winze {

/// Checks the storage of a graph: whether what its arrays say of each other agrees. Reads nothing
/// that it has not checked before, so that a broken graph yields findings and no crash.
///
/// The static functions open that storage to tests, which break it on purpose.
class GraphChecker {
 public:
  GraphChecker(const Graph& graph, Findings& findings) : graph_(&graph), findings_(&findings) {}

  /// Everything of this graph, without those nested in it. O(nodes, values and arguments).
  void check();
  /// The given nodes, and where they touch their neighbours. O(arguments and results).
  void check_nodes(std::span<const Node> nodes);

  static auto& nodes(Graph& graph) { return graph.nodes_; }
  static auto& node_sides(Graph& graph) { return graph.node_sides_; }
  static auto& values(Graph& graph) { return graph.values_; }
  static auto& slots(Graph& graph) { return graph.slots_; }
  static auto& slot_kinds(Graph& graph) { return graph.slot_kinds_; }
  static auto& buckets(Graph& graph) { return graph.buckets_; }
  static auto& first(Graph& graph) { return graph.first_; }
  static auto& last(Graph& graph) { return graph.last_; }
  static auto& alive(Graph& graph) { return graph.alive_; }
  static auto& holder(Graph& graph) { return graph.holder_; }
  static auto& result_structures(Graph& graph) { return graph.result_structures_; }
  static auto& positional_counts(Graph& graph) { return graph.positional_counts_; }
  static auto& value_names(Graph& graph) { return graph.value_names_; }
  static auto& observed(Graph& graph) { return graph.observed_; }
  /// Graphs nested in this one, those no longer in use too; null where one was dropped.
  static const Graph* nested(const Graph& graph, std::uint32_t index) {
    return index < graph.subgraphs_.size() ? graph.subgraphs_[index].get() : nullptr;
  }
  static NodeId holder_of(const Graph& graph) { return graph.holder_; }
  /// The given name of a value as the graph keeps it; invalid where there is none.
  static StringId name_of(const Graph& graph, ValueId value) {
    return value.index < graph.value_names_.size() ? graph.value_names_[value.index] : StringId{};
  }

 private:
  using Record = Graph::NodeRecord;

  bool check_list();
  void check_order();
  bool check_ranges(NodeId node);
  void check_slots(NodeId node);
  void check_slot(NodeId node, std::uint32_t slot, int depth);
  void check_operand(NodeId node, std::uint32_t slot);
  void check_nested(NodeId node, std::uint32_t index);
  void check_values(NodeId node);
  void check_uses(NodeId node, std::uint32_t value);
  void check_shape(NodeId node);
  void check_placement();
  void check_index();
  void check_bucket(std::uint32_t key, const Graph::Bucket& list);
  void check_side_tables();
  void check_local_links(NodeId node);
  void check_local_uses(NodeId node, std::uint32_t value);

  [[nodiscard]] const Record& record(NodeId node) const { return graph_->nodes_[node.index]; }
  [[nodiscard]] const Graph::NodeSideRecord& side(NodeId node) const {
    return graph_->node_sides_[node.index];
  }
  [[nodiscard]] bool in_range(NodeId node) const { return node.index < graph_->nodes_.size(); }
  [[nodiscard]] bool is_alive(NodeId node) const { return in_range(node) && record(node).alive; }

  template <typename... Args>
  void add(NodeId node, fmt::format_string<Args...> format, Args&&... args) {
    findings_->add(*graph_, node, fmt::format(format, std::forward<Args>(args)...));
  }

  const Graph* graph_;
  Findings* findings_;
  std::vector<bool> seen_slots_;   // of a node that was checked
  std::vector<bool> seen_nested_;  // graphs held by a call
  std::size_t operands_ = 0;       // slots that hold a value
  std::size_t uses_ = 0;           // entries of use lists
};

}  // namespace winze
