// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <tsl/robin_map.h>

#include "winze/effects/alias_analysis.h"
#include "winze/ir/graph.h"

namespace winze {

/// The nodes that some nodes depend on: what they use, the writes to storage that they use or
/// yield, the calls that run the graphs where they stand, and what the graphs that they run return.
///
/// Add roots, then `close`. It describes the graphs as they were when it was made; graphs nested
/// since must not be asked for. O(nodes + arguments) for all roots together.
class BackwardSlice {
 public:
  /// `aliases` describes `root` and the graphs nested in it, and outlives this.
  BackwardSlice(Graph& root, const AliasAnalysis& aliases);

  /// Adds a node; an invalid one is passed over.
  void add(Node node);
  /// Adds every node that writes to storage of an input of the program.
  void add_writes_to_inputs();
  /// Follows what was added to all that it depends on.
  void close();

  /// The careful answer for nodes that were made since is that they belong to it.
  [[nodiscard]] bool contains(Node node) const {
    const std::vector<bool>& members = members_[ordinals_.at(&node.graph())];
    return node.id().index >= members.size() || members[node.id().index];
  }
  /// All graphs, outer ones first.
  [[nodiscard]] const std::vector<Graph*>& graphs() const { return graphs_; }
  /// The call that runs a nested graph; invalid for the outermost one.
  [[nodiscard]] Node holder(const Graph& graph) const { return holders_[ordinals_.at(&graph)]; }

 private:
  void add_writes_to(std::uint32_t storage_class);
  void follow(Node node);

  const AliasAnalysis& aliases_;
  std::vector<Graph*> graphs_;
  tsl::robin_map<const Graph*, std::uint32_t> ordinals_;
  std::vector<std::vector<bool>> members_;                    ///< by graph and node
  std::vector<Node> holders_;                                 ///< by graph
  tsl::robin_map<std::uint32_t, std::vector<Node>> writers_;  ///< by storage class
  std::vector<bool> followed_classes_;
  std::vector<Node> pending_;
};

}  // namespace winze
