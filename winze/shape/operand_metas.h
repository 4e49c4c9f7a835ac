// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <tsl/robin_set.h>

#include "winze/ir/graph.h"

namespace winze {

/// The parts of a graph between calls that enter something and the calls that leave it.
class Regions {
 public:
  /// O(borders, and their logarithm).
  Regions(const Graph& graph, OpId enter, OpId leave);
  [[nodiscard]] bool empty() const { return borders_.empty(); }
  /// The call that enters the innermost region around the node; invalid where it is in none.
  /// O(log borders), as the next one is.
  [[nodiscard]] Node innermost(const Node& node) const;
  /// How many regions are around the node.
  [[nodiscard]] std::size_t depth(const Node& node) const;

 private:
  struct Border {
    Node node;
    Node innermost_behind;
    std::size_t depth_behind;
  };
  [[nodiscard]] const Border* border_before(const Node& node) const;

  std::vector<Border> borders_;  ///< in order
};

/// Of which calls of a graph the metas of the operands tell what they yield. Not of those
/// - under autocast, which converts arguments first: between `_enter_autocast` and `_exit_autocast`
///   or in the body of a `wrap_with_autocast`, unless these turn it off;
/// - with an operand whose sizes or strides are changed in place (`t_`, `squeeze_`): a value has
///   one meta, and such a tensor has one before and another one afterwards.
///
/// And of which they tell dtype and sizes only: under a vmap, as export keeps it, a tensor has its
/// mapped dimension in memory but not in its meta, and how an operator lays out its result depends
/// on both.
class OperandMetas {
 public:
  /// O(calls that are one of these, which most graphs have none of, and the graphs around it).
  explicit OperandMetas(const Graph& graph);
  /// Why they do not tell it; empty where they do. O(log borders of autocast, and the operands).
  [[nodiscard]] std::string_view why_untold(const Node& call) const;
  [[nodiscard]] bool tell(const Node& call) const { return why_untold(call).empty(); }
  /// Whether they tell the strides and the offset of its results, where they tell anything.
  [[nodiscard]] bool tell_layout(const Node& call) const {
    return !lacks_dimension_.contains(call.id().index);
  }

 private:
  void find_changed_in_place(const Graph& graph);
  void find_lacking_dimension(const Graph& graph);

  Regions autocast_;
  bool is_autocast_around_ = false;  ///< where none of the graph's own regions is
  /// Nodes that stand for a tensor whose sizes or strides change.
  tsl::robin_set<std::uint32_t> changed_in_place_;
  /// Calls whose results have a dimension that their metas lack.
  tsl::robin_set<std::uint32_t> lacks_dimension_;
};

}  // namespace winze
