// SPDX-License-Identifier: Apache-2.0
// Functional forms of operators that write several tensors: fused optimizers
// (aten/src/ATen/native/FusedAdam.cpp and the like), copies over lists, gradient scaling. Each
// yields a copy of what the other form writes, which goes through these rows.
#include "winze/schema/op_ids.h"
#include "winze/shape/families.h"

namespace winze {
namespace {

void yield_clone(ShapeCall& call, const TensorMeta* tensor) {
  if (tensor == nullptr) call.cannot_infer("{} is given None", call.op().qualified_name);
  call.yield(empty_like(call.env(), *tensor));
}

/// Clones of the first `parameter` arguments: tensors, or lists of them.
void clones_of_written(ShapeCall& call) {
  for (std::uint32_t index = 0; index < call.parameter(); ++index) {
    if (const TensorMeta* const tensor = call.tensor_or_null(index)) {
      yield_clone(call, tensor);
    } else {
      for (const TensorMeta* const element : call.tensors(index)) yield_clone(call, element);
    }
  }
}

}  // namespace

std::span<const ShapeRow> optimizer_rows() {
  static constexpr ShapeRow rows[] = {
      {op::aten__amp_foreach_non_finite_check_and_unscale_default, clones_of_written, 2},
      {op::aten__amp_update_scale_default, clones_of_written, 2},
      {op::aten__foreach_copy_default, clones_of_written, 1},
      {op::aten__foreach_zero_default, clones_of_written, 1},
      {op::aten__fused_adagrad_default, clones_of_written, 4},
      {op::aten__fused_adagrad_tensor_lr, clones_of_written, 3},
      {op::aten__fused_adam_default, clones_of_written, 5},
      {op::aten__fused_adam_tensor_lr, clones_of_written, 5},
      {op::aten__fused_adamw_default, clones_of_written, 5},
      {op::aten__fused_adamw_tensor_lr, clones_of_written, 5},
      {op::aten__fused_sgd_default, clones_of_written, 3},
      {op::aten__fused_sgd_tensor_lr, clones_of_written, 3},
  };
  return rows;
}

}  // namespace winze
