// SPDX-License-Identifier: Apache-2.0
#include "winze/symbolic/traversal.h"

#include <algorithm>

namespace winze {

Traversal::Traversal(const SymbolicContext& context, SymExpr root) {
  if (root.is_constant()) return;
  visit(root);
  for (std::size_t next = 0; next < order_.size(); ++next) {
    for (const SymExpr operand : context.operands(order_[next])) {
      if (!operand.is_constant()) visit(operand);
    }
  }
  std::ranges::sort(order_, {}, &SymExpr::index);
}

bool Traversal::visit(SymExpr node) {
  if (order_.size() < few) {
    if (std::ranges::find(order_, node) != order_.end()) return false;
  } else {
    if (seen_.empty()) {
      for (const SymExpr known : order_) seen_.emplace(known.index(), 0);
    }
    if (!seen_.emplace(node.index(), 0).second) return false;
  }
  order_.push_back(node);
  return true;
}

std::size_t Traversal::place(SymExpr node) const {
  const auto found = std::ranges::lower_bound(order_, node.index(), {}, &SymExpr::index);
  return static_cast<std::size_t>(found - order_.begin());
}

}  // namespace winze
