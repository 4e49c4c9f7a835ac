// SPDX-License-Identifier: Apache-2.0
#include "winze/passes/cleanup/inline_no_grad_regions.h"

#include <ranges>

#include "winze/effects/alias_analysis.h"
#include "winze/effects/higher_order_calls.h"
#include "winze/effects/state_slice.h"
#include "winze/passes/graph_outputs.h"

namespace winze {
namespace {

constexpr std::uint32_t body_argument = 1;

/// Why a region cannot be inlined; empty where it can.
std::string obstacle(Node region, Graph& body, const BackwardSlice& state) {
  if (state.contains(region))
    return "what it computes is written to a parameter, a buffer or an input, outside of autograd";
  const std::optional<std::vector<Argument>> operands = body_operands(region, body);
  if (!operands) return "its operands are not one for each input of the body";
  for (const Argument& operand : *operands) {
    if (!operand.is_value()) return "an operand is a constant";
  }
  const Node output = body.output_node();
  if (!output || output.argument(0).count() != region.value_count())
    return "it yields another number of values than its body returns";
  for (std::uint32_t i = 0; i < region.value_count(); ++i) {
    if (!output.element(output.argument(0), i).is_value() && region.value(i).has_uses())
      return "a result that is used is a constant";
  }
  return {};
}

void inline_region(Node region, Graph& body) {
  Graph& graph = region.graph();
  tsl::robin_map<std::uint32_t, Value> values;
  const std::vector<Argument> operands = *body_operands(region, body);
  const std::vector<Node> placeholders = body.placeholders();
  for (std::size_t i = 0; i < placeholders.size(); ++i)
    values[placeholders[i].value().id().index] = graph.value_at(operands[i].value_id());
  const auto here = graph.inserting_before(region);
  const std::vector<Argument> returned = graph.graph_copy(body, values);
  for (std::uint32_t i = 0; i < region.value_count(); ++i) {
    if (returned[i].is_value())
      region.value(i).replace_all_uses_with(graph.value_at(returned[i].value_id()));
  }
  region.erase();
}

}  // namespace

void inline_no_grad_regions(Graph& graph, PassContext& context) {
  if (returns_gradients(graph)) {
    context.decline("the program returns gradients, so it may be run with autograd");
    return;
  }
  const AliasAnalysis aliases = context.alias_analysis(graph);
  const BackwardSlice state = state_slice(graph, aliases);
  // Inner graphs first: a body is copied when its own regions are gone.
  const std::vector<Graph*> graphs = graph.all_graphs();
  for (Graph* each : graphs | std::views::reverse) {
    for (Node region : each->find_nodes(op::higher_order_wrap_with_set_grad_enabled)) {
      Graph& body = each->subgraph(region.argument(body_argument).graph_id());
      if (const std::string reason = obstacle(region, body, state); !reason.empty()) {
        context.warn("{} was left: {}", region, reason);
        continue;
      }
      inline_region(region, body);
    }
  }
}

}  // namespace winze
