// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "winze/ir/graph.h"

namespace winze {

/// The stretches of a graph between `_enter_autocast` and `_exit_autocast`. What a call in one of
/// them yields does not follow from its arguments, since autocast converts these first.
class AutocastRegions {
 public:
  /// O(borders), which most graphs have none of.
  explicit AutocastRegions(const Graph& graph);
  /// Whether autocast may be on where this node stands. O(log borders).
  [[nodiscard]] bool cover(const Node& node) const;

 private:
  struct Border {
    Node node;
    int depth_behind = 0;
  };
  std::vector<Border> borders_;  ///< in order
};

}  // namespace winze
