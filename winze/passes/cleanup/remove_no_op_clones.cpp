// SPDX-License-Identifier: Apache-2.0
#include "winze/passes/cleanup/remove_no_op_clones.h"

#include <optional>

#include "winze/effects/alias_analysis.h"
#include "winze/passes/no_op_calls.h"
#include "winze/program/module_calls.h"

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
  AliasAnalysis aliases = context.alias_analysis(graph);
  std::optional<PreservedCalls> preserved;
  if (context.has_program()) preserved.emplace(context.program());
  for (Graph* each : graph.all_graphs()) {
    for (Node clone : each->find_nodes(op::aten_clone_default)) {
      const Value source = clone.argument_value(0);
      if (!source || can_be_told_apart(clone, aliases)) continue;
      // It may be all that a module whose signature was preserved does.
      if (preserved && !preserved->same(source.node(), clone)) continue;
      aliases.merge(source, clone.value());
      clone.value().replace_all_uses_with(source);
      clone.erase();
    }
  }
}

}  // namespace winze
