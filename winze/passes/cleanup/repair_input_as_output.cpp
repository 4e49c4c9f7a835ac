// SPDX-License-Identifier: Apache-2.0
#include "winze/passes/cleanup/repair_input_as_output.h"

#include "winze/effects/alias_analysis.h"
#include "winze/pass/pass_options.h"
#include "winze/passes/clone_meta.h"
#include "winze/schema/op_ids.h"

namespace winze {
namespace {

Value clone_before_output(Graph& graph, Value value, SourceId source) {
  Context& context = graph.context();
  const auto here = graph.inserting_before(graph.output_node());
  if (const std::optional<MetaId> meta = meta_of_clone(context, value.meta_id()))
    return graph.call_function(op::aten_clone_default, {value}, *meta, {.source = source});
  // With symbolic strides that may overlap or leave gaps, nobody knows what clone makes of them.
  const Argument arguments[] = {Argument(value), Argument(MemoryFormat::contiguous_format)};
  const MetaId metas[] = {meta_of_contiguous_clone(context, value.meta_id())};
  return graph.call_function(op::aten_clone_default, arguments, metas, {.source = source});
}

}  // namespace

const OptionTable& repair_input_as_output_options() {
  using Options = RepairInputAsOutputOptions;
  static const OptionTable table = OptionTable::describe<Options>({
      option("views", &Options::views, "copy outputs that share storage with an input, too"),
  });
  return table;
}

void repair_input_as_output(Graph& graph, PassContext& context) {
  const Node output = graph.output_node();
  if (!output) return;
  std::optional<AliasAnalysis> aliases;
  if (context.options<RepairInputAsOutputOptions>().views)
    aliases.emplace(context.alias_analysis(graph));
  for (Value value : output.input_values()) {
    if (!value.is_tensor()) continue;
    const NodeKind kind = value.node().kind();
    const bool as_it_came = kind == NodeKind::placeholder || kind == NodeKind::get_attr;
    if (!as_it_came && !(aliases && aliases->is_input(value))) continue;
    const Value copy = clone_before_output(graph, value, output.source());
    output.replace_input_with(value, copy);
    context.note("%{} was returned {}", value.name(),
                 as_it_came ? "as it came in" : "although it may share storage with an input");
  }
}

}  // namespace winze
