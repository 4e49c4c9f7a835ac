// SPDX-License-Identifier: Apache-2.0
#include "winze/passes/cleanup/remove_no_op_clones.h"

#include <optional>

#include "winze/effects/alias_analysis.h"
#include "winze/effects/layout_uses.h"
#include "winze/program/module_calls.h"
#include "winze/schema/op.h"

namespace winze {
namespace {

/// Whether the storage of a value was made for it. A part of a larger one, when returned, would
/// keep all of that alive.
bool has_storage_of_its_own(Value value) {
  const Node node = value.node();
  if (!node.is_call()) return false;
  const OpEffects& effects = node.graph().context().ops().get(node.op()).effects;
  return effects.aliases.empty() && !effects.runs_graphs && !effects.is_unknown;
}

/// Whether it asks for strides of its own, rather than those of its input.
bool asks_for_memory_format(Node clone) {
  const Argument format = clone.argument(1);
  return format.kind() == ArgumentKind::memory_format &&
         format.memory_format() != MemoryFormat::preserve_format;
}

bool can_be_told_apart(Node clone, const AliasAnalysis& aliases) {
  const Value source = clone.argument_value(0);
  const Value copy = clone.value();
  if (source.meta_id() != copy.meta_id() || source.meta().tensor.layout != Layout::strided)
    return true;
  if (asks_for_memory_format(clone)) return true;
  if (aliases.is_input(source) && layout_is_seen(copy)) return true;
  if (both_give_symbols(source, copy)) return true;
  if (aliases.is_written_after(source, clone) || aliases.is_written_after(copy, clone)) return true;
  if (!aliases.is_returned(copy)) return false;
  return aliases.escapes(source) || !has_storage_of_its_own(source);
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
