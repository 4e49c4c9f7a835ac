// SPDX-License-Identifier: Apache-2.0
#include "winze/effects/layout_uses.h"

#include <algorithm>
#include <array>
#include <vector>

#include <tsl/robin_set.h>

#include "winze/schema/op.h"
#include "winze/schema/op_ids.h"

namespace winze {
namespace {

/// Operators whose outcome depends on the strides or the offset of a tensor, beyond the strides of
/// what they yield.
constexpr std::array sees_layout{
    op::aten_view_default,
    op::aten_view_dtype,
    op::aten_view_copy_default,
    op::aten_view_copy_dtype,
    op::aten_view_as_default,
    op::aten__unsafe_view_default,
    op::aten__reshape_alias_default,
    op::aten__reshape_alias_copy_default,
    op::aten_view_as_real_default,
    op::aten_view_as_complex_default,
    op::aten_as_strided_default,
    op::aten_as_strided__default,
    op::aten_as_strided_copy_default,
    op::aten_as_strided_scatter_default,
    op::prims_as_strided_default,
    op::prims_as_strided_scatter_default,
    op::aten_stride_default,
    op::aten_stride_int,
    op::aten_sym_stride_default,
    op::aten_sym_stride_int,
    op::aten_storage_offset_default,
    op::aten_sym_storage_offset_default,
    op::aten_is_contiguous_default,
    op::aten_is_contiguous_memory_format,
    op::aten_sym_is_contiguous_default,
    op::aten_is_non_overlapping_and_dense_default,
    op::aten_is_strides_like_format_default,
    op::aten__assert_tensor_metadata_default,
};

bool is_pytorchs_own(const Op& op) {
  return op.qualified_name.starts_with("aten.") || op.qualified_name.starts_with("prims.") ||
         op.qualified_name.starts_with("quantized_decomposed.");
}

bool gives_symbols(Value value) {
  for (const Use& use : value.uses()) {
    if (!use.node.is_call()) continue;
    const OpEffects& effects = use.node.graph().context().ops().get(use.node.op()).effects;
    if (effects.has_dynamic_shape || effects.is_data_dependent) return true;
  }
  return false;
}

}  // namespace

bool layout_is_seen(Value value) {
  std::vector<Value> views{value};
  tsl::robin_set<std::uint32_t> seen{value.id().index};
  while (!views.empty()) {
    const Value view = views.back();
    views.pop_back();
    for (const Use& use : view.uses()) {
      if (!use.node.is_call()) return true;
      const Op& op = use.node.graph().context().ops().get(use.node.op());
      if (!is_pytorchs_own(op) || op.effects.is_unknown || op.effects.runs_graphs ||
          std::ranges::find(sees_layout, use.node.op()) != sees_layout.end()) {
        return true;
      }
      if (op.effects.aliases.empty()) continue;
      for (const Value result : use.node.values()) {
        if (seen.insert(result.id().index).second) views.push_back(result);
      }
    }
  }
  return false;
}

bool both_give_symbols(Value a, Value b) {
  return gives_symbols(a) && gives_symbols(b);
}

}  // namespace winze
