// SPDX-License-Identifier: Apache-2.0
#include "winze/passes/graph_outputs.h"

namespace winze {

bool returns_gradients(const Graph& graph) {
  const Node output = graph.output_node();
  if (!output) return false;
  const Argument specs = output.argument(1);
  for (std::uint32_t i = 0; specs.is_list() && i < specs.count(); ++i) {
    const Argument spec = output.element(specs, i);
    if (spec.kind() != ArgumentKind::output_spec) continue;
    const OutputKind kind = graph.context().output_spec_of(spec).kind;
    if (kind == OutputKind::gradient_to_parameter || kind == OutputKind::gradient_to_user_input)
      return true;
  }
  return false;
}

}  // namespace winze
