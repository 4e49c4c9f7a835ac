// SPDX-License-Identifier: Apache-2.0
#include "winze/passes/cleanup/repair_input_as_output.h"

#include "winze/builders/aten/clone.h"
#include "winze/effects/alias_analysis.h"
#include "winze/pass/pass_options.h"

namespace winze {

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
  const auto here = graph.inserting_before(output);
  for (Value value : output.input_values()) {
    if (!value.is_tensor()) continue;
    const NodeKind kind = value.node().kind();
    const bool as_it_came = kind == NodeKind::placeholder || kind == NodeKind::get_attr;
    if (!as_it_came && !(aliases && aliases->is_input(value))) continue;
    const Value copy = aten::clone(graph, value);
    output.replace_input_with(value, copy);
    context.note("%{} was returned {}", value.name(),
                 as_it_came ? "as it came in" : "although it may share storage with an input");
  }
}

}  // namespace winze
