// SPDX-License-Identifier: Apache-2.0
#include "winze/effects/state_slice.h"

#include <vector>

#include "winze/effects/call_arguments.h"
#include "winze/schema/op.h"
#include "winze/schema/op_ids.h"

namespace winze {
namespace {

bool is_written_back(OutputKind kind) {
  return kind == OutputKind::buffer_mutation || kind == OutputKind::parameter_mutation ||
         kind == OutputKind::user_input_mutation;
}

/// Which values of a graph would have a gradient if the program were run in grad mode, from its
/// parameters on.
class GradientFlow {
 public:
  GradientFlow(const Graph& graph, const AliasAnalysis& aliases) : aliases_(aliases) {
    carries_.resize(graph.value_capacity());
    if (aliases.has_writes()) class_carries_.resize(aliases.class_capacity());
  }

  /// Whether an operand has a gradient when the node is reached. Nodes are asked for in order.
  bool reaches(Node node) {
    bool any = false;
    for_each_input(node, [&](Value value) { any = any || carries(value); });
    return any;
  }

  void pass(Node node, bool reached) {
    if (node.is_placeholder()) reached = node.value().meta().tensor.requires_grad;
    if (!reached || is_border(node)) return;
    const bool writes =
        node.is_call() && node.graph().context().ops().get(node.op()).effects.writes_anything();
    for (const Value value : node.values()) {
      carries_[value.id().index] = true;
      const std::uint32_t storage_class = aliases_.class_of(value);
      if (writes && storage_class < class_carries_.size()) class_carries_[storage_class] = true;
    }
  }

  [[nodiscard]] bool carries(Value value) const {
    if (carries_[value.id().index]) return true;
    if (class_carries_.empty()) return false;
    const std::uint32_t storage_class = aliases_.class_of(value);
    return storage_class < class_carries_.size() && class_carries_[storage_class];
  }

 private:
  static bool is_border(Node node) {
    return node.is_call_to(op::aten_detach_default) || node.is_call_to(op::aten_detach__default) ||
           (node.is_call_to(op::higher_order_wrap_with_set_grad_enabled) &&
            node.argument(0) == Argument(false));
  }

  const AliasAnalysis& aliases_;
  std::vector<bool> carries_;        ///< by value
  std::vector<bool> class_carries_;  ///< by storage class: once written to
};

void add_returned_state(const Node& output, const GradientFlow& gradients, BackwardSlice& slice) {
  const Argument specs = output.argument(1);
  for (std::uint32_t i = 0; specs.is_list() && i < specs.count(); ++i) {
    const Argument spec = output.element(specs, i);
    if (spec.kind() != ArgumentKind::output_spec) continue;
    if (!is_written_back(output.graph().context().output_spec_of(spec).kind)) continue;
    for_each_value(output, output.element(output.argument(0), i), [&](Value value) {
      if (!gradients.carries(value)) slice.add(value.node());
    });
  }
}

}  // namespace

BackwardSlice state_slice(Graph& root, const AliasAnalysis& aliases) {
  BackwardSlice slice(root, aliases);
  std::vector<bool> writes_state(root.node_capacity());
  aliases.for_each_write([&](const StorageWrite& write, std::uint32_t storage_class) {
    if (!aliases.is_program_input_class(storage_class)) return;
    // Those in nested graphs count whatever they write: what reaches them is not followed there.
    if (&write.node.graph() != &root) return slice.add(write.node);
    writes_state[write.node.id().index] = true;
  });
  GradientFlow gradients(root, aliases);
  for (const Node node : root.nodes()) {
    const bool reached = gradients.reaches(node);
    if (writes_state[node.id().index] && !reached) slice.add(node);
    if (node.is_output()) add_returned_state(node, gradients, slice);
    gradients.pass(node, reached);
  }
  slice.close();
  return slice;
}

}  // namespace winze
