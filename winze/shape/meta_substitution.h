// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "winze/ir/graph.h"

namespace winze {

/// Replaces symbols in metas. Each meta is looked at once.
class MetaSubstitution {
 public:
  MetaSubstitution(Context& context, SymMap replacements);

  [[nodiscard]] SymExpr operator()(SymExpr expression);
  [[nodiscard]] MetaId operator()(MetaId meta);
  /// In every meta of the graph and of those nested in it. O(values).
  void apply(Graph& root);

 private:
  [[nodiscard]] MetaId replaced(MetaId meta);

  Context& context_;
  SymMap replacements_;
  std::vector<MetaId> metas_;  ///< by the old one's index; invalid where not asked yet
};

}  // namespace winze
