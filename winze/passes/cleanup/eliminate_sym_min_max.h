// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "winze/ir/graph.h"
#include "winze/pass/pass_context.h"
#include "winze/pass/pass_info.h"
#include "winze/schema/op_ids.h"

namespace winze {

void eliminate_sym_min_max(Graph& graph, PassContext& context);

inline constexpr PassInfo eliminate_sym_min_max_info{
    .name = "eliminate-sym-min-max",
    .summary =
        "Replaces `torch.sym_min` and `torch.sym_max` by the operand that it is known to be.",
    .description =
        R"(Slices with an open end give `torch.sym_min(n, 9223372036854775807)`, which is `n`. Where the ranges
of the symbols prove which operand it is, for every size that the program takes, the call goes. It
stays where that operand is a constant.)",
    .example_before = R"(symbol s0 in [2, 64]
graph forward(%x: f32[s0]) {
  %n = aten.sym_size.int(%x, 0) : int = s0
  %m = torch.sym_min(%n, 9223372036854775807) : int = s0
  %y = aten.narrow(%x, 0, 0, %m) : f32[s0]
  return %y
})",
    .example_after = R"(symbol s0 in [2, 64]
graph forward(%x: f32[s0]) {
  %n = aten.sym_size.int(%x, 0) : int = s0
  %y = aten.narrow(%x, 0, 0, %n) : f32[s0]
  return %y
})",
    .group = "cleanup",
    .run = eliminate_sym_min_max,
    .scope = PassScope::every_graph,
    .triggers = {op::torch_sym_min, op::torch_sym_max},
};

}  // namespace winze
