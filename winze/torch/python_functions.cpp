// SPDX-License-Identifier: Apache-2.0
// Operators whose kernels are written in Python, and Python functions that export leaves in a
// graph. Each follows PyTorch's source: torch/ao/quantization/fx/_decomposed.py,
// torch/amp/autocast_mode.py.
#include <span>

#include <ATen/autocast_mode.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

#include "winze/torch/machine.h"
#include "winze/torch/native_functions.h"
#include "winze/torch/vmap_functions.h"

namespace winze {
namespace {

using c10::IValue;
using Arguments = std::span<const IValue>;

double to_double(const IValue& value) {
  if (value.isTensor()) return value.toTensor().item().toDouble();
  return value.toScalar().toDouble();
}
std::int64_t to_long(const IValue& value) {
  if (value.isTensor()) return value.toTensor().item().toLong();
  return value.toScalar().toLong();
}
at::ScalarType dtype_of(const IValue& value, at::ScalarType otherwise) {
  return value.isNone() ? otherwise : static_cast<at::ScalarType>(value.toInt());
}

at::Tensor as_float32(const at::Tensor& input) {
  const bool is_half = input.scalar_type() == at::kHalf || input.scalar_type() == at::kBFloat16;
  at::Tensor result = is_half ? input.to(at::kFloat) : input;
  TORCH_CHECK(result.scalar_type() == at::kFloat, "its input has dtype ", result.scalar_type(),
              " instead of float32");
  return result;
}

// (input, scale, zero_point, quant_min, quant_max, dtype)
void quantize_per_tensor(Arguments a, Stack& results) {
  const double inverse = 1.0 / to_double(a[1]);
  const at::Tensor quantized =
      at::Tensor(as_float32(a[0].toTensor()) * inverse).round() + to_long(a[2]);
  results.emplace_back(quantized.clamp(to_long(a[3]), to_long(a[4])).to(dtype_of(a[5], at::kByte)));
}

// (input, scale, zero_point, quant_min, quant_max, dtype, *, out_dtype)
void dequantize_per_tensor(Arguments a, Stack& results) {
  const at::ScalarType dtype = a.size() > 6 ? dtype_of(a[6], at::kFloat) : at::kFloat;
  results.emplace_back((a[0].toTensor().to(dtype) - to_long(a[2])) * to_double(a[1]));
}

/// A tensor with one element for each channel, in the shape that meets `input` at `axis`.
at::Tensor along(const IValue& values, const at::Tensor& input, std::int64_t axis) {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(input.dim()), 1);
  TORCH_CHECK(axis < input.dim(), "there is no axis ", axis);
  shape[static_cast<std::size_t>(axis)] = -1;
  return values.toTensor().view(shape);
}

// (input, scales, zero_points, axis, quant_min, quant_max, dtype)
void quantize_per_channel(Arguments a, Stack& results) {
  const at::Tensor input = as_float32(a[0].toTensor());
  const std::int64_t axis = to_long(a[3]);
  const at::Tensor scaled = input * along(a[1], input, axis).reciprocal();
  results.emplace_back((scaled.round() + along(a[2], input, axis))
                           .clamp(to_long(a[4]), to_long(a[5]))
                           .to(dtype_of(a[6], at::kByte)));
}

// (input, scales, zero_points, axis, quant_min, quant_max, dtype, *, out_dtype)
void dequantize_per_channel(Arguments a, Stack& results) {
  const at::Tensor input = a[0].toTensor();
  const std::int64_t axis = to_long(a[3]);
  const at::Tensor shifted = a[2].isNone() ? input : input - along(a[2], input, axis);
  const at::ScalarType dtype = a.size() > 7 ? dtype_of(a[7], at::kFloat) : at::kFloat;
  results.emplace_back((shifted * along(a[1], input, axis)).to(dtype));
}

struct Extremes {
  at::Tensor low;   ///< at most 0
  at::Tensor high;  ///< at least 0
};
Extremes extremes_of(const at::Tensor& input) {
  return {input.min().clamp_max(0), input.max().clamp_min(0)};
}

// (input, quant_min, quant_max, eps, dtype)
void choose_qparams(Arguments a, Stack& results) {
  const Extremes extremes = extremes_of(a[0].toTensor());
  const double range = static_cast<double>(to_long(a[2]) - to_long(a[1]));
  const at::Tensor scale = ((extremes.high - extremes.low) / range).clamp_min(to_double(a[3]));
  const at::Tensor zero_point = ((extremes.low / scale).round().to(at::kInt).neg() + to_long(a[1]))
                                    .clamp(to_long(a[1]), to_long(a[2]));
  results.emplace_back(scale.to(at::kDouble).view({1}));
  results.emplace_back(zero_point.to(at::kLong).view({1}));
}

void choose_qparams_symmetric(Arguments a, Stack& results) {
  const Extremes extremes = extremes_of(a[0].toTensor());
  const double range = static_cast<double>(to_long(a[2]) - to_long(a[1]));
  const at::Tensor high = at::maximum(extremes.low.neg(), extremes.high);
  results.emplace_back((high / (range / 2)).clamp_min(to_double(a[3])).to(at::kDouble).view({1}));
  const bool is_unsigned = dtype_of(a[4], at::kByte) == at::kByte;
  results.emplace_back(at::zeros({1}, at::kLong) + (is_unsigned ? 128 : 0));
}

// transformers' matrix product by groups of rows: (input, weight, offs)
void grouped_mm_fallback(Arguments a, Stack& results) {
  const at::Tensor input = a[0].toTensor();
  const at::Tensor weight = a[1].toTensor();
  const at::Tensor ends = a[2].toTensor().to(at::kLong).contiguous();
  at::Tensor output = at::zeros({input.size(0), weight.size(2)}, input.options());
  std::int64_t begin = 0;
  for (std::int64_t group = 0; group < ends.size(0); ++group) {
    const std::int64_t end = ends.const_data_ptr<std::int64_t>()[group];
    if (begin == end) continue;
    output.slice(0, begin, end).copy_(at::mm(input.slice(0, begin, end), weight.select(0, group)));
    begin = end;
  }
  results.emplace_back(std::move(output));
}

void set_grad_enabled(Arguments a, Stack& /*results*/) {
  at::GradMode::set_enabled(a[0].toBool());
}

void nothing(Arguments /*a*/, Stack& /*results*/) {}

using PythonFunction = void (*)(Arguments, Stack&);

template <PythonFunction function>
void call(Machine& /*machine*/, const Instruction& /*instruction*/, Stack& stack) {
  Stack results;
  function(stack, results);
  stack = std::move(results);
}

// (device_type, dtype, enabled, cache_enabled) as torch.amp.autocast takes them.
void enter_autocast(Machine& machine, const Instruction& /*instruction*/, Stack& stack) {
  push_autocast(machine, stack);
  stack.assign(1, IValue());
}
void exit_autocast(Machine& machine, const Instruction& /*instruction*/, Stack& stack) {
  TORCH_CHECK(!machine.autocast_states.empty(), "autocast is left where it was not entered");
  pop_autocast(machine);
  stack.assign(1, IValue());
}

constexpr NamedFunction python_functions[] = {
    {"quantized_decomposed.choose_qparams.tensor", call<choose_qparams>},
    {"quantized_decomposed.choose_qparams_symmetric.tensor", call<choose_qparams_symmetric>},
    {"quantized_decomposed.dequantize_per_channel.default", call<dequantize_per_channel>},
    {"quantized_decomposed.dequantize_per_tensor.default", call<dequantize_per_tensor>},
    {"quantized_decomposed.dequantize_per_tensor.tensor", call<dequantize_per_tensor>},
    {"quantized_decomposed.dequantize_per_tensor.tensor2", call<dequantize_per_tensor>},
    {"quantized_decomposed.quantize_per_channel.default", call<quantize_per_channel>},
    {"quantized_decomposed.quantize_per_tensor.default", call<quantize_per_tensor>},
    {"quantized_decomposed.quantize_per_tensor.tensor", call<quantize_per_tensor>},
    {"quantized_decomposed.quantize_per_tensor.tensor2", call<quantize_per_tensor>},
    {"transformers.grouped_mm_fallback.default", call<grouped_mm_fallback>},
    {"torch._C._set_grad_enabled", call<set_grad_enabled>},
    {"torch.autograd.grad_mode.set_grad_enabled", call<set_grad_enabled>},
    {"torch.amp.autocast_mode._enter_autocast", enter_autocast},
    {"torch.amp.autocast_mode._exit_autocast", exit_autocast},
    {"torch._functorch.predispatch.lazy_load_decompositions", call<nothing>},
    {"torch._functorch.predispatch._add_batch_dim", add_batch_dim},
    {"torch._functorch.predispatch._remove_batch_dim", remove_batch_dim},
    {"torch._functorch.predispatch._vmap_increment_nesting", vmap_increment_nesting},
    {"torch._functorch.predispatch._vmap_decrement_nesting", vmap_decrement_nesting},
};

}  // namespace

