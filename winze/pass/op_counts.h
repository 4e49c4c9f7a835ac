// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "winze/ir/graph.h"
#include "winze/pass/report.h"

namespace winze {

/// How many calls of each operator there are in a graph and those nested in it.
class OpCounts {
 public:
  /// O(nodes).
  explicit OpCounts(const Graph& root);

  /// Nodes of every kind.
  [[nodiscard]] std::size_t nodes() const { return nodes_; }
  /// The operators whose number is another in `later`, by name.
  [[nodiscard]] std::vector<OpCountChange> changes(const OpCounts& later,
                                                   const OpRegistry& ops) const;

 private:
  std::size_t nodes_ = 0;
  std::vector<std::size_t> counts_;  ///< by operator
};

}  // namespace winze
