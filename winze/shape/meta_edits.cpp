// SPDX-License-Identifier: Apache-2.0
#include "winze/shape/meta_edits.h"

#include "winze/support/integer_map.h"

#include <tsl/robin_map.h>

namespace winze {

MetaEdits meta_edits(Graph& root) {
  MetaEdits edits;
  tsl::robin_map<const Graph*, Graph*> graphs;
  for (Graph* graph : root.all_graphs()) graphs.emplace(graph, graph);
  IntegerSet seen;  // values that took uses over: often the same one
  const Journal& journal = root.journal();
  for (std::size_t index = 0; index < journal.pending(); ++index) {
    const Journal::Entry entry = journal.entry(index);
    const auto found = graphs.find(entry.graph);
    if (found == graphs.end()) continue;  // erased with the call that held it
    const Graph& graph = *found->second;
    if (entry.kind == EditKind::replace_uses) {
      const Value value = graph.value_at(entry.replacement);
      if (seen.insert(value.key()).second && value.node().is_alive())
        edits.replacements.push_back(value);
      continue;
    }
    const Node node = graph.node_at(entry.node);
    if (!node || !node.is_alive()) continue;
    if (entry.kind == EditKind::create_node || entry.kind == EditKind::set_slot) {
      if (node.is_call()) edits.calls.push_back(node);
    } else if (entry.kind == EditKind::set_meta) {
      for (std::uint32_t at = 0; at < node.value_count(); ++at)
        edits.retyped.push_back(node.value(at));
    }
  }
  return edits;
}

std::vector<Node> calls_behind(const MetaEdits& edits) {
  std::vector<Node> calls;
  IntegerSet seen;
  const auto add = [&](const Node& node) {
    if (node.is_call() && seen.insert(node.key()).second) calls.push_back(node);
  };
  for (const Node& call : edits.calls) add(call);
  for (const std::vector<Value>* values : {&edits.retyped, &edits.replacements}) {
    for (const Value& value : *values) {
      if (values == &edits.retyped) add(value.node());
      for (const Use use : value.uses()) add(use.node);
    }
  }
  return calls;
}

}  // namespace winze
