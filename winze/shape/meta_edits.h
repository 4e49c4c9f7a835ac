// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "winze/ir/graph.h"

namespace winze {

/// The edits of a transaction that metas may follow from.
struct MetaEdits {
  std::vector<Node> calls;          ///< made, or given other arguments; may hold one twice
  std::vector<Value> retyped;       ///< given another meta
  std::vector<Value> replacements;  ///< now used where another value was
};

/// What the open transaction of the journal did to `root` and the graphs nested in it. Erased nodes
/// are left out. O(edits).
[[nodiscard]] MetaEdits meta_edits(Graph& root);

/// The calls whose results these edits may have made wrong: each once, in no order that means
/// anything. O(edits, and the uses of the values among them).
[[nodiscard]] std::vector<Node> calls_behind(const MetaEdits& edits);

}  // namespace winze
