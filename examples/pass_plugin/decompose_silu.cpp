// SPDX-License-Identifier: Apache-2.0
// silu(x) = x * sigmoid(x), as a pass that `winze --load-pass-plugin` loads.
#include "winze/builders/aten/mul.h"
#include "winze/builders/aten/sigmoid.h"
#include "winze/ir/graph.h"
#include "winze/pass/pass_context.h"
#include "winze/pass/pass_options.h"
#include "winze/pass/plugin.h"
#include "winze/schema/op_ids.h"

namespace {

using namespace winze;

struct DecomposeSiluOptions {
  bool half = false;
};

const OptionTable& decompose_silu_options() {
  using Options = DecomposeSiluOptions;
  static const OptionTable table = OptionTable::describe<Options>({
      option("half", &Options::half, "also in half precision, where the result is rounded twice"),
  });
  return table;
}

bool is_half(Value value) {
  const ScalarType dtype = value.meta().tensor.dtype;
  return dtype == ScalarType::float16 || dtype == ScalarType::bfloat16;
}

void decompose_silu(Graph& graph, PassContext& context) {
  const auto& options = context.options<DecomposeSiluOptions>();
  for (Node silu : graph.find_nodes(op::aten_silu_default)) {
    if (is_half(silu.value()) && !options.half) {
      context.note("{} was left: it is in half precision", silu);
      continue;
    }
    const auto here = graph.inserting_before(silu);
    const Value x = silu.argument_value(0);
    const Value product = aten::mul(graph, x, aten::sigmoid(graph, x));
    silu.value().replace_all_uses_with(product);
    silu.erase();
  }
}

constexpr PassInfo decompose_silu_info{
    .name = "decompose-silu",
    .summary = "Replaces silu by a product with a sigmoid.",
    .description = "For engines that have no silu. Half precision is left unless asked for.",
    .example_before = R"(graph forward(%x: f32[2]) {
  %y = aten.silu(%x) : f32[2]
  return %y
})",
    .example_after = R"(graph forward(%x: f32[2]) {
  %0 = aten.sigmoid(%x) : f32[2]
  %1 = aten.mul.Tensor(%x, %0) : f32[2]
  return %1
})",
    .group = "decompose",
    .run = decompose_silu,
    .scope = PassScope::every_graph,
    .options = decompose_silu_options,
    .triggers = {op::aten_silu_default},
};

void register_passes(PassRegistry& registry) {
  registry.add(decompose_silu_info);
}

}  // namespace

WINZE_PASS_PLUGIN(register_passes);
