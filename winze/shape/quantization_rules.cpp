// SPDX-License-Identifier: Apache-2.0
// Quantization as export has it: numbers in ordinary tensors, after
// torch/ao/quantization/fx/_decomposed.py and aten/src/ATen/native/quantized/FakeQuant*.cpp.
#include "winze/schema/op_ids.h"
#include "winze/shape/elementwise.h"
#include "winze/shape/families.h"

namespace winze {
namespace {

FakeTensor like_with(const ShapeCall& call, const TensorMeta& input, ScalarType dtype) {
  FakeTensor result = empty_like(call.env(), input);
  result.dtype = dtype;
  return result;
}

/// The dtype of a result: that of the argument `dtype`, which a quantized input has as well.
ScalarType dtype_at(const ShapeCall& call, std::string_view name, ScalarType otherwise) {
  return call.dtype(call.position(name)).value_or(otherwise);
}

void check_float(const TensorMeta& input) {
  if (input.dtype == ScalarType::float32 || input.dtype == ScalarType::float16 ||
      input.dtype == ScalarType::bfloat16)
    return;
  fail("Expecting input to have dtype torch.float32, but got dtype: {}", full_name(input.dtype));
}

void quantize(ShapeCall& call) {
  const TensorMeta& input = call.tensor(0);
  check_float(input);
  call.yield(like_with(call, input, dtype_at(call, "dtype", input.dtype)));
}

void dequantize(ShapeCall& call) {
  const TensorMeta& input = call.tensor(0);
  const ScalarType expected = dtype_at(call, "dtype", input.dtype);
  if (input.dtype != expected)
    fail("Expecting input to have dtype: {}, but got {}", full_name(expected),
         full_name(input.dtype));
  call.yield(like_with(call, input, dtype_at(call, "out_dtype", ScalarType::float32)));
}
/// Those that name the dtype of the result `output_dtype`.
void dequantize_to(ShapeCall& call) {
  call.yield(like_with(call, call.tensor(0), dtype_at(call, "output_dtype", ScalarType::float32)));
}

/// Scale and zero point of the whole tensor.
void choose_qparams(ShapeCall& call) {
  const Device device = call.tensor(0).device;
  const DimVector one = {1};
  call.yield(empty_tensor(call.env(), one, ScalarType::float64, device));
  call.yield(empty_tensor(call.env(), one, ScalarType::int64, device));
}

/// Scale and zero point of each row.
void choose_qparams_per_token(ShapeCall& call) {
  const TensorMeta& input = call.tensor(0);
  if (input.dim() == 0) throw Error("a tensor without dimensions has no tokens");
  DimVector sizes(input.sizes);
  sizes[sizes.size() - 1] = 1;
  call.yield(empty_tensor(call.env(), sizes, ScalarType::float64, input.device));
  call.yield(empty_tensor(call.env(), sizes, ScalarType::int64, input.device));
}

void like_input(ShapeCall& call) {
  call.yield(empty_like(call.env(), call.tensor(0)));
}
void convert(ShapeCall& call) {
  const TensorMeta& input = call.tensor(0);
  call.yield(like_with(call, input, dtype_at(call, "dtype", input.dtype)));
}

/// aten::fake_quantize_per_tensor_affine; with `parameter` 1 a mask follows.
void fake_quantize(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  if (!is_floating_point(self.dtype))
    fail("fake quantization expects floats, got {}", full_name(self.dtype));
  call.yield(empty_like(call.env(), self));
  if (call.parameter() == 1) call.yield(like_with(call, self, ScalarType::bool_));
}
/// _fused_moving_avg_obs_fq_helper_functional: clones of what is observed follow.
void observed_fake_quantize(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  call.yield(empty_like(call.env(), self));
  call.yield(like_with(call, self, ScalarType::bool_));
  for (const std::uint32_t index : {3U, 4U, 5U, 6U})
    call.yield(empty_like(call.env(), call.tensor(index)));
}
/// The gradient where the mask is set.
void fake_quantize_backward(ShapeCall& call) {
  const TensorMeta& grad = call.tensor(0);
  if (call.tensor(1).dtype != ScalarType::bool_)
    fail("the mask of fake quantization is a tensor of {}", full_name(call.tensor(1).dtype));
  ElementwiseOperands operands;
  operands.add(grad);
  operands.add(call.tensor(1));
  call.yield(operands.result(call.env(), Promotion::to_common));
}

}  // namespace

std::span<const ShapeRow> quantization_rows() {
  static constexpr ShapeRow rows[] = {
      {op::aten__fake_quantize_learnable_per_channel_affine_default, fake_quantize, 0},
      {op::aten__fake_quantize_learnable_per_tensor_affine_default, fake_quantize, 0},
      {op::aten__fake_quantize_per_tensor_affine_cachemask_tensor_qparams_default, fake_quantize,
       1},
      {op::aten__fused_moving_avg_obs_fq_helper_default, fake_quantize, 1},
      {op::aten__fused_moving_avg_obs_fq_helper_functional_default, observed_fake_quantize},
      {op::aten_fused_moving_avg_obs_fake_quant_default, fake_quantize, 0},
      {op::aten_fake_quantize_per_channel_affine_default, fake_quantize, 0},
      {op::aten_fake_quantize_per_channel_affine_cachemask_default, fake_quantize, 1},
      {op::aten_fake_quantize_per_channel_affine_cachemask_backward_default,
       fake_quantize_backward},
      {op::aten_fake_quantize_per_tensor_affine_default, fake_quantize, 0},
      {op::aten_fake_quantize_per_tensor_affine_tensor_qparams, fake_quantize, 0},
      {op::aten_fake_quantize_per_tensor_affine_cachemask_default, fake_quantize, 1},
      {op::aten_fake_quantize_per_tensor_affine_cachemask_backward_default, fake_quantize_backward},
      {op::quantized_decomposed__choose_qparams_per_token_asymmetric_impl_default,
       choose_qparams_per_token},
      {op::quantized_decomposed_choose_qparams_per_token_default, choose_qparams_per_token},
      {op::quantized_decomposed_choose_qparams_per_token_asymmetric_default,
       choose_qparams_per_token},
      {op::quantized_decomposed_choose_qparams_symmetric_tensor, choose_qparams},
      {op::quantized_decomposed_choose_qparams_tensor, choose_qparams},
      {op::quantized_decomposed_convert_element_type_no_fuse, convert},
      {op::quantized_decomposed_dequantize_per_channel_default, dequantize},
      {op::quantized_decomposed_dequantize_per_channel_group_default, dequantize_to},
      {op::quantized_decomposed_dequantize_per_tensor_default, dequantize},
      {op::quantized_decomposed_dequantize_per_tensor_tensor, dequantize},
      {op::quantized_decomposed_dequantize_per_tensor_tensor2, dequantize},
      {op::quantized_decomposed_dequantize_per_token_default, dequantize_to},
      {op::quantized_decomposed_fake_quant_per_channel_default, like_input},
      {op::quantized_decomposed_quantize_per_channel_default, quantize},
      {op::quantized_decomposed_quantize_per_channel_group_default, convert},
      {op::quantized_decomposed_quantize_per_tensor_default, quantize},
      {op::quantized_decomposed_quantize_per_tensor_tensor, quantize},
      {op::quantized_decomposed_quantize_per_tensor_tensor2, quantize},
      {op::quantized_decomposed_quantize_per_token_default, convert},
  };
  return rows;
}

}  // namespace winze
