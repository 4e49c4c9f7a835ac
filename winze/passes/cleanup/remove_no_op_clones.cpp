// SPDX-License-Identifier: Apache-2.0
#include "winze/passes/cleanup/remove_no_op_clones.h"

#include "winze/effects/alias_analysis.h"
#include "winze/passes/no_op_calls.h"

namespace winze {
namespace {

bool can_be_told_apart(Node clone, const AliasAnalysis& aliases) {
  const Value source = clone.argument_value(0);
  const Value copy = clone.value();
  return source.meta_id() != copy.meta_id() || source.meta().tensor.layout != Layout::strided ||
         asks_for_memory_format(clone.argument(1)) || is_copy_seen(clone, source, copy, aliases);
}

}  // namespace

void remove_no_op_clones(Graph& graph, PassContext& context) {
  NoOpRemoval removal(graph, context);
  for (Graph* each : graph.all_graphs()) {
    for (Node clone : each->find_nodes(op::aten_clone_default)) {
      if (clone.argument_value(0) && !can_be_told_apart(clone, removal.aliases()))
        removal.remove(clone);
    }
  }
}

}  // namespace winze
