// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "winze/ir/graph.h"
#include "winze/pass/pass_context.h"
#include "winze/pass/pass_info.h"
#include "winze/schema/op_ids.h"

namespace winze {

void remove_no_op_casts(Graph& graph, PassContext& context);

inline constexpr PassInfo remove_no_op_casts_info{
    .name = "remove-no-op-casts",
    .summary = "Replaces `to` and `_to_copy` by their input where dtype, device and layout stay.",
    .description =
        R"(Such a `to` returns its very input, so nobody can tell. `_to_copy`, and `to` with `copy=True`, make
a copy: they stay where `remove-no-op-clones` would leave a clone. So does a call that asks for a
memory format or for pinned memory, since what an input's strides are at run time is not known.)",
    .example_before = R"(graph forward(%x: f32[2]) {
  %y = aten.to.dtype(%x, f32) : f32[2]
  %z = aten.relu(%y) : f32[2]
  return %z
})",
    .example_after = R"(graph forward(%x: f32[2]) {
  %z = aten.relu(%x) : f32[2]
  return %z
})",
    .group = "cleanup",
    .run = remove_no_op_casts,
    .triggers = {op::aten_to_dtype, op::aten_to_dtype_layout, op::aten_to_device, op::aten_to_other,
                 op::aten__to_copy_default},
};

}  // namespace winze
