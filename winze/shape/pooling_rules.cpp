// SPDX-License-Identifier: Apache-2.0
// Pooling, after torch/_meta_registrations.py and aten/src/ATen/native/Pool.h.
#include "winze/schema/op_ids.h"
#include "winze/shape/families.h"
#include "winze/shape/views.h"

namespace winze {
namespace {

/// The windows that a pooling operator moves over the last `count` dimensions.
struct Windows {
  DimVector kernel;
  DimVector stride;
  DimVector padding;
  DimVector dilation;
  bool ceil_mode = false;
};

/// Where the arguments of a pooling operator stand; the kernel is the first.
struct WindowArguments {
  std::uint32_t first = 1;
  bool has_dilation = false;
};

/// One value stands for all dimensions.
DimVector for_each_dim(const ShapeCall& call, const DimVector& values, std::size_t count,
                       std::string_view name) {
  if (values.size() == count) return values;
  if (values.size() != 1) {
    fail("{}: {} must be one int, or {} of them, but got {}", call.op().schema.name, name, count,
         values.size());
  }
  return DimVector(count, values[0]);
}

Windows windows_of(const ShapeCall& call, std::size_t count, WindowArguments at) {
  Windows windows;
  windows.kernel = for_each_dim(call, call.sym_ints(at.first), count, "kernel_size");
  const DimVector stride = call.sym_ints(at.first + 1);
  windows.stride = stride.empty() ? windows.kernel : for_each_dim(call, stride, count, "stride");
  windows.padding = for_each_dim(call, call.sym_ints(at.first + 2), count, "padding");
  windows.dilation = at.has_dilation
                         ? for_each_dim(call, call.sym_ints(at.first + 3), count, "dilation")
                         : DimVector(count, 1);
  windows.ceil_mode = call.boolean(at.first + (at.has_dilation ? 4 : 3));
  return windows;
}

void require_positive(ShapeEnv& env, const DimVector& values, std::string_view name) {
  for (const SymInt value : values) {
    env.require_at_least(value, 1, [&] {
      return fmt::format("{} should be greater than zero, but got {}", name, env.str(value));
    });
  }
}

/// pooling_output_shape
SymInt pooled_size(const ShapeCall& call, SymInt size, const Windows& windows, std::size_t dim) {
  ShapeEnv& env = call.env();
  const SymInt kernel = windows.kernel[dim];
  const SymInt padding = windows.padding[dim];
  const SymInt stride = windows.stride[dim];
  const SymInt reach = env.mul(windows.dilation[dim], env.sub(kernel, 1));
  env.require_at_least(padding, 0, [&] {
    return fmt::format("pad must be non-negative, but got pad: {}", env.str(padding));
  });
  env.require_at_least(env.floor_div(kernel, 2), padding, [&] {
    return fmt::format(
        "pad should be at most half of effective kernel size, but got pad={}, kernel_size={} and "
        "dilation={}",
        env.str(padding), env.str(kernel), env.str(windows.dilation[dim]));
  });
  SymInt last = env.sub(env.sub(env.add(size, env.mul(padding, 2)), reach), 1);
  if (windows.ceil_mode) last = env.add(last, env.sub(stride, 1));
  SymInt result = env.add(env.floor_div(last, stride), 1);
  if (!windows.ceil_mode) return result;
  // The last window has to start inside the input or the padding on its left.
  const SymInt start = env.mul(env.sub(result, 1), stride);
  const SymInt end = env.add(size, padding);
  if (env.known_at_least(start, end)) return env.sub(result, 1);
  if (!env.known_less(start, end))
    call.cannot_infer("where the last window of {} starts depends on sizes", call.op().schema.name);
  return result;
}

/// Dimensions other than that of the batch may not be empty.
void check_input(const ShapeCall& call, const TensorMeta& input, std::size_t count) {
  ShapeEnv& env = call.env();
  const bool is_batch = input.dim() == count + 2;
  if (!is_batch && input.dim() != count + 1) {
    fail("{}: Expected {}D or {}D (batch mode) tensor, but got {}D", call.op().schema.name,
         count + 1, count + 2, input.dim());
  }
  for (std::size_t dim = is_batch ? 1 : 0; dim < input.dim(); ++dim) {
    env.require_at_least(input.sizes[dim], 1, [&] {
      return fmt::format(
          "{}: Expected input's non-batch dimensions to have positive length, but dimension {} is "
          "{}",
          call.op().schema.name, dim, env.str(input.sizes[dim]));
    });
  }
}

DimVector pooled_sizes(const ShapeCall& call, const TensorMeta& input, const Windows& windows) {
  ShapeEnv& env = call.env();
  const std::size_t count = windows.kernel.size();
  check_input(call, input, count);
  require_positive(env, windows.kernel, "kernel size");
  require_positive(env, windows.stride, "stride");
  require_positive(env, windows.dilation, "dilation");
  DimVector sizes(input.sizes.first(input.dim() - count));
  for (std::size_t dim = 0; dim < count; ++dim) {
    sizes.push_back(pooled_size(call, input.sizes[sizes.size()], windows, dim));
    env.require_at_least(sizes.back(), 1, [&] {
      return fmt::format("{}: output size {} is too small", call.op().schema.name,
                         env.str(sizes.back()));
    });
  }
  return sizes;
}

/// The memory format that results keep: operators over three dimensions that average do not.
MemoryFormat kept_format(const ShapeCall& call, const TensorMeta& input) {
  return suggest_memory_format(call.env(), input);
}

void yield_with_indices(ShapeCall& call, const TensorMeta& input, Sizes sizes) {
  const MemoryFormat format = kept_format(call, input);
  call.yield(empty_tensor(call.env(), sizes, input.dtype, input.device, format));
  call.yield(empty_tensor(call.env(), sizes, ScalarType::int64, input.device, format));
}

/// aten::max_pool2d_with_indices, max_pool3d_with_indices
void max_pool_with_indices(ShapeCall& call) {
  const TensorMeta& input = call.tensor(0);
  const Windows windows = windows_of(call, call.parameter(), {.has_dilation = true});
  yield_with_indices(call, input, pooled_sizes(call, input, windows));
}

/// prims::_low_memory_max_pool_with_offsets(self, kernel_size, ...): the offset in the window of
/// each maximum, as a byte; and _offsets_to_indices of these.
void max_pool_with_offsets(ShapeCall& call) {
  const TensorMeta& input = call.tensor(0);
  const Windows windows = windows_of(call, call.sym_ints(1).size(), {.has_dilation = true});
  const DimVector sizes = pooled_sizes(call, input, windows);
  const MemoryFormat format = kept_format(call, input);
  call.yield(empty_tensor(call.env(), sizes, input.dtype, input.device, format));
  call.yield(empty_tensor(call.env(), sizes, ScalarType::int8, input.device, format));
}
void max_pool_offsets_to_indices(ShapeCall& call) {
  FakeTensor result = empty_like(call.env(), call.tensor(0));
  result.dtype = ScalarType::int64;
  call.yield(result);
}

/// aten::max_pool2d, max_pool3d
void max_pool(ShapeCall& call) {
  const TensorMeta& input = call.tensor(0);
  const Windows windows = windows_of(call, call.parameter(), {.has_dilation = true});
  call.yield(empty_tensor(call.env(), pooled_sizes(call, input, windows), input.dtype, input.device,
                          kept_format(call, input)));
}

void check_averaged(const TensorMeta& input, std::string_view name) {
  switch (input.dtype) {
    case ScalarType::uint8:
    case ScalarType::uint16:
    case ScalarType::uint32:
    case ScalarType::uint64:
      fail("\"{}\" not implemented for '{}'", name, full_name(input.dtype));
    default:
      break;
  }
}

void check_divisor(const ShapeCall& call, std::uint32_t index) {
  const auto divisor = call.optional_sym_int(index);
  if (divisor && call.env().known_zero(*divisor)) throw Error("divisor must be not zero");
}

/// aten::avg_pool2d, avg_pool3d
void avg_pool(ShapeCall& call) {
  const TensorMeta& input = call.tensor(0);
  const std::size_t count = call.parameter();
  check_averaged(input, call.op().schema.name);
  check_divisor(call, 6);
  const Windows windows = windows_of(call, count, {});
  if (count == 3) {
    for (std::size_t dim = 0; dim < 3; ++dim) {
      if (input.dim() < 3) break;
      call.env().require_at_least(input.sizes[input.dim() - 3 + dim], windows.kernel[dim], [] {
        return std::string("input image smaller than kernel size");
      });
    }
  }
  const MemoryFormat format =
      count == 2 ? kept_format(call, input) : MemoryFormat::contiguous_format;
  call.yield(empty_tensor(call.env(), pooled_sizes(call, input, windows), input.dtype, input.device,
                          format));
}

/// Pooling over one dimension goes over two, the first of size 1 (Pool.cpp, AveragePool.cpp).
struct OneDim {
  FakeTensor input;
  Windows windows;
};

OneDim as_two_dims(const ShapeCall& call, WindowArguments at) {
  const TensorMeta& input = call.tensor(0);
  if (input.dim() != 2 && input.dim() != 3) {
    fail("{}() Expected 2D or 3D input tensor, but got {}D", call.op().schema.name, input.dim());
  }
  OneDim result{unsqueeze(call.env(), input, input.dim() - 1), windows_of(call, 1, at)};
  result.windows.kernel.insert(0, 1);
  result.windows.stride.insert(0, 1);
  result.windows.padding.insert(0, 0);
  result.windows.dilation.insert(0, 1);
  return result;
}

void yield_one_dim(ShapeCall& call, const FakeTensor& result) {
  call.yield(without_dim(result, result.dim() - 2));
}

/// aten::max_pool1d; with indices where the parameter says so.
void max_pool1d(ShapeCall& call) {
  const OneDim dims = as_two_dims(call, {.has_dilation = true});
  const DimVector sizes = pooled_sizes(call, dims.input, dims.windows);
  const MemoryFormat format = kept_format(call, dims.input);
  yield_one_dim(call, empty_tensor(call.env(), sizes, dims.input.dtype, dims.input.device, format));
  if (call.parameter() == 0) return;
  yield_one_dim(call,
                empty_tensor(call.env(), sizes, ScalarType::int64, dims.input.device, format));
}

void avg_pool1d(ShapeCall& call) {
  const OneDim dims = as_two_dims(call, {});
  check_averaged(dims.input, "avg_pool2d");
  yield_one_dim(
      call, empty_tensor(call.env(), pooled_sizes(call, dims.input, dims.windows), dims.input.dtype,
                         dims.input.device, kept_format(call, dims.input)));
}

DimVector adaptive_sizes(const ShapeCall& call, const TensorMeta& input, const DimVector& output) {
  ShapeEnv& env = call.env();
  check_input(call, input, output.size());
  DimVector sizes(input.sizes.first(input.dim() - output.size()));
  for (const SymInt size : output) {
    env.require_at_least(size, 0, [&] {
      return fmt::format("{}: elements of output_size must be greater than or equal to 0",
                         call.op().schema.name);
    });
    sizes.push_back(size);
  }
  return sizes;
}

/// What adaptive averages over two dimensions yield. A single one is a mean, which keeps the format
/// of channels last and no other order.
FakeTensor adaptive_average(const ShapeCall& call, const TensorMeta& input,
                            const DimVector& output) {
  const ShapeEnv& env = call.env();
  const DimVector sizes = adaptive_sizes(call, input, output);
  const MemoryFormat format = kept_format(call, input);
  FakeTensor result = empty_tensor(env, sizes, input.dtype, input.device, format);
  const bool is_mean = env.known_one(output[0]) && env.known_one(output[1]);
  if (is_mean && is_integral_or_bool(input.dtype)) {
    fail(
        "mean(): could not infer output dtype. Input dtype must be either a floating point or "
        "complex dtype. Got: {}",
        full_name(input.dtype));
  }
  return result;
}

/// aten::adaptive_avg_pool2d, _adaptive_avg_pool2d
void adaptive_avg_pool2d(ShapeCall& call) {
  const TensorMeta& input = call.tensor(0);
  const DimVector output = for_each_dim(call, call.sym_ints(1), 2, "output_size");
  if (call.parameter() == 1) {
    call.yield(empty_tensor(call.env(), adaptive_sizes(call, input, output), input.dtype,
                            input.device, kept_format(call, input)));
    return;
  }
  call.yield(adaptive_average(call, input, output));
}

void adaptive_avg_pool1d(ShapeCall& call) {
  const TensorMeta& input = call.tensor(0);
  if (input.dim() != 2 && input.dim() != 3) {
    fail("adaptive_avg_pool1d() Expected 2D or 3D input tensor, but got {}D", input.dim());
  }
  DimVector output = for_each_dim(call, call.sym_ints(1), 1, "output_size");
  output.insert(0, 1);
  const FakeTensor unsqueezed = unsqueeze(call.env(), input, input.dim() - 1);
  yield_one_dim(call, adaptive_average(call, unsqueezed, output));
}

/// aten::_adaptive_avg_pool3d
void adaptive_avg_pool3d(ShapeCall& call) {
  const TensorMeta& input = call.tensor(0);
  const DimVector output = for_each_dim(call, call.sym_ints(1), 3, "output_size");
  const ShapeEnv& env = call.env();
  bool is_mean = call.parameter() == 0;
  for (const SymInt size : output) is_mean = is_mean && env.known_one(size);
  if (is_mean && is_integral_or_bool(input.dtype))
    fail(
        "mean(): could not infer output dtype. Input dtype must be either a floating point or "
        "complex dtype. Got: {}",
        full_name(input.dtype));
  const MemoryFormat format = is_mean ? kept_format(call, input) : MemoryFormat::contiguous_format;
  call.yield(
      empty_tensor(env, adaptive_sizes(call, input, output), input.dtype, input.device, format));
}

void adaptive_max_pool2d(ShapeCall& call) {
  const TensorMeta& input = call.tensor(0);
  const DimVector output = for_each_dim(call, call.sym_ints(1), 2, "output_size");
  yield_with_indices(call, input, adaptive_sizes(call, input, output));
}

void adaptive_max_pool3d(ShapeCall& call) {
  const TensorMeta& input = call.tensor(0);
  const DimVector sizes =
      adaptive_sizes(call, input, for_each_dim(call, call.sym_ints(1), 3, "output_size"));
  call.yield(empty_tensor(call.env(), sizes, input.dtype, input.device));
  call.yield(empty_tensor(call.env(), sizes, ScalarType::int64, input.device));
}

void adaptive_max_pool1d(ShapeCall& call) {
  const TensorMeta& input = call.tensor(0);
  if (input.dim() != 2 && input.dim() != 3) {
    fail("adaptive_max_pool1d() Expected 2D or 3D input tensor, but got {}D", input.dim());
  }
  DimVector output = for_each_dim(call, call.sym_ints(1), 1, "output_size");
  output.insert(0, 1);
  const FakeTensor dims = unsqueeze(call.env(), input, input.dim() - 1);
  const DimVector sizes = adaptive_sizes(call, dims, output);
  const MemoryFormat format = kept_format(call, dims);
  yield_one_dim(call, empty_tensor(call.env(), sizes, dims.dtype, dims.device, format));
  yield_one_dim(call, empty_tensor(call.env(), sizes, ScalarType::int64, dims.device, format));
}

constexpr std::uint32_t keeps_format = 1;

/// Gradients of pooling have the sizes of the input, argument 1, and its memory format.
void pool_backward(ShapeCall& call) {
  const TensorMeta& input = call.tensor(1);
  const MemoryFormat format =
      call.parameter() == keeps_format ? kept_format(call, input) : MemoryFormat::contiguous_format;
  call.yield(empty_tensor(call.env(), input.sizes, input.dtype, input.device, format));
}

/// fractional_max_pool2d(self, kernel_size, output_size, random_samples) and the one for 3
/// dimensions, which `parameter` counts: values and indices.
void fractional_max_pool(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& self = call.tensor(0);
  const std::size_t count = call.parameter();
  const DimVector kernel = for_each_dim(call, call.sym_ints(1), count, "kernel_size");
  const DimVector output = for_each_dim(call, call.sym_ints(2), count, "output_size");
  if (self.dim() != count + 1 && self.dim() != count + 2) {
    fail("{}: Expected {}D or {}D tensor, but got: {} dims", call.op().schema.name, count + 1,
         count + 2, self.dim());
  }
  const TensorMeta& samples = call.tensor(3);
  if (samples.dim() != 3)
    fail("Expect _random_samples to have 3 dimensions, got {}", samples.dim());
  env.require_equal(samples.sizes[2], static_cast<std::int64_t>(count), [&] {
    return fmt::format("Expect _random_samples.size(2) equals to {}; got {}.", count,
                       env.str(samples.sizes[2]));
  });
  const std::size_t first = self.dim() - count;
  for (std::size_t at = 0; at < count; ++at) {
    env.require_at_least(self.sizes[first + at], env.sub(env.add(output[at], kernel[at]), 1), [&] {
      return fmt::format("{}: kernel size {} is too large relative to the input size {}",
                         call.op().schema.name, env.str(kernel[at]),
                         env.str(self.sizes[first + at]));
    });
  }
  DimVector sizes(self.sizes.first(first));
  sizes.append(output);
  call.yield(empty_tensor(env, sizes, self.dtype, self.device));
  call.yield(empty_tensor(env, sizes, ScalarType::int64, self.device));
}

/// The gradient of max_pool2d and max_pool3d(grad, self, kernel_size, ...); `parameter` says how
/// many dimensions.
void max_pool_backward(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& grad = call.tensor(0);
  const TensorMeta& input = call.tensor(1);
  const Windows windows = windows_of(call, call.parameter(), {.first = 2, .has_dilation = true});
  const DimVector sizes = pooled_sizes(call, input, windows);
  if (grad.dim() != sizes.size())
    fail("Expected a gradient of {} dimensions, but got {}", sizes.size(), grad.dim());
  for (std::size_t dim = 0; dim < sizes.size(); ++dim) {
    env.require_equal(grad.sizes[dim], sizes[dim], [&] {
      return fmt::format("Expected the gradient to have the size {} at dimension {}, but got {}",
                         env.str(sizes[dim]), dim, env.str(grad.sizes[dim]));
    });
  }
  call.yield(empty_tensor(env, input.sizes, input.dtype, input.device, kept_format(call, input)));
}

}  // namespace

std::span<const ShapeRow> pooling_rows() {
  static constexpr ShapeRow rows[] = {
      {op::prims__low_memory_max_pool_offsets_to_indices_default, max_pool_offsets_to_indices},
      {op::prims__low_memory_max_pool_with_offsets_default, max_pool_with_offsets},
      {op::aten__adaptive_avg_pool2d_backward_default, pool_backward, keeps_format},
      {op::aten__adaptive_avg_pool2d_default, adaptive_avg_pool2d, 1},
      {op::aten__adaptive_avg_pool3d_backward_default, pool_backward},
      {op::aten__adaptive_avg_pool3d_default, adaptive_avg_pool3d, 1},
      {op::aten_adaptive_avg_pool1d_default, adaptive_avg_pool1d},
      {op::aten_adaptive_avg_pool2d_default, adaptive_avg_pool2d},
      {op::aten_adaptive_avg_pool3d_default, adaptive_avg_pool3d},
      {op::aten_adaptive_max_pool1d_default, adaptive_max_pool1d},
      {op::aten_adaptive_max_pool2d_backward_default, pool_backward, keeps_format},
      {op::aten_adaptive_max_pool2d_default, adaptive_max_pool2d},
      {op::aten_adaptive_max_pool3d_backward_default, pool_backward},
      {op::aten_adaptive_max_pool3d_default, adaptive_max_pool3d},
      {op::aten_avg_pool1d_default, avg_pool1d},
      {op::aten_avg_pool2d_default, avg_pool, 2},
      {op::aten_avg_pool2d_backward_default, pool_backward, keeps_format},
      {op::aten_avg_pool3d_default, avg_pool, 3},
      {op::aten_avg_pool3d_backward_default, pool_backward},
      {op::aten_fractional_max_pool2d_default, fractional_max_pool, 2},
      {op::aten_fractional_max_pool2d_backward_default, pool_backward},
      {op::aten_fractional_max_pool3d_default, fractional_max_pool, 3},
      {op::aten_fractional_max_pool3d_backward_default, pool_backward},
      {op::aten_max_pool1d_default, max_pool1d},
      {op::aten_max_pool1d_with_indices_default, max_pool1d, 1},
      {op::aten_max_pool2d_default, max_pool, 2},
      {op::aten_max_pool2d_with_indices_default, max_pool_with_indices, 2},
      {op::aten_max_pool2d_with_indices_backward_default, max_pool_backward, 2},
      {op::aten_max_pool3d_default, max_pool, 3},
      {op::aten_max_pool3d_with_indices_backward_default, max_pool_backward, 3},
      {op::aten_max_pool3d_with_indices_default, max_pool_with_indices, 3},
  };
  return rows;
}

}  // namespace winze
