// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <tsl/robin_set.h>

#include "winze/ir/graph.h"

namespace winze {

/// Of which calls of a graph the metas of the operands tell what they yield. Not of those
/// - between `_enter_autocast` and `_exit_autocast`, which convert arguments first;
/// - with an operand whose sizes or strides are changed in place (`t_`, `squeeze_`): a value has
/// one
///   meta, and such a tensor has one before and another one afterwards.
class OperandMetas {
 public:
  /// O(calls that are either), which most graphs have none of.
  explicit OperandMetas(const Graph& graph);
  /// Why they do not tell it; empty where they do. O(log borders of autocast, and the operands).
  [[nodiscard]] std::string_view why_untold(const Node& call) const;
  [[nodiscard]] bool tell(const Node& call) const { return why_untold(call).empty(); }

 private:
  struct Border {
    Node node;
    int depth_behind = 0;
  };
  void find_autocast(const Graph& graph);
  void find_changed_in_place(const Graph& graph);
  [[nodiscard]] bool is_under_autocast(const Node& call) const;

  std::vector<Border> borders_;  ///< of autocast, in order
  /// Nodes that stand for a tensor whose sizes or strides change.
  tsl::robin_set<std::uint32_t> changed_in_place_;
};

}  // namespace winze
