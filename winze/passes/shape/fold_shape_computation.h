// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "winze/ir/graph.h"
#include "winze/pass/pass_context.h"
#include "winze/pass/pass_info.h"

namespace winze {

void fold_shape_computation(Graph& graph, PassContext& context);

inline constexpr PassInfo fold_shape_computation_info{
    .name = "fold-shape-computation",
    .summary = "Replaces computation on sizes whose outcome is known by that outcome.",
    .description =
        R"(A number that is known to be a constant becomes one where it is used. Of several that are known to be
equal the first is kept, whatever they are computed from, and the size of an intermediate result that is
also one of an input is read from the input. `item` of a small integer tensor made of constants and sizes
is that number: the symbol that stood for it goes from all metas. Assertions that hold for certain go too.

Constants among the operands of control flow, and those that are returned, stay as they are computed.
Tensors that anything writes to are not looked into.)",
    .example_before = R"(symbol s0 in [2, 64]
graph forward(%x: f32[s0, 4]) {
  %y = aten.relu(%x) : f32[s0, 4]
  %n = aten.sym_size.int(%y, 0) : int = s0
  %m = aten.sym_size.int(%y, 1) : int = 4
  %k = _operator.mul(%n, %m) : int = 4*s0
  %z = aten.view(%y, [%k]) : f32[4*s0]
  %l = aten.sym_size.int(%z, 0) : int = 4*s0
  %o = aten.ones([%l, %m]) : f32[4*s0, 4]
  return %o
})",
    .example_after = R"(symbol s0 in [2, 64]
graph forward(%x: f32[s0, 4]) {
  %y = aten.relu(%x) : f32[s0, 4]
  %n = aten.sym_size.int(%x, 0) : int = s0
  %k = _operator.mul(%n, 4) : int = 4*s0
  %z = aten.view(%y, [%k]) : f32[4*s0]
  %o = aten.ones([%k, 4]) : f32[4*s0, 4]
  return %o
})",
    .group = "shape",
    .run = fold_shape_computation,
};

}  // namespace winze
