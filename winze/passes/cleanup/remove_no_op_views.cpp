// SPDX-License-Identifier: Apache-2.0
#include "winze/passes/cleanup/remove_no_op_views.h"

#include <array>
#include <span>

#include "winze/effects/alias_analysis.h"
#include "winze/effects/layout_uses.h"
#include "winze/passes/no_op_calls.h"

namespace winze {
namespace {

/// Of equal sizes, strides and offset follows that a call of these does nothing, but for the
/// strides of dimensions of size 1, which the first three make anew.
struct ViewOp {
  OpId op;
  bool makes_strides = false;
};

constexpr std::array view_ops{
    ViewOp{op::aten_view_default, true},
    ViewOp{op::aten_reshape_default, true},
    ViewOp{op::aten_flatten_using_ints, true},
    ViewOp{op::aten_expand_default},
    ViewOp{op::aten_slice_Tensor},
    ViewOp{op::aten_squeeze_default},
    ViewOp{op::aten_squeeze_dim},
    ViewOp{op::aten_squeeze_dims},
    ViewOp{op::aten_permute_default},
    ViewOp{op::aten_alias_default},
};

/// Equal sizes and strides of the example say nothing of a permutation: those of another call may
/// differ.
bool keeps_the_order(Node permute) {
  const Argument order = permute.argument(1);
  if (order.kind() != ArgumentKind::integers) return false;
  const std::span<const std::int64_t> from = permute.graph().context().integers_of(order);
  const auto rank = static_cast<std::int64_t>(from.size());
  for (std::int64_t i = 0; i < rank; ++i) {
    const std::int64_t dim = from[static_cast<std::size_t>(i)];
    if (dim != i && dim != i - rank) return false;
  }
  return true;
}

bool is_no_op(Node view, const ViewOp& op, const AliasAnalysis& aliases) {
  const Value source = view.argument_value(0);
  if (!source || !have_equal_layouts(source, view.value())) return false;
  if (op.op == op::aten_permute_default && !keeps_the_order(view)) return false;
  if (op.makes_strides && aliases.is_input(source) && layout_is_seen(view.value())) return false;
  return !is_view_seen(source, view.value(), aliases);
}

}  // namespace

void remove_no_op_views(Graph& graph, PassContext& context) {
  NoOpRemoval removal(graph, context);
  for (Graph* each : graph.all_graphs()) {
    for (const ViewOp& op : view_ops) {
      for (Node view : each->find_nodes(op.op)) {
        if (is_no_op(view, op, removal.aliases())) removal.remove(view);
      }
    }
  }
}

}  // namespace winze
