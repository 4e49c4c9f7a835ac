// SPDX-License-Identifier: Apache-2.0
// Random numbers: new tensors of them, and tensors filled in place, after
// aten/src/ATen/native/Distributions.cpp.
#include "winze/schema/op_ids.h"
#include "winze/shape/elementwise.h"
#include "winze/shape/families.h"

namespace winze {
namespace {

/// What a distribution asks of its last parameter.
enum class Bound : std::uint32_t { none, positive, not_negative, probability };

/// Fills a tensor with samples. `parameter` has the bound, and whether there are floats alone.
constexpr std::uint32_t floats_only = 16;
void fill(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  const std::string_view name = call.op().schema.name;
  if (call.parameter() >= floats_only && !is_floating_point(self.dtype))
    fail("{} does not support the dtype {}", name, full_name(self.dtype));
  const auto bound = static_cast<Bound>(call.parameter() % floats_only);
  const std::uint32_t last = name == "exponential_" || name == "geometric_" ? 1 : 2;
  if (const auto value = call.constant_number(last)) {
    if (bound == Bound::positive && *value <= 0)
      fail("{} expects a parameter > 0.0, but found {}", name, *value);
    if (bound == Bound::not_negative && *value < 0)
      fail("{} expects std >= 0.0, but found std {}", name, *value);
    if (bound == Bound::probability && (*value <= 0 || *value >= 1))
      fail("{} expects p to be in (0, 1), but got p={}", name, *value);
  }
  call.yield(self);
}
/// The same as a tensor of its own.
void filled(ShapeCall& call) {
  call.yield(empty_like(call.env(), call.tensor(0)));
}

/// Contiguous.
void filled_anew(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  call.yield(empty_tensor(call.env(), self.sizes, self.dtype, self.device));
}

/// A key of the Philox generator: two 64-bit numbers.
const TensorMeta& philox_key(const ShapeCall& call) {
  const TensorMeta& key = call.tensor(0);
  if (key.dim() == 0 || !call.env().known_equal(key.sizes.back(), 2))
    fail("{}: key must have shape (*batch, 2), got {} dimensions", call.op().schema.name,
         key.dim());
  if (key.dtype != ScalarType::uint64)
    fail("{}: key must have dtype uint64, got {}", call.op().schema.name, full_name(key.dtype));
  return key;
}
void philox_key_fold_in(ShapeCall& call) {
  call.yield(empty_like(call.env(), philox_key(call)));
}
/// _philox_key_split(key, num_splits)
void philox_key_split(ShapeCall& call) {
  const TensorMeta& key = philox_key(call);
  const SymInt count = call.sym_int(1);
  call.env().require_at_least(
      count, 1, [] { return std::string("_philox_key_split: num_splits must be positive"); });
  DimVector sizes(key.sizes);
  sizes.insert(0, count);
  call.yield(empty_tensor(call.env(), sizes, key.dtype, key.device));
}

/// _fused_dropout(self, p): the result and a mask of bytes.
void fused_dropout(ShapeCall& call) {
  ElementwiseOperands operands;
  operands.add(call.tensor(0));
  call.yield(operands.result(call.env(), Promotion::to_common));
  call.yield(operands.result_of(call.env(), ScalarType::uint8));
}

/// uniform yields a tensor with the very strides of its input, gaps and overlaps included.
void uniform(ShapeCall& call) {
  FakeTensor result(call.tensor(0));
  result.storage_offset = 0;
  call.yield(result);
}

/// normal(mean, std) where one or both are tensors.
void normal_of_tensors(ShapeCall& call) {
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
  const auto lower = call.constant_number(call.position("lower"));
  const auto upper = call.constant_number(call.position("upper"));
  if (lower && upper && *lower > *upper)
    fail("Lower bound should be less than or equal to the upper bound, got {} and {}", *lower,
         *upper);
  ElementwiseOperands operands;
  operands.add(call.tensor(0));
  call.yield(operands.result(call.env(), Promotion::to_common));
}

/// The noise follows, as it is after the call.
void rrelu_functional(ShapeCall& call) {
  rrelu(call);
  call.yield(empty_like(call.env(), call.tensor(1)));
}

/// dropout_(input, p, train) and the like.
void drop_in_place(ShapeCall& call) {
  call.yield(call.tensor(0));
}

constexpr std::uint32_t with(Bound bound, std::uint32_t flags = 0) {
  return static_cast<std::uint32_t>(bound) | flags;
}

}  // namespace

std::span<const ShapeRow> random_rows() {
  static constexpr ShapeRow rows[] = {
      {op::aten_cauchy_default, filled},
      {op::aten_exponential_default, filled},
      {op::aten_geometric_default, filled},
      {op::aten_log_normal_default, filled},
      {op::aten__dirichlet_grad_default, filled_anew},
      {op::aten__fill_mem_eff_dropout_mask__default, drop_in_place},
      {op::aten__fused_dropout_default, fused_dropout},
      {op::aten__philox_key_fold_in_default, philox_key_fold_in},
      {op::aten__philox_key_split_default, philox_key_split},
      {op::aten__sample_dirichlet_default, filled_anew},
      {op::aten__standard_gamma_grad_default, filled_anew},
      {op::aten_binomial_default, filled_anew},
      {op::aten_poisson_default, filled},
      {op::aten__standard_gamma_default, filled},
      {op::aten__philox_normal_default, filled},
      {op::aten__philox_uniform_default, filled},
      {op::aten_rrelu_with_noise_functional_default, rrelu_functional},
      {op::aten_alpha_dropout__default, drop_in_place},
      {op::aten_cauchy__default, fill, with(Bound::positive, floats_only)},
      {op::aten_dropout__default, drop_in_place},
      {op::aten_exponential__default, fill, with(Bound::positive, floats_only)},
      {op::aten_feature_alpha_dropout__default, drop_in_place},
      {op::aten_feature_dropout__default, drop_in_place},
      {op::aten_geometric__default, fill, with(Bound::probability)},
      {op::aten_log_normal__default, fill, with(Bound::positive, floats_only)},
      {op::aten_multinomial_default, multinomial},
      {op::aten_normal_Tensor_Tensor, normal_of_tensors},
      {op::aten_normal_Tensor_float, normal_of_tensors},
      {op::aten_normal_float_Tensor, normal_of_tensors},
      {op::aten_normal_float_float, normal_of_size},
      {op::aten_normal__default, fill, with(Bound::not_negative)},
      {op::aten_normal_functional_default, filled},
      {op::aten_random_default, filled},
      {op::aten_random_from, filled},
      {op::aten_random_to, filled},
      {op::aten_rrelu_default, rrelu},
      {op::aten_rrelu_with_noise_default, rrelu},
      {op::aten_rrelu_with_noise__default, drop_in_place},
      {op::aten_uniform_default, uniform},
      {op::aten_uniform__default, fill, with(Bound::none)},
  };
  return rows;
}

}  // namespace winze
