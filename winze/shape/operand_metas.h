// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <tsl/robin_set.h>

#include "winze/ir/graph.h"

namespace winze {

/// The parts of a graph between `_enter_autocast` and `_exit_autocast`.
class AutocastRegions {
 public:
  /// O(borders, and their logarithm).
  explicit AutocastRegions(const Graph& graph);
  /// Whether the innermost region around the node has autocast on; nothing where it is in none.
  [[nodiscard]] std::optional<bool> at(const Node& node) const;

 private:
  struct Border {
    Node node;
    std::optional<bool> is_on_behind;
  };
  std::vector<Border> borders_;  ///< in order
};

/// Of which calls of a graph the metas of the operands tell what they yield. Not of those
/// - under autocast, which converts arguments first: between `_enter_autocast` and `_exit_autocast`
///   or in the body of a `wrap_with_autocast`, unless these turn it off;
/// - with an operand whose sizes or strides are changed in place (`t_`, `squeeze_`): a value has
///   one meta, and such a tensor has one before and another one afterwards.
class OperandMetas {
 public:
  /// O(calls that are either, which most graphs have none of, and the graphs around it).
  explicit OperandMetas(const Graph& graph);
  /// Why they do not tell it; empty where they do. O(log borders of autocast, and the operands).
  [[nodiscard]] std::string_view why_untold(const Node& call) const;
  [[nodiscard]] bool tell(const Node& call) const { return why_untold(call).empty(); }

 private:
  void find_changed_in_place(const Graph& graph);

  AutocastRegions autocast_;
  bool is_autocast_around_ = false;  ///< where none of the graph's own regions is
  /// Nodes that stand for a tensor whose sizes or strides change.
  tsl::robin_set<std::uint32_t> changed_in_place_;
};

}  // namespace winze
