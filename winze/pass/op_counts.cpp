// SPDX-License-Identifier: Apache-2.0
#include "winze/pass/op_counts.h"

#include <algorithm>

namespace winze {

OpCounts::OpCounts(const Graph& root) : counts_(root.context().ops().size()) {
  for (const Graph* graph : root.all_graphs()) {
    nodes_ += graph->size();
    for (Node node : graph->nodes()) {
      if (node.is_call()) ++counts_[node.op().index];
    }
  }
}

std::vector<OpCountChange> OpCounts::changes(const OpCounts& later, const OpRegistry& ops) const {
  std::vector<OpCountChange> changes;
  const std::size_t size = std::max(counts_.size(), later.counts_.size());
  for (std::uint32_t i = 0; i < size; ++i) {
    const std::size_t before = i < counts_.size() ? counts_[i] : 0;
    const std::size_t after = i < later.counts_.size() ? later.counts_[i] : 0;
    if (before != after)
      changes.push_back({std::string(ops.qualified_name(OpId{i})), before, after});
  }
  std::sort(changes.begin(), changes.end(),
            [](const OpCountChange& a, const OpCountChange& b) { return a.op < b.op; });
  return changes;
}

}  // namespace winze
