// SPDX-License-Identifier: Apache-2.0
#include "winze/effects/state_slice.h"

#include <vector>

#include <tsl/robin_map.h>

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
/// parameters on; with borders of autograd in force, or as if there were none.
class GradientFlow {
 public:
  GradientFlow(const Graph& graph, const AliasAnalysis& aliases, bool has_borders)
      : aliases_(aliases), has_borders_(has_borders) {
    carries_.resize(graph.value_capacity());
    if (aliases.has_writes()) class_carries_.resize(aliases.class_capacity());
  }

  /// Whether an operand has a gradient when the node is reached. Nodes are asked for in order.
  bool reaches(Node node) {
    bool any = false;
    for_each_input(node, [&](Value value) { any = any || carries(value); });
    return any;
  }

  void pass(Node node) {
    const bool reached =
        node.is_placeholder() ? node.value().meta().tensor.requires_grad : reaches(node);
    if (!reached || (has_borders_ && is_border(node))) return;
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
  bool has_borders_;
  std::vector<bool> carries_;        ///< by value
  std::vector<bool> class_carries_;  ///< by storage class: once written to
};

/// Calls `visit` for each value that the program returns to be written back to an input.
template <typename Visit>
void for_each_returned_state(const Node& output, const Visit& visit) {
  const Argument specs = output.argument(1);
  for (std::uint32_t i = 0; specs.is_list() && i < specs.count(); ++i) {
    const Argument spec = output.element(specs, i);
    if (spec.kind() != ArgumentKind::output_spec) continue;
    if (is_written_back(output.graph().context().output_spec_of(spec).kind))
      for_each_value(output, output.element(output.argument(0), i), visit);
  }
}

/// The writes to inputs of the program, by the node of its own graph in which they happen.
using StateWrites = tsl::robin_map<std::uint32_t, std::vector<Node>>;

StateWrites state_writes(const Graph& root, const AliasAnalysis& aliases,
                         const BackwardSlice& slice) {
  StateWrites writes;
  aliases.for_each_write([&](const StorageWrite& write, std::uint32_t storage_class) {
    if (!aliases.is_program_input_class(storage_class)) return;
    Node node = write.node;
    while (&node.graph() != &root) node = slice.holder(node.graph());
    writes[node.id().index].push_back(write.node);
  });
  return writes;
}

}  // namespace

BackwardSlice state_slice(Graph& root, const AliasAnalysis& aliases) {
  BackwardSlice slice(root, aliases);
  const StateWrites writes = state_writes(root, aliases, slice);
  GradientFlow real(root, aliases, true);
  GradientFlow free(root, aliases, false);
  for (const Node node : root.nodes()) {
    if (const auto found = writes.find(node.id().index); found != writes.end()) {
      for (const Node write : found->second) {
        // A nested graph stands behind a border or is taken to: what happens in it is not followed.
        const bool is_tracked = write == node && real.reaches(node);
        if (free.reaches(node) && !is_tracked) slice.add(write);
      }
    }
    if (node.is_output()) {
      for_each_returned_state(node, [&](Value value) {
        if (free.carries(value) && !real.carries(value)) slice.add(value.node());
      });
    }
    real.pass(node);
    free.pass(node);
  }
  slice.close();
  return slice;
}

}  // namespace winze
