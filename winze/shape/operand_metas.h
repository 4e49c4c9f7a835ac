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
///   one meta, and such a tensor has one before and another one afterwards.
///
/// And of which they tell dtype and sizes only: under a vmap, as export keeps it, a tensor has its
/// mapped dimension in memory but not in its meta, and how an operator lays out its result depends
/// on both.
class OperandMetas {
 public:
  /// O(calls that are one of these), which most graphs have none of.
  explicit OperandMetas(const Graph& graph);
  /// Why they do not tell it; empty where they do. O(log borders of autocast, and the operands).
  [[nodiscard]] std::string_view why_untold(const Node& call) const;
  [[nodiscard]] bool tell(const Node& call) const { return why_untold(call).empty(); }
  /// Whether they tell the strides and the offset of its results, where they tell anything.
  [[nodiscard]] bool tell_layout(const Node& call) const {
    return !lacks_dimension_.contains(call.id().index);
  }

 private:
  /// Stretches of a graph between calls that enter and calls that leave something.
  class Stretches {
   public:
    Stretches(const Graph& graph, OpId enter, OpId leave);
    [[nodiscard]] bool empty() const { return borders_.empty(); }
    /// How often it is entered and not left yet. O(log borders).
    [[nodiscard]] int depth(const Node& call) const;

   private:
    struct Border {
      Node node;
      int depth_behind = 0;
    };
    std::vector<Border> borders_;  ///< in order
  };
  void find_changed_in_place(const Graph& graph);
  void find_lacking_dimension(const Graph& graph);

  Stretches autocast_;
  /// Nodes that stand for a tensor whose sizes or strides change.
  tsl::robin_set<std::uint32_t> changed_in_place_;
  /// Calls whose results have a dimension that their metas lack.
  tsl::robin_set<std::uint32_t> lacks_dimension_;
};

}  // namespace winze
