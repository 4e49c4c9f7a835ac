// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "winze/ir/graph.h"
#include "winze/pass/pass_context.h"
#include "winze/pass/pass_info.h"

namespace winze {

struct InferShapesOptions {
  std::vector<std::string> sym;
  std::vector<std::string> input;
};
[[nodiscard]] const OptionTable& infer_shapes_options();

void infer_shapes(Graph& graph, PassContext& context);

inline constexpr PassInfo infer_shapes_info{
    .name = "infer-shapes",
    .summary = "Infers dtypes, sizes and strides of every value anew, also for other input sizes.",
    .description =
        R"(With `sym` and `input`, which `winze lower --sym` and `--input` set, a program is made for other
sizes: a dynamic size becomes a number or gets another range, a static one becomes dynamic. Ranges,
hints and guards of the program follow; recorded sample inputs that do not fit any more are dropped,
with a warning.

A number that export wrote into the program because the example had that size (`view(%x, [2, 8, 32])`)
is not known as one. Where the new sizes contradict it, or hold for one value of a symbol alone, the
pass fails and names each such number, the call that it stands in, the symbol and the value; it never
takes such a number for a size, or a size for that of the example. Where nothing contradicts it the
pass warns: of ends of a `slice`, of what `arange` and the like make, of operands such as the divisor
of a mean. Numbers that were computed from a size (its root, one less) are not seen.

Metas that say the same are left as they are spelled. A call without a shape rule keeps its results as
long as its inputs do not change, else the pass fails.)",
    .example_before = R"(graph forward(%x: f32[2, 3]) {
  %y = aten.sum.dim_IntList(%x, [1]) : f32[3]
  return %y
})",
    .example_after = R"(graph forward(%x: f32[2, 3]) {
  %y = aten.sum.dim_IntList(%x, [1]) : f32[2]
  return %y
})",
    .group = "shape",
    .run = infer_shapes,
    .options = infer_shapes_options,
    .edits_stand_together = true,
};

}  // namespace winze
