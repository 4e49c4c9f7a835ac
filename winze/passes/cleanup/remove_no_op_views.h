// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "winze/ir/graph.h"
#include "winze/pass/pass_context.h"
#include "winze/pass/pass_info.h"
#include "winze/schema/op_ids.h"

namespace winze {

void remove_no_op_views(Graph& graph, PassContext& context);

inline constexpr PassInfo remove_no_op_views_info{
    .name = "remove-no-op-views",
    .summary = "Replaces views that leave sizes, strides and offset as they are by their input.",
    .description =
        R"(`view`, `reshape` and `flatten` to the same sizes, `expand` to them, `slice` of everything, `squeeze`
of no dimension, `permute` that keeps the order, `alias`. Sizes are equal where their expressions are.
A view shares storage with its input, so nothing changes in who sees a write. It stays where the
caller could tell that two tensors became one (two results share the storage, or a result shares
that of an input), where both have a use that makes an unbacked symbol, and where sizes or strides
are changed in place. `view`, `reshape` and `flatten` of (a view of) an input stay where strides or
offset are seen: they give dimensions of size 1 strides of their own.)",
    .example_before = R"(graph forward(%x: f32[2, 3]) {
  %y = aten.slice.Tensor(%x, 1, 0, 9223372036854775807) : f32[2, 3]
  %z = aten.expand(%y, [-1, 3]) : f32[2, 3]
  %r = aten.relu(%z) : f32[2, 3]
  return %r
})",
    .example_after = R"(graph forward(%x: f32[2, 3]) {
  %r = aten.relu(%x) : f32[2, 3]
  return %r
})",
    .group = "cleanup",
    .run = remove_no_op_views,
    .triggers = {op::aten_view_default, op::aten_reshape_default, op::aten_flatten_using_ints,
                 op::aten_expand_default, op::aten_slice_Tensor, op::aten_squeeze_default,
                 op::aten_squeeze_dim, op::aten_squeeze_dims, op::aten_permute_default,
                 op::aten_alias_default},
};

}  // namespace winze
