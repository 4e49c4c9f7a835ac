// SPDX-License-Identifier: Apache-2.0
// Random numbers: new tensors of them, and tensors filled in place, after
// aten/src/ATen/native/Distributions.cpp.
#include "winze/schema/op_ids.h"
#include "winze/shape/elementwise.h"
#include "winze/shape/families.h"

namespace winze {
namespace {

/// Writes a tensor without looking at it. `parameter` 1 is for floats alone, 2 for all but bools.
void fill(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  if (call.parameter() == 1 && !is_floating_point(self.dtype))
    fail("{} does not support the dtype {}", call.op().schema.name, full_name(self.dtype));
  call.yield(self);
}
/// The same as a tensor of its own.
void filled(ShapeCall& call) {
  call.yield(empty_like(call.env(), call.tensor(0)));
}

/// normal(mean, std) where one or both are tensors.
void normal(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta* const mean = call.tensor_or_null(0);
  const TensorMeta* const deviation = call.tensor_or_null(1);
  const TensorMeta* const first = mean == nullptr ? deviation : mean;
  if (first == nullptr) call.cannot_infer("normal is given no tensor");
  if (deviation != nullptr && is_complex(deviation->dtype))
    throw Error("normal expects standard deviation to be non-complex");
  DimVector sizes(first->sizes);
  if (mean != nullptr && deviation != nullptr)
    sizes = broadcast_sizes(env, sizes, deviation->sizes);
  call.yield(empty_tensor(env, sizes, first->dtype, first->device));
}
/// normal.float_float(mean, std, size)
void normal_of_size(ShapeCall& call) {
  const auto dtype = call.dtype(call.position("dtype")).value_or(default_float);
  const auto device = call.device(call.position("device")).value_or(Device{});
  call.expect_strided(call.position("layout"));
  call.yield(empty_tensor(call.env(), call.sym_ints(2), dtype, device));
}

/// multinomial(self, num_samples): indices for each row.
void multinomial(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& self = call.tensor(0);
  if (self.dim() != 1 && self.dim() != 2)
    fail("The probability distributions dimensions must be 1 or 2, but got {}", self.dim());
  if (!is_floating_point(self.dtype))
    fail("multinomial only supports floating-point dtypes for input, got: {}",
         full_name(self.dtype));
  const SymInt count = call.sym_int(1);
  env.require_at_least(count, 1, [] { return std::string("cannot sample n_sample <= 0 samples"); });
  DimVector sizes(self.sizes.first(self.dim() - 1));
  sizes.push_back(count);
  call.yield(empty_tensor(env, sizes, ScalarType::int64, self.device));
}

/// rrelu: a random slope for what is negative.
void rrelu(ShapeCall& call) {
  ElementwiseOperands operands;
  operands.add(call.tensor(0));
  call.yield(operands.result(call.env(), Promotion::to_common));
}

/// dropout_(input, p, train) and the like.
void drop_in_place(ShapeCall& call) {
  call.yield(call.tensor(0));
}

constexpr ShapeRow rows[] = {
    {op::aten_alpha_dropout__default, drop_in_place},
    {op::aten_cauchy__default, fill, 1},
    {op::aten_dropout__default, drop_in_place},
    {op::aten_exponential__default, fill, 1},
    {op::aten_feature_alpha_dropout__default, drop_in_place},
    {op::aten_feature_dropout__default, drop_in_place},
    {op::aten_geometric__default, fill, 2},
    {op::aten_log_normal__default, fill, 1},
    {op::aten_multinomial_default, multinomial},
    {op::aten_normal_Tensor_Tensor, normal},
    {op::aten_normal_Tensor_float, normal},
    {op::aten_normal_float_Tensor, normal},
    {op::aten_normal_float_float, normal_of_size},
    {op::aten_normal__default, fill, 0},
    {op::aten_normal_functional_default, filled},
    {op::aten_random_default, filled},
    {op::aten_random_from, filled},
    {op::aten_random_to, filled},
    {op::aten_rrelu_default, rrelu},
    {op::aten_rrelu_with_noise_default, rrelu},
    {op::aten_rrelu_with_noise__default, drop_in_place},
    {op::aten_uniform_default, filled},
    {op::aten_uniform__default, fill, 0},
};

}  // namespace

std::span<const ShapeRow> random_rows() {
  return rows;
}

}  // namespace winze
