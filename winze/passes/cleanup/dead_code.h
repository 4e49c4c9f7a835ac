// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "winze/ir/graph.h"
#include "winze/pass/pass_context.h"
#include "winze/pass/pass_info.h"

namespace winze {

void eliminate_dead_code(Graph& graph, PassContext& context);

inline constexpr PassInfo dead_code_info{
    .name = "dead-code",
    .summary = "Erases what nobody uses and nobody can see, in nested graphs too.",
    .description =
        R"(Kept are assertions, prints, collectives, random draws (each moves the generator on for the
next), calls of operators that are not known, calls that run graphs with any of these, and
writes to storage that is an input, is returned, or is read by something that is kept. A write
to fresh storage that nobody reads goes. Inputs stay.)",
    .example_before = R"(graph forward(%x: f32[2]) {
  %unused = aten.relu(%x) : f32[2]
  %temporary = aten.clone(%x) : f32[2]
  %written = aten.add_.Tensor(%temporary, 1) : f32[2]
  %in_place = aten.mul_.Tensor(%x, 2) : f32[2]
  %y = aten.neg(%x) : f32[2]
  return %y
})",
    .example_after = R"(graph forward(%x: f32[2]) {
  %in_place = aten.mul_.Tensor(%x, 2) : f32[2]
  %y = aten.neg(%x) : f32[2]
  return %y
})",
    .group = "cleanup",
    .run = eliminate_dead_code,
};

}  // namespace winze
