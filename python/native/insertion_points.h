// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "winze/ir/graph.h"

namespace winze {

/// \throws Error for an output node, behind which nothing goes.
void require_place_behind(Node node);

/// Where the graphs of a program take new nodes. As in torch.fx a point that is set holds until it
/// is left; what a pass sets is left at its end. One between placeholders is behind them.
class InsertionPoints {
 public:
  [[nodiscard]] std::size_t depth() const { return points_.size(); }
  void set_before(Node node);
  void set_after(Node node);
  /// Leaves the points set since there were so many, the last one first. `root` is the program's
  /// own graph: nested ones may be gone.
  void leave(Graph& root, std::size_t depth = 0);

 private:
  struct Point {
    Graph* graph;
    std::unique_ptr<InsertionGuard> guard;
  };
  std::vector<Point> points_;
};

}  // namespace winze
