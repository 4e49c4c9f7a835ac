// SPDX-License-Identifier: Apache-2.0
// Gradients of normalization, of views and of indexing, after torch/_decomp/decompositions.py and
// aten/src/ATen/native.
#include <array>

#include "winze/schema/op_ids.h"
#include "winze/shape/elementwise.h"
#include "winze/shape/families.h"
#include "winze/shape/views.h"

namespace winze {
namespace {

/// Which gradients are wanted: an argument `bool[2]` or `bool[3]`.
std::array<bool, 3> output_mask(const ShapeCall& call) {
  const DimVector given = call.sym_ints(call.position("output_mask"));
  std::array<bool, 3> mask{};
  for (std::size_t at = 0; at < std::min(given.size(), mask.size()); ++at)
    mask[at] = !call.env().known_zero(given[at]);
  return mask;
}

void yield_empty(ShapeCall& call, bool is_wanted, Sizes sizes, const TensorMeta& like,
                 std::optional<ScalarType> dtype = {}) {
  if (!is_wanted) return call.yield_none();
  call.yield(empty_tensor(call.env(), sizes, dtype.value_or(like.dtype), like.device));
}

// --- Normalization

/// native_layer_norm_backward(grad_out, input, normalized_shape, mean, rstd, weight, bias, mask)
/// and _fused_rms_norm_backward(grad_out, input, normalized_shape, rstd, weight, mask): `parameter`
/// is the position of the weight, and whether a bias follows it.
constexpr std::uint32_t has_bias = 16;
void layer_norm_backward(ShapeCall& call) {
  const TensorMeta& input = call.tensor(1);
  const std::uint32_t weight_at = call.parameter() % has_bias;
  const std::size_t count = call.sym_ints(2).size();
  if (count > input.dim()) fail("normalized_shape has {} sizes, more than the input", count);
  const Sizes inner = input.sizes.subspan(input.dim() - count);
  const auto mask = output_mask(call);
  yield_empty(call, mask[0], input.sizes, input);
  yield_empty(call, mask[1] && !call.is_none(weight_at), inner, input);
  if (call.parameter() >= has_bias)
    yield_empty(call, mask[2] && !call.is_none(weight_at + 1), inner, input);
}

/// native_group_norm_backward(grad_out, input, mean, rstd, weight, N, C, HxW, group, mask)
void group_norm_backward(ShapeCall& call) {
  const TensorMeta& input = call.tensor(1);
  const DimVector channels = {call.sym_int(6)};
  const auto mask = output_mask(call);
  yield_empty(call, mask[0], input.sizes, input);
  yield_empty(call, mask[1], channels, input);
  yield_empty(call, mask[2], channels, input);
}

/// Where the arguments of the gradient of a batch norm stand.
struct BatchNormBackward {
  std::uint32_t grad = 0;
  std::uint32_t input = 1;
  std::uint32_t weight = 2;
  bool is_training = true;
  std::array<bool, 3> mask = {true, true, true};
};

/// Elementwise with numbers for each channel.
void batch_norm_gradients(ShapeCall& call, const BatchNormBackward& norm) {
  ShapeEnv& env = call.env();
  const TensorMeta& grad = call.tensor(norm.grad);
  const TensorMeta& input = call.tensor(norm.input);
  if (input.dim() < 2) fail("rank of the input must be at least 2, got {}", input.dim());
  DimVector sizes(input.dim(), 1);
  sizes[1] = input.sizes[1];
  const FakeTensor channel = empty_tensor(env, sizes, input.dtype, input.device);
  const TensorMeta per_channel = channel;
  ElementwiseOperands operands;
  operands.add_without_dtype(grad);
  if (norm.is_training) operands.add_without_dtype(input);
  operands.add_without_dtype(per_channel);
  call.yield(operands.result_of(env, input.dtype));
  const TensorMeta* const weight = call.optional_tensor(norm.weight);
  const ScalarType dtype = weight == nullptr ? input.dtype : weight->dtype;
  const DimVector channels = {input.sizes[1]};
  yield_empty(call, norm.mask[1], channels, input, dtype);
  yield_empty(call, norm.mask[2], channels, input, dtype);
}

/// native_batch_norm_backward(grad_out, input, weight, ..., train, eps, output_mask)
void batch_norm_backward(ShapeCall& call) {
  batch_norm_gradients(call, {.is_training = call.boolean(7), .mask = output_mask(call)});
}
/// cudnn_batch_norm_backward and miopen_batch_norm_backward(input, grad_output, weight, ...)
void device_batch_norm_backward(ShapeCall& call) {
  batch_norm_gradients(call, {.grad = 1, .input = 0});
}
/// _batch_norm_impl_index_backward(impl_index, input, grad_output, weight, ..., train, ...)
void batch_norm_backward_of_index(ShapeCall& call) {
  batch_norm_gradients(
      call, {.grad = 2, .weight = 3, .is_training = call.boolean(8), .mask = output_mask(call)});
}

/// _weight_norm_interface_backward(grad_w, saved_v, saved_g, ...): gradients of v and g.
void weight_norm_backward(ShapeCall& call) {
  for (const std::uint32_t index : {1U, 2U}) call.yield(empty_like(call.env(), call.tensor(index)));
}

// --- Views and indexing

/// Zeros of the sizes of the input, with the gradient written in: select_backward(grad, sizes,
/// ...). `parameter` is the position of the sizes.
void into_zeros(ShapeCall& call) {
  const TensorMeta& grad = call.tensor(0);
  call.yield(empty_tensor(call.env(), call.sym_ints(call.parameter()), grad.dtype, grad.device));
}
/// The same where the input itself is given.
void into_zeros_like(ShapeCall& call) {
  const TensorMeta& self = call.tensor(call.parameter());
  call.yield(empty_tensor(call.env(), self.sizes, call.tensor(0).dtype, self.device));
}

/// unfold_backward(grad, input_sizes, dim, size, step): the gradient has a dimension for windows.
void unfold_backward(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& grad = call.tensor(0);
  const DimVector sizes = call.sym_ints(1);
  const SymInt size = call.sym_int(3);
  DimVector expected(sizes);
  if (!sizes.empty()) {
    const std::size_t dim = call.dim(2, sizes.size());
    expected[dim] = env.add(env.floor_div(env.sub(sizes[dim], size), call.sym_int(4)), 1);
  }
  expected.push_back(size);
  if (sizes.empty()) expected = DimVector(grad.sizes);
  if (expected.size() != grad.dim()) {
    fail("unfold_backward: a gradient of {} dimensions is expected, not {}", expected.size(),
         grad.dim());
  }
  for (std::size_t at = 0; at < expected.size(); ++at) {
    env.require_equal(grad.sizes[at], expected[at], [&] {
      return fmt::format("unfold_backward: the gradient has the size {} at dimension {}, not {}",
                         env.str(grad.sizes[at]), at, env.str(expected[at]));
    });
  }
  call.yield(empty_tensor(env, sizes, grad.dtype, grad.device));
}

/// glu(self, dim): half of the tensor times a function of the other half.
FakeTensor half_of(ShapeCall& call, const TensorMeta& self, std::uint32_t dim_at) {
  ShapeEnv& env = call.env();
  if (self.dim() == 0) throw Error("glu does not support 0-dimensional tensors");
  const std::size_t dim = call.dim(dim_at, self.dim());
  const SymInt size = self.sizes[dim];
  if (!env.known_multiple(size, 2)) {
    env.require_equal(env.mod(size, 2), 0, [&] {
      return fmt::format("Halving dimension must be even, but dimension {} is size {}", dim,
                         env.str(size));
    });
  }
  const SymInt half = env.floor_div(size, 2);
  return narrow(env, self, dim, 0, half);
}
void glu(ShapeCall& call) {
  const FakeTensor half = half_of(call, call.tensor(0), 1);
  const TensorMeta operand = half;
  ElementwiseOperands operands;
  operands.add(operand);
  call.yield(operands.result(call.env(), Promotion::to_common));
}
/// glu_jvp(glu, x, dx, dim): the derivative in the direction of `dx`.
void glu_jvp(ShapeCall& call) {
  const FakeTensor gate = half_of(call, call.tensor(1), 3);
  const FakeTensor direction = half_of(call, call.tensor(2), 3);
  const TensorMeta factors[] = {direction, gate};
  ElementwiseOperands operands;
  for (const TensorMeta& factor : factors) operands.add(factor);
  operands.add(call.tensor(0));
  call.yield(operands.result(call.env(), Promotion::to_common));
}
void glu_backward(ShapeCall& call) {
  const TensorMeta& self = call.tensor(1);
  static_cast<void>(half_of(call, self, 2));
  call.yield(empty_tensor(call.env(), self.sizes, self.dtype, self.device));
}

/// native_dropout_backward(grad, mask): in the memory format of the gradient.
void dropout_backward(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& grad = call.tensor(0);
  call.yield(empty_tensor(env, broadcast_sizes(env, grad.sizes, call.tensor(1).sizes),
                          promoted(grad.dtype, Promotion::int_to_float), grad.device,
                          suggest_memory_format(env, grad)));
}

/// _prelu_kernel_backward(self, weight, grad): both as they broadcast; the weight has the first say
/// in the layout.
void prelu_backward(ShapeCall& call) {
  ElementwiseOperands operands;
  for (const std::uint32_t index : {1U, 0U, 2U}) operands.add(call.tensor(index));
  const FakeTensor result = operands.result(call.env(), Promotion::to_common);
  call.yield(result);
  call.yield(result);
}

/// linear_backward(self, grad_output, weight, output_mask): contiguous. Gradients of weight and
/// bias are computed together.
void linear_backward(ShapeCall& call) {
  const TensorMeta& input = call.tensor(0);
  const TensorMeta& grad = call.tensor(1);
  if (input.dim() == 0 || grad.dim() == 0)
    throw Error("linear_backward expects tensors with dimensions");
  const auto mask = output_mask(call);
  const bool has_parameters = mask[1] || mask[2];
  const DimVector weight = {grad.sizes.back(), input.sizes.back()};
  yield_empty(call, mask[0], input.sizes, grad);
  yield_empty(call, has_parameters, weight, grad);
  yield_empty(call, has_parameters, Sizes(weight).first(1), grad);
}

/// _masked_scale(self, mask, scale): in the memory format of `self`.
void masked_scale(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  call.yield(empty_like(call.env(), self, suggest_memory_format(call.env(), self)));
}

/// _fake_quantize_learnable_per_tensor_affine_backward(grad, self, scale, ...) and the one per
/// channel: gradients of the input, the scale and the zero point.
void learnable_fake_quantize_backward(ShapeCall& call) {
  const ShapeEnv& env = call.env();
  const TensorMeta& self = call.tensor(1);
  const TensorMeta& scale = call.tensor(2);
  call.yield(empty_like(env, self));
  for (int count = 0; count < 2; ++count)
    call.yield(empty_tensor(env, scale.sizes, self.dtype, scale.device));
}

/// grid_sampler_2d_backward(grad, input, grid, ..., output_mask) and the one for 3 dimensions.
void grid_sampler_backward(ShapeCall& call) {
  const TensorMeta& input = call.tensor(1);
  const TensorMeta& grid = call.tensor(2);
  yield_empty(call, output_mask(call)[0], input.sizes, input);
  call.yield(empty_tensor(call.env(), grid.sizes, grid.dtype, grid.device));
}

/// aten/src/ATen/native/ReduceOps.cpp cumprod_backward: the gradient itself where a product has one
/// factor, else a new one.
void cumprod_backward(ShapeCall& call) {
  const ShapeEnv& env = call.env();
  const TensorMeta& gradient = call.tensor(0);
  const TensorMeta& input = call.tensor(1);
  if (input.dim() == 0 || env.known_equal(input.sizes[call.dim(2, input.dim())], 1))
    return call.yield(gradient);
  call.yield(empty_tensor(env, gradient.sizes, gradient.dtype, gradient.device));
}

/// _cdist_backward(grad, x1, x2, p, cdist), and others whose gradient is contiguous and of the
/// sizes of argument 1.
void gradient_of_input(ShapeCall& call) {
  const TensorMeta& a = call.tensor(1);
  call.yield(empty_tensor(call.env(), a.sizes, a.dtype, a.device));
}

}  // namespace

std::span<const ShapeRow> backward_rows() {
  static constexpr ShapeRow rows[] = {
      {op::aten_batch_norm_backward_default, batch_norm_backward},
      {op::aten__batch_norm_impl_index_backward_default, batch_norm_backward_of_index},
      {op::aten__cdist_backward_default, gradient_of_input},
      {op::aten__fake_quantize_learnable_per_channel_affine_backward_default,
       learnable_fake_quantize_backward},
      {op::aten__fake_quantize_learnable_per_tensor_affine_backward_default,
       learnable_fake_quantize_backward},
      {op::aten__fused_rms_norm_backward_default, layer_norm_backward, 4},
      {op::aten__masked_scale_default, masked_scale},
      {op::aten__pdist_backward_default, gradient_of_input},
      {op::aten__prelu_kernel_backward_default, prelu_backward},
      {op::aten__weight_norm_differentiable_backward_default, weight_norm_backward},
      {op::aten__weight_norm_interface_backward_default, weight_norm_backward},
      {op::aten_cudnn_batch_norm_backward_default, device_batch_norm_backward},
      {op::aten_cummaxmin_backward_default, gradient_of_input},
      {op::aten_cumprod_backward_default, cumprod_backward},
      {op::aten_diagonal_backward_default, into_zeros, 1},
      {op::aten_glu_default, glu},
      {op::aten_gather_backward_default, into_zeros_like, 1},
      {op::aten_glu_backward_default, glu_backward},
      {op::aten_glu_jvp_default, glu_jvp},
      {op::aten_grid_sampler_2d_backward_default, grid_sampler_backward},
      {op::aten_grid_sampler_3d_backward_default, grid_sampler_backward},
      {op::aten_index_select_backward_default, into_zeros, 1},
      {op::aten_linear_backward_default, linear_backward},
      {op::aten_masked_scatter_backward_default, into_zeros, 2},
      {op::aten_masked_select_backward_default, into_zeros_like, 1},
      {op::aten_miopen_batch_norm_backward_default, device_batch_norm_backward},
      {op::aten_native_batch_norm_backward_default, batch_norm_backward},
      {op::aten_native_dropout_backward_default, dropout_backward},
      {op::aten_native_group_norm_backward_default, group_norm_backward},
      {op::aten_native_layer_norm_backward_default, layer_norm_backward, 5 + has_bias},
      {op::aten_select_backward_default, into_zeros, 1},
      {op::aten_slice_backward_default, into_zeros, 1},
      {op::aten_trace_backward_default, into_zeros, 1},
      {op::aten_unfold_backward_default, unfold_backward},
      {op::aten_value_selecting_reduction_backward_default, into_zeros, 3},
  };
  return rows;
}

}  // namespace winze
