// SPDX-License-Identifier: Apache-2.0
#include "winze/passes/cleanup/remove_detach.h"

#include "winze/builders/aten/alias.h"
#include "winze/effects/alias_analysis.h"
#include "winze/effects/state_slice.h"
#include "winze/passes/graph_outputs.h"
#include "winze/passes/no_op_calls.h"

namespace winze {
namespace {

/// detach_ gives back its very argument.
void remove_in_place(Graph& graph, const BackwardSlice& state) {
  for (Node detach : graph.find_nodes(op::aten_detach__default)) {
    if (state.contains(detach)) continue;
    detach.value().replace_all_uses_with(detach.argument_value(0));
    detach.erase();
  }
}

void remove_out_of_place(Graph& graph, const AliasAnalysis& aliases, const BackwardSlice& state) {
  for (Node detach : graph.find_nodes(op::aten_detach_default)) {
    if (state.contains(detach)) continue;
    Value replacement = detach.argument_value(0);
    if (is_view_seen(replacement, detach.value(), aliases)) {
      const auto here = graph.inserting_before(detach);
      replacement = aten::alias(graph, replacement);
      replacement.set_name(detach.value().name());
    }
    detach.value().replace_all_uses_with(replacement);
    detach.erase();
  }
}

}  // namespace

void remove_detach(Graph& graph, PassContext& context) {
  if (returns_gradients(graph)) {
    context.decline("the program returns gradients, so it may be run with autograd");
    return;
  }
  const AliasAnalysis aliases = context.alias_analysis(graph);
  const BackwardSlice state = state_slice(graph, aliases);
  for (Graph* each : graph.all_graphs()) {
    remove_in_place(*each, state);
    remove_out_of_place(*each, aliases, state);
  }
}

}  // namespace winze
