// SPDX-License-Identifier: Apache-2.0
// Normalization, and attention.
#include "winze/schema/op_ids.h"
#include "winze/shape/elementwise.h"
#include "winze/shape/families.h"

namespace winze {
namespace {

void yield_statistics(ShapeCall& call, Sizes sizes, ScalarType dtype) {
  call.yield(empty_tensor(call.env(), sizes, dtype, call.tensor(0).device));
}

/// layer_norm and native_layer_norm(input, normalized_shape, weight, bias, eps); `parameter` 1
/// yields mean and rstd too.
void layer_norm(ShapeCall& call) {
  const TensorMeta& input = call.tensor(0);
  const DimVector normalized = call.sym_ints(1);
  if (normalized.empty() || normalized.size() > input.dim())
    throw Error(
        "Expected normalized_shape to be at least 1-dimensional, and the last dimensions "
        "of the input");
  const std::size_t axis = input.dim() - normalized.size();
  for (std::size_t at = 0; at < normalized.size(); ++at) {
    call.env().require_equal(normalized[at], input.sizes[axis + at], [&] {
      return fmt::format(
          "Given normalized_shape with size {}, expected input of that size, but got "
          "{}",
          call.env().str(normalized[at]), call.env().str(input.sizes[axis + at]));
    });
  }
  call.yield(empty_like(call.env(), input, MemoryFormat::contiguous_format));
  if (call.parameter() == 0) return;
  DimVector sizes(input.sizes.first(axis));
  sizes.resize(input.dim(), 1);
  yield_statistics(call, sizes, input.dtype);
  yield_statistics(call, sizes, input.dtype);
}

void group_norm(ShapeCall& call) {
  const TensorMeta& input = call.tensor(0);
  call.yield(empty_like(call.env(), input, MemoryFormat::contiguous_format));
}
/// native_group_norm(input, weight, bias, N, C, HxW, group, eps)
void native_group_norm(ShapeCall& call) {
  if (!is_contiguous(call.env(), call.tensor(0)))
    call.cannot_infer("the layout of native_group_norm of what is not contiguous");
  group_norm(call);
  const DimVector sizes = {call.sym_int(3), call.sym_int(6)};
  yield_statistics(call, sizes, call.tensor(0).dtype);
  yield_statistics(call, sizes, call.tensor(0).dtype);
}

void batch_norm(ShapeCall& call) {
  ElementwiseOperands operands;
  operands.add(call.tensor(0));
  call.yield(operands.result(call.env(), Promotion::to_common));
}
void batch_norm_no_training(ShapeCall& call) {
  batch_norm(call);
  const ScalarType dtype = call.tensor(0).dtype;
  yield_statistics(call, DimVector{0}, dtype);
  yield_statistics(call, DimVector{0}, dtype);
}
/// native_batch_norm and _native_batch_norm_legit(input, weight, bias, running_mean, running_var,
/// training, momentum, eps); `parameter` 1: _functional, with the new running statistics.
void native_batch_norm(ShapeCall& call) {
  const TensorMeta& input = call.tensor(0);
  if (input.dim() < 2) call.cannot_infer("the input of batch_norm has {} dimensions", input.dim());
  batch_norm(call);
  const DimVector sizes = {call.boolean(5) ? input.sizes[1] : SymInt(0)};
  yield_statistics(call, sizes, input.dtype);
  yield_statistics(call, sizes, input.dtype);
  if (call.parameter() == 0) return;
  call.yield(empty_like(call.env(), call.tensor(3)));
  call.yield(empty_like(call.env(), call.tensor(4)));
}

/// scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale,
/// enable_gqa) on the CPU: the fused kernel lays its result out like the query
/// (aten/src/ATen/native/transformers/sdp_utils_cpp.cpp says when), the other is contiguous.
void attention(ShapeCall& call) {
  const TensorMeta& query = call.tensor(0);
  const TensorMeta& key = call.tensor(1);
  const TensorMeta& value = call.tensor(2);
  const ShapeEnv& env = call.env();
  if (query.dim() < 2 || key.dim() < 2 || value.dim() < 2)
    throw Error("Expected query, key, and value to all be at least 2 dimensional");
  if (query.device.type != 0) call.cannot_infer("the layout of attention depends on the device");
  DimVector sizes(query.sizes);
  sizes[sizes.size() - 1] = value.sizes[value.dim() - 1];
  const auto dropout = call.constant_number(4);
  const auto same = [&](std::size_t dim) {
    return env.known_equal(query.sizes[dim], key.sizes[dim]) &&
           env.known_equal(query.sizes[dim], value.sizes[dim]);
  };
  const auto dense_rows = [&](const TensorMeta& tensor) {
    return env.known_one(tensor.strides[3]);
  };
  const bool fused = query.dim() == 4 && key.dim() == 4 && value.dim() == 4 && dropout == 0.0 &&
                     same(0) && same(1) && same(3) && dense_rows(query) && dense_rows(key) &&
                     dense_rows(value) && !env.known_zero(query.sizes[2]) &&
                     !env.known_zero(key.sizes[2]);
  call.yield(fused ? empty_like(env, query) : empty_tensor(env, sizes, query.dtype, query.device));
}

constexpr ShapeRow rows[] = {
    {op::aten__native_batch_norm_legit_default, native_batch_norm, 0},
    {op::aten__native_batch_norm_legit_functional_default, native_batch_norm, 1},
    {op::aten__native_batch_norm_legit_no_training_default, batch_norm_no_training},
    {op::aten_batch_norm_default, batch_norm},
    {op::aten_group_norm_default, group_norm},
    {op::aten_layer_norm_default, layer_norm, 0},
    {op::aten_native_group_norm_default, native_group_norm},
    {op::aten_native_layer_norm_default, layer_norm, 1},
    {op::aten_scaled_dot_product_attention_default, attention},
};

}  // namespace

std::span<const ShapeRow> normalization_rows() {
  return rows;
}

}  // namespace winze
