// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/run_plan.h"

#include "winze/effects/call_arguments.h"

namespace winze {

RunPlan plan_run(const Code& code, const std::vector<ResultKey>& keys, ResultStore& store) {
  using Step = RunPlan::Step;
  const std::size_t count = code.instructions.size();
  RunPlan plan{.store = &store,
               .steps = std::vector<Step>(count, Step::skip),
               .numbers = std::vector<std::uint32_t>(count, 0)};
  std::vector<bool> needed(code.graph->value_capacity(), false);
  const auto need_inputs = [&](Node node) {
    for_each_input(node, [&](Value value) { needed[value.id().index] = true; });
  };
  need_inputs(code.graph->output_node());
  for (std::size_t i = count; i-- > 0;) {
    const Node node = code.graph->node_at(code.instructions[i].node);
    const ResultKey& key = keys[node.id().index];
    plan.numbers[i] = key.number;
    bool is_needed = key.must_run;
    for (const Value value : node.values()) is_needed = is_needed || needed[value.id().index];
    if (is_needed && !(key.is_reusable && store.find(key.number) != nullptr)) {
      plan.steps[i] = key.is_reusable ? Step::keep : Step::run;
      need_inputs(node);
      continue;
    }
    if (is_needed) plan.steps[i] = Step::take;
    ++plan.left_out;
  }
  return plan;
}

}  // namespace winze
