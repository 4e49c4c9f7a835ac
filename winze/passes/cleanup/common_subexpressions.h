// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "winze/ir/graph.h"
#include "winze/pass/pass_context.h"
#include "winze/pass/pass_info.h"

namespace winze {

void merge_common_subexpressions(Graph& graph, PassContext& context);

inline constexpr PassInfo common_subexpressions_info{
    .name = "common-subexpressions",
    .summary = "Merges calls of one operator with equal arguments and equal results.",
    .description =
        R"(Only calls that are pure and give the same each time: no random draws, no uninitialized memory,
no assertions, nothing unknown. Two calls stay apart where something they read is written
between them; where a result of either is written later; and where both results are returned,
since the caller would get one tensor for two. Calls before and after a change of global state
(autocast, grad mode) stay apart, and so do calls in different nested graphs. Metas must be
equal, symbols included. O(nodes + arguments).)",
    .example_before = R"(graph forward(%x: f32[2]) {
  %a = aten.relu(%x) : f32[2]
  %b = aten.relu(%x) : f32[2]
  %y = aten.add.Tensor(%a, %b) : f32[2]
  return %y
})",
    .example_after = R"(graph forward(%x: f32[2]) {
  %a = aten.relu(%x) : f32[2]
  %y = aten.add.Tensor(%a, %a) : f32[2]
  return %y
})",
    .group = "cleanup",
    .run = merge_common_subexpressions,
};

}  // namespace winze
