// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "winze/ir/graph.h"
#include "winze/pass/pass_context.h"
#include "winze/pass/pass_info.h"
#include "winze/schema/op_ids.h"

namespace winze {

void inline_no_grad_regions(Graph& graph, PassContext& context);

inline constexpr PassInfo inline_no_grad_regions_info{
    .name = "inline-no-grad-regions",
    .summary = "Puts the body of wrap_with_set_grad_enabled in place of the call.",
    .description =
        R"(Without autograd the region computes what its body does. For programs that are run, not for
those that are trained: it does nothing where a program returns gradients. Metas stay as they
are, `requires_grad` included. A region stays, and a warning says so, where a parameter, a buffer or
an input is written in it or from what it yields, without other gradients: in grad mode that is an
error or keeps gradients alive. So does one that returns a constant someone uses, or is given one.)",
    .example_before = R"(graph forward(%x: f32[2]) {
  %y = higher_order.wrap_with_set_grad_enabled(False, graph body(%a: f32[2]) {
    %b = aten.relu(%a) : f32[2]
    return %b
  }, %x) : f32[2]
  return %y
})",
    .example_after = R"(graph forward(%x: f32[2]) {
  %b = aten.relu(%x) : f32[2]
  return %b
})",
    .group = "cleanup",
    .run = inline_no_grad_regions,
    .triggers = {op::higher_order_wrap_with_set_grad_enabled},
};

}  // namespace winze
