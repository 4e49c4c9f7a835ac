// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "winze/ir/graph.h"
#include "winze/pass/pass_context.h"
#include "winze/pass/pass_info.h"
#include "winze/schema/op_ids.h"

namespace winze {

/// Which checks go.
struct RemoveAssertNodesOptions {
  bool scalar = true;
  bool metadata = true;
  bool async = false;
  bool range = false;
};

[[nodiscard]] const OptionTable& remove_assert_nodes_options();
void remove_assert_nodes(Graph& graph, PassContext& context);

inline constexpr PassInfo remove_assert_nodes_info{
    .name = "remove-assert-nodes",
    .summary = "Drops run-time checks of the kinds asked for.",
    .description =
        R"(For runtimes that have no assertions. A program that would have stopped with a message goes on
with wrong sizes or values instead, so no named pipeline has this pass. What only fed a check is
left to `dead-code`. Checks that return a token give back the one they were given.)",
    .example_before = R"(graph forward(%x: f32[2, 3]) {
  aten._assert_tensor_metadata(%x, None, None, f32)
  %y = aten.relu(%x) : f32[2, 3]
  return %y
})",
    .example_after = R"(graph forward(%x: f32[2, 3]) {
  %y = aten.relu(%x) : f32[2, 3]
  return %y
})",
    .group = "cleanup",
    .run = remove_assert_nodes,
    .scope = PassScope::every_graph,
    .options = remove_assert_nodes_options,
    .triggers = {op::aten__assert_scalar_default, op::aten__functional_assert_scalar_default,
                 op::aten__assert_tensor_metadata_default, op::aten__assert_async_default,
                 op::aten__assert_async_msg, op::aten__functional_assert_async_msg,
                 op::aten_sym_constrain_range_default,
                 op::aten_sym_constrain_range_for_size_default,
                 op::aten__functional_sym_constrain_range_default,
                 op::aten__functional_sym_constrain_range_for_size_default},
};

}  // namespace winze
