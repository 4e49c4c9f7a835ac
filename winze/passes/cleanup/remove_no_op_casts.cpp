// SPDX-License-Identifier: Apache-2.0
#include "winze/passes/cleanup/remove_no_op_casts.h"

#include <array>

#include "winze/effects/alias_analysis.h"
#include "winze/effects/layout_uses.h"
#include "winze/passes/no_op_calls.h"

namespace winze {
namespace {

/// An operator that casts, and at which position of its schema stands what makes it more than that.
struct Cast {
  OpId op;
  int memory_format;
  int copy = -1;  ///< -1: it always makes a copy
  int pin_memory = -1;
};

constexpr std::array casts{
    Cast{.op = op::aten_to_dtype, .memory_format = 4, .copy = 3},
    Cast{.op = op::aten_to_dtype_layout, .memory_format = 7, .copy = 6, .pin_memory = 4},
    Cast{.op = op::aten_to_device, .memory_format = 5, .copy = 4},
    Cast{.op = op::aten_to_other, .memory_format = 4, .copy = 3},
    Cast{.op = op::aten__to_copy_default, .memory_format = 6, .pin_memory = 4},
};

bool is_true(Node node, int position) {
  const Argument flag = node.argument(static_cast<std::uint32_t>(position));
  return flag.kind() == ArgumentKind::boolean && flag.boolean();
}

bool makes_a_copy(Node node, const Cast& cast) {
  return cast.copy < 0 || is_true(node, cast.copy);
}

bool is_no_op(Node node, const Cast& cast, const AliasAnalysis& aliases) {
  const Value source = node.argument_value(0);
  const Value result = node.value();
  if (!source || !have_equal_layouts(source, result)) return false;
  if (asks_for_memory_format(node.argument(static_cast<std::uint32_t>(cast.memory_format))) ||
      (cast.pin_memory >= 0 && is_true(node, cast.pin_memory))) {
    return false;
  }
  if (!makes_a_copy(node, cast)) return !both_give_symbols(source, result);
  return source.meta_id() == result.meta_id() && source.meta().tensor.layout == Layout::strided &&
         !is_copy_seen(node, source, result, aliases);
}

}  // namespace

void remove_no_op_casts(Graph& graph, PassContext& context) {
  NoOpRemoval removal(graph, context);
  for (Graph* each : graph.all_graphs()) {
    for (const Cast& cast : casts) {
      for (Node node : each->find_nodes(cast.op)) {
        if (is_no_op(node, cast, removal.aliases())) removal.remove(node);
      }
    }
  }
}

}  // namespace winze