void push_autocast(Machine& machine, std::span<const IValue> settings) {
  const c10::DeviceType device = c10::Device(settings[0].toStringRef()).type();
  machine.autocast_states.push_back({.device = device,
                                     .enabled = at::autocast::is_autocast_enabled(device),
                                     .dtype = at::autocast::get_autocast_dtype(device),
                                     .cache_enabled = at::autocast::is_autocast_cache_enabled()});
  if (settings.size() > 1 && !settings[1].isNone())
    at::autocast::set_autocast_dtype(device, dtype_of(settings[1], at::kFloat));
  at::autocast::set_autocast_enabled(device, settings.size() < 3 || settings[2].toBool());
  if (settings.size() > 3 && !settings[3].isNone())
    at::autocast::set_autocast_cache_enabled(settings[3].toBool());
  at::autocast::increment_nesting();
}

void pop_autocast(Machine& machine) {
  const Machine::AutocastState& state = machine.autocast_states.back();
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(state.device, state.enabled);
  at::autocast::set_autocast_dtype(state.device, state.dtype);
  at::autocast::set_autocast_cache_enabled(state.cache_enabled);
  machine.autocast_states.pop_back();
}

NativeFunction find_python_function(std::string_view name) {
  return find_function(python_functions, name);
}

}  // namespace winze
