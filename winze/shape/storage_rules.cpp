// SPDX-License-Identifier: Apache-2.0
// Operators that say anew how a storage is seen, and others that yield a tensor as it is.
#include "winze/schema/op_ids.h"
#include "winze/shape/families.h"
#include "winze/shape/views.h"

namespace winze {
namespace {

void itself(ShapeCall& call) {
  call.yield(call.tensor(0));
}

/// fill_diagonal_(self, fill_value, wrap)
void fill_diagonal(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  if (self.dim() < 2) throw Error("dimensions must larger than 1");
  for (std::size_t dim = 1; dim < self.dim() && self.dim() > 2; ++dim) {
    call.env().require_equal(self.sizes[0], self.sizes[dim], [] {
      return std::string("all dimensions of input must be of equal length");
    });
  }
  call.yield(self);
}

/// _reshape_alias(self, size, stride): the strides are those of the view anyway.
void reshape_alias(ShapeCall& call) {
  call.yield(view(call.env(), call.tensor(0), call.sym_ints(1)));
}
/// _reshape_copy(self, size)
void reshape_copy(ShapeCall& call) {
  const FakeTensor shaped = reshape(call.env(), call.tensor(0), call.sym_ints(1));
  call.yield(empty_like(call.env(), shaped, MemoryFormat::contiguous_format));
}

/// set_(self): a storage without elements.
void set_nothing(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  call.yield(empty_tensor(call.env(), DimVector{0}, self.dtype, self.device));
}
/// set_.source_Tensor(self, source), with `parameter` 1 from an offset in other sizes and strides.
void set_source(ShapeCall& call) {
  FakeTensor result(call.tensor(1));
  result.dtype = call.tensor(0).dtype;
  if (result.dtype != call.tensor(1).dtype)
    fail("Could not set tensor of type {} to a tensor of type {}", full_name(call.tensor(1).dtype),
         full_name(result.dtype));
  if (call.parameter() == 1) {
    result.storage_offset = call.sym_int(2);
    result.sizes = call.sym_ints(3);
    result.strides = call.sym_ints(4);
    if (result.strides.empty()) result.strides = contiguous_strides(call.env(), result.sizes);
    if (result.strides.size() != result.sizes.size())
      throw Error("mismatch in length of strides and shape");
  }
  call.yield(result);
}

/// sum_to_size(self, size): the tensor itself where it has these sizes, else the sums over what was
/// broadcast.
void sum_to_size(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& self = call.tensor(0);
  const DimVector sizes = call.sym_ints(1);
  const auto refuse = [] {
    return std::string("sum_to_size: the tensor is not one that was expanded from these sizes");
  };
  if (sizes.size() > self.dim()) throw Error("sum_to_size is given more sizes than there are");
  // The sum over everything is one of numbers too where there is nothing to sum over.
  bool is_same = sizes.size() == self.dim() && !sizes.empty();
  const std::size_t leading = self.dim() - sizes.size();
  for (std::size_t dim = 0; dim < sizes.size(); ++dim) {
    const SymInt size = self.sizes[leading + dim];
    if (env.known_one(sizes[dim])) {
      if (env.known_one(size)) continue;
      if (env.equal(size, 1) == Proof::unknown)
        call.cannot_infer("whether a dimension is summed over is not known");
      is_same = false;
    } else {
      env.require_equal(sizes[dim], size, refuse);
    }
  }
  if (is_same) return call.yield(self);
  const ScalarType dtype = is_integral_or_bool(self.dtype) ? ScalarType::int64 : self.dtype;
  call.yield(empty_tensor(env, sizes, dtype, self.device));
}

}  // namespace

std::span<const ShapeRow> storage_rows() {
  static constexpr ShapeRow rows[] = {
      {op::aten__grad_sum_to_size_default, sum_to_size},
      {op::aten__reshape_alias_default, reshape_alias},
      {op::aten__reshape_copy_default, reshape_copy},
      {op::aten_data_default, itself},
      {op::aten_fill_diagonal__default, fill_diagonal},
      {op::aten_requires_grad__default, itself},
      {op::aten_set_default, set_nothing},
      {op::aten_set_source_Tensor, set_source, 0},
      {op::aten_set__default, set_nothing},
      {op::aten_set__source_Tensor, set_source, 0},
      {op::aten_set__source_Tensor_storage_offset, set_source, 1},
      {op::aten_sum_to_size_default, sum_to_size},
  };
  return rows;
}

}  // namespace winze
