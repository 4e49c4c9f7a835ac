// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "winze/ir/graph.h"
#include "winze/pass/pass_context.h"
#include "winze/pass/pass_info.h"

namespace winze {

struct RepairInputAsOutputOptions {
  bool views = false;
};

[[nodiscard]] const OptionTable& repair_input_as_output_options();
void repair_input_as_output(Graph& graph, PassContext& context);

inline constexpr PassInfo repair_input_as_output_info{
    .name = "repair-input-as-output",
    .summary =
        "Gives each output that is an input, parameter or buffer as it came in a copy of its own.",
    .description =
        R"(For engines that may not return one of their own inputs. The copy is made at the end, so that it
has what in-place operators wrote. A caller that writes to such an output no longer changes the
input through it: that is why no named pipeline has this pass. With `views`, outputs that share
storage with an input are copied too.)",
    .example_before = R"(graph forward(%x: f32[2], %y: f32[2]) {
  %z = aten.add.Tensor(%x, %y) : f32[2]
  return %z, %x
})",
    .example_after = R"(graph forward(%x: f32[2], %y: f32[2]) {
  %z = aten.add.Tensor(%x, %y) : f32[2]
  %0 = aten.clone(%x) : f32[2]
  return %z, %0
})",
    .group = "cleanup",
    .run = repair_input_as_output,
    .options = repair_input_as_output_options,
    .changes_output_aliasing = true,
};

}  // namespace winze
