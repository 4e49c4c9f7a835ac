// SPDX-License-Identifier: Apache-2.0
#include "winze/passes/cleanup/dead_code.h"

#include <ranges>
#include <vector>

#include <tsl/robin_map.h>

#include "winze/effects/alias_analysis.h"
#include "winze/effects/call_arguments.h"

namespace winze {
namespace {

/// Marks what is live, from what can be seen outside the program backwards: a live node makes live
/// what it uses, the call that runs its graph, and each write to storage that it uses or yields.
class Liveness {
 public:
  Liveness(Graph& root, const AliasAnalysis& aliases)
      : aliases_(aliases), effects_(root.context()), graphs_(root.all_graphs()) {
    for (std::uint32_t i = 0; i < graphs_.size(); ++i) ordinals_.emplace(graphs_[i], i);
    live_.resize(graphs_.size());
    holders_.resize(graphs_.size());
    for (std::uint32_t i = 0; i < graphs_.size(); ++i) live_[i].resize(graphs_[i]->node_capacity());
    group_writes();
    mark(root.output_node());
    for (Graph* graph : graphs_) mark_roots(*graph);
    for (auto& [class_number, writers] : writers_) {
      if (aliases_.is_program_input_class(class_number)) mark_class(class_number);
    }
    while (!pending_.empty()) {
      const Node node = pending_.back();
      pending_.pop_back();
      follow(node);
    }
  }

  /// The graphs whose nodes may be live, outer ones first; those that dead calls run are left out.
  [[nodiscard]] std::vector<Graph*> live_graphs() const {
    std::vector<Graph*> live;
    std::vector<bool> is_run(graphs_.size());
    for (std::uint32_t i = 0; i < graphs_.size(); ++i) {
      const Node holder = holders_[i];
      is_run[i] = !holder || (is_run[ordinals_.at(&holder.graph())] && is_live(holder));
      if (is_run[i]) live.push_back(graphs_[i]);
    }
    return live;
  }

  [[nodiscard]] bool is_live(Node node) const {
    return live_[ordinals_.at(&node.graph())][node.id().index];
  }

 private:
  void group_writes() {
    if (!aliases_.has_writes()) return;
    aliases_.for_each_write([&](const StorageWrite& write, std::uint32_t class_number) {
      writers_[class_number].push_back(write.node);
    });
    live_classes_.resize(aliases_.class_capacity());
  }

  /// Calls that matter for more than results and writes; and which call runs which graph.
  void mark_roots(Graph& graph) {
    for (Node node : graph.nodes()) {
      if (!node.is_call()) continue;
      if (graph.context().ops().get(node.op()).effects.is_pure()) continue;
      for_each_body(node, [&](Graph& body) { holders_[ordinals_.at(&body)] = node; });
      const CallFacts facts = effects_.facts(node);
      if (facts.is_random || facts.is_unknown || facts.ordering != Ordering::none) mark(node);
    }
  }

  void mark(Node node) {
    if (!node) return;
    std::vector<bool>& live = live_[ordinals_.at(&node.graph())];
    if (live[node.id().index]) return;
    live[node.id().index] = true;
    pending_.push_back(node);
  }

  void mark_class(std::uint32_t class_number) {
    if (class_number == AliasAnalysis::no_class || live_classes_[class_number]) return;
    live_classes_[class_number] = true;
    const auto found = writers_.find(class_number);
    if (found == writers_.end()) return;
    for (Node writer : found->second) mark(writer);
  }

  void follow(Node node) {
    const bool has_writes = !writers_.empty();
    for_each_input(node, [&](Value value) {
      mark(value.node());
      if (has_writes) mark_class(aliases_.class_of(value));
    });
    for (std::uint32_t i = 0; has_writes && i < node.value_count(); ++i)
      mark_class(aliases_.class_of(node.value(i)));
    if (node.graph().parent() != nullptr) mark(holders_[ordinals_.at(&node.graph())]);
    if (!node.is_call()) return;
    if (node.graph().context().ops().get(node.op()).effects.runs_graphs)
      for_each_body(node, [&](Graph& body) { mark(body.output_node()); });
  }

  const AliasAnalysis& aliases_;
  CallEffects effects_;
  std::vector<Graph*> graphs_;
  tsl::robin_map<const Graph*, std::uint32_t> ordinals_;
  std::vector<std::vector<bool>> live_;                       ///< by graph and node
  std::vector<Node> holders_;                                 ///< by graph: the call that runs it
  tsl::robin_map<std::uint32_t, std::vector<Node>> writers_;  ///< by storage class
  std::vector<bool> live_classes_;
  std::vector<Node> pending_;
};

bool may_be_erased(Node node) {
  return node.is_call() || node.kind() == NodeKind::get_attr;
}

}  // namespace

void eliminate_dead_code(Graph& graph, PassContext& context) {
  if (!graph.output_node()) return;
  const AliasAnalysis aliases = context.alias_analysis(graph);
  const Liveness liveness(graph, aliases);
  for (Graph* each : liveness.live_graphs()) {
    for (Node node = each->last(); node;) {
      const Node before = node.prev();
      if (may_be_erased(node) && !liveness.is_live(node)) node.erase();
      node = before;
    }
  }
}

}  // namespace winze
