// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "winze/ir/graph.h"
#include "winze/pass/pass_context.h"
#include "winze/pass/pass_info.h"
#include "winze/schema/op_ids.h"

namespace winze {

void remove_no_op_clones(Graph& graph, PassContext& context);

inline constexpr PassInfo remove_no_op_clones_info{
    .name = "remove-no-op-clones",
    .summary = "Replaces clone by its input where neither aliasing nor memory format can tell.",
    .description =
        R"(A clone stays where its strides, or anything else of its meta, differ from its input's, or where
it asks for a memory format; where its input is (a view of) an input of the graph and strides or
offset are seen, as by `view`, `as_strided` or a custom operator, since inputs may come with other
strides than those of the example; where input or clone (or a view of either) is written afterwards;
where both have a use that makes an unbacked symbol; and where the clone is returned while its input
is an input of the graph, part of a larger storage or returned itself, since the caller could then
write to one and see it in the other.)",
    .example_before = R"(graph forward(%x: f32[2]) {
  %y = aten.clone(%x) : f32[2]
  %z = aten.relu(%y) : f32[2]
  return %z
})",
    .example_after = R"(graph forward(%x: f32[2]) {
  %z = aten.relu(%x) : f32[2]
  return %z
})",
    .group = "cleanup",
    .run = remove_no_op_clones,
    .triggers = {op::aten_clone_default},
};

}  // namespace winze
