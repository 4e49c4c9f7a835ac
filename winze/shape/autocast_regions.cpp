// SPDX-License-Identifier: Apache-2.0
#include "winze/shape/autocast_regions.h"

#include <algorithm>

#include "winze/schema/op_ids.h"

namespace winze {

AutocastRegions::AutocastRegions(const Graph& graph) {
  for (const OpId op :
       {op::torch_amp_autocast_mode__enter_autocast, op::torch_amp_autocast_mode__exit_autocast}) {
    const int step = op == op::torch_amp_autocast_mode__enter_autocast ? 1 : -1;
    for (const Node node : graph.find_nodes(op, false)) borders_.push_back({node, step});
  }
  std::ranges::sort(borders_,
                    [](const Border& a, const Border& b) { return a.node.before(b.node); });
  int depth = 0;
  for (Border& border : borders_) {
    depth += border.depth_behind;
    border.depth_behind = depth;
  }
}

bool AutocastRegions::cover(const Node& node) const {
  const auto behind = std::ranges::partition_point(
      borders_, [&](const Border& border) { return border.node.before(node); });
  return behind != borders_.begin() && std::prev(behind)->depth_behind > 0;
}

}  // namespace winze
