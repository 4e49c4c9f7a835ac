// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "winze/ir/graph.h"
#include "winze/pass/pass_context.h"
#include "winze/pass/pass_info.h"
#include "winze/schema/op_ids.h"

namespace winze {

void remove_detach(Graph& graph, PassContext& context);

inline constexpr PassInfo remove_detach_info{
    .name = "remove-detach",
    .summary = "Replaces detach by its input: without autograd they are the same tensor.",
    .description =
        R"(`detach` shares storage with its input, so nothing changes in who sees a write. What is lost is
the border that autograd does not cross: the pass is for programs that are run, not for those
that are trained, and it does nothing where a program returns gradients. A `detach` stays where a
parameter, a buffer or an input is written through it without gradients. It becomes
`aten.alias`, which is no border and yet a tensor of its own, where the caller could tell that
two tensors became one (two results share the storage, or a result shares that of an input), and
where sizes or strides of the tensor are changed in place.)",
    .example_before = R"(graph forward(%x: f32[2]) {
  %y = aten.relu(%x) : f32[2]
  %d = aten.detach(%y) : f32[2]
  %z = aten.mul.Tensor(%d, %x) : f32[2]
  return %z
})",
    .example_after = R"(graph forward(%x: f32[2]) {
  %y = aten.relu(%x) : f32[2]
  %z = aten.mul.Tensor(%y, %x) : f32[2]
  return %z
})",
    .group = "cleanup",
    .run = remove_detach,
    .triggers = {op::aten_detach_default, op::aten_detach__default},
};

}  // namespace winze
