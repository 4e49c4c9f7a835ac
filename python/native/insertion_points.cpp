// SPDX-License-Identifier: Apache-2.0
#include "python/native/insertion_points.h"

#include <algorithm>

#include "winze/support/diagnostic.h"

namespace winze {

void require_place_behind(Node node) {
  if (node.is_output()) throw Error("nothing goes behind the output node", "go before it");
}

void InsertionPoints::set_before(Node node) {
  if (node.is_placeholder()) return set_after(node);
  Graph& graph = node.graph();
  points_.push_back(
      {&graph, std::unique_ptr<InsertionGuard>(new InsertionGuard(graph.inserting_before(node)))});
}

void InsertionPoints::set_after(Node node) {
  Graph& graph = node.graph();
  if (node.is_placeholder()) node = graph.last_placeholder();
  require_place_behind(node);
  points_.push_back(
      {&graph, std::unique_ptr<InsertionGuard>(new InsertionGuard(graph.inserting_after(node)))});
}

void InsertionPoints::leave(Graph& root, std::size_t depth) {
  while (points_.size() > depth) {
    Point& last = points_.back();
    const std::vector<Graph*> all = root.all_graphs();
    // NOLINTNEXTLINE(bugprone-unused-return-value): it would reach into a graph that is gone.
    if (std::ranges::find(all, last.graph) == all.end()) last.guard.release();
    points_.pop_back();
  }
}

}  // namespace winze
