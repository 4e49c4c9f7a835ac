// SPDX-License-Identifier: Apache-2.0
#include "winze/passes/cleanup/dead_code.h"

#include <vector>

#include <tsl/robin_set.h>

#include "winze/effects/alias_analysis.h"
#include "winze/effects/backward_slice.h"
#include "winze/effects/call_effects.h"

namespace winze {
namespace {

/// Adds what can be seen outside the program: what it returns, writes to its inputs, and calls that
/// matter for more than results and writes.
void add_live_roots(Graph& root, BackwardSlice& slice) {
  CallEffects effects(root.context());
  slice.add(root.output_node());
  for (Graph* graph : slice.graphs()) {
    for (const Node node : graph->nodes()) {
      if (!node.is_call() || root.context().ops().get(node.op()).effects.is_pure()) continue;
      const CallFacts facts = effects.facts(node);
      if (facts.is_random || facts.is_unknown || facts.ordering != Ordering::none) slice.add(node);
    }
  }
  slice.add_writes_to_inputs();
}

/// The graphs whose nodes may be live, outer ones first; those that dead calls run are left out.
std::vector<Graph*> live_graphs(const BackwardSlice& slice) {
  std::vector<Graph*> live;
  tsl::robin_set<const Graph*> is_run;
  for (Graph* graph : slice.graphs()) {
    const Node holder = slice.holder(*graph);
    if (holder && !(is_run.contains(&holder.graph()) && slice.contains(holder))) continue;
    is_run.insert(graph);
    live.push_back(graph);
  }
  return live;
}

bool may_be_erased(Node node) {
  return node.is_call() || node.kind() == NodeKind::get_attr;
}

}  // namespace

void eliminate_dead_code(Graph& graph, PassContext& context) {
  if (!graph.output_node()) return;
  const AliasAnalysis aliases = context.alias_analysis(graph);
  BackwardSlice live(graph, aliases);
  add_live_roots(graph, live);
  live.close();
  for (Graph* each : live_graphs(live)) {
    for (Node node = each->last(); node;) {
      const Node before = node.prev();
      if (may_be_erased(node) && !live.contains(node)) node.erase();
      node = before;
    }
  }
}

}  // namespace winze
