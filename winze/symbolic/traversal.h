// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <tsl/robin_map.h>

#include "winze/symbolic/symbolic_context.h"

namespace winze {

/// The distinct nodes of an expression, operands before what uses them, without recursion and in
/// time linear in their number however often they are shared. Integers are left out: they are
/// values, not nodes.
class Traversal {
 public:
  Traversal(const SymbolicContext& context, SymExpr root);

  /// The nodes; the root is the last, unless it is an integer.
  [[nodiscard]] const std::vector<SymExpr>& order() const { return order_; }
  /// The place of a node in `order()`.
  [[nodiscard]] std::size_t place(SymExpr node) const;

 private:
  static constexpr std::size_t few = 16;
  bool visit(SymExpr node);

  std::vector<SymExpr> order_;  // sorted by index: operands have smaller indices
  tsl::robin_map<std::uint32_t, std::uint32_t> seen_;  // only used for more than a few nodes
};

}  // namespace winze
