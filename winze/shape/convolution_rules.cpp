// SPDX-License-Identifier: Apache-2.0
// Convolution, pooling, and scaling of images.
#include <algorithm>

#include "winze/schema/op_ids.h"
#include "winze/shape/families.h"
#include "winze/shape/views.h"

namespace winze {
namespace {

/// What a convolution is told, whichever operator it is.
struct Convolution {
  DimVector stride;
  DimVector padding;
  DimVector dilation;
  DimVector output_padding;
  SymInt groups = 1;
  bool transposed = false;
  bool keeps_size = false;  ///< padding "same"
};

/// A list for each spatial dimension; one value stands for all.
DimVector spread(DimVector values, std::size_t count) {
  if (values.size() == 1) return DimVector(count, values[0]);
  if (values.size() != count)
    fail("a convolution over {} dimensions is given {} values for them", count, values.size());
  return values;
}

SymInt convolved_size(const ShapeEnv& env, const Convolution& how, std::size_t at, SymInt size,
                      SymInt kernel) {
  if (how.keeps_size) return size;
  const SymInt reach = env.mul(how.dilation[at], env.sub(kernel, 1));
  const SymInt padding = env.mul(how.padding[at], 2);
  if (how.transposed) {
    SymInt result = env.mul(env.sub(size, 1), how.stride[at]);
    result = env.add(env.sub(result, padding), reach);
    return env.add(env.add(result, how.output_padding[at]), 1);
  }
  const SymInt span = env.sub(env.sub(env.add(size, padding), reach), 1);
  return env.add(env.floor_div(span, how.stride[at]), 1);
}

/// Strides of at::convolution on the CPU: channels last where the input or the weight looks like it
/// (torch/_subclasses/fake_impls.py conv, aten/src/ATen/native/ConvUtils.h). One dimension counts
/// as two, the first of size 1.
DimVector convolution_strides(const ShapeEnv& env, const Convolution& how, const TensorMeta& input,
                              const TensorMeta& weight, Sizes sizes) {
  if (input.dim() == 3) {
    if (suggest_memory_format(env, unsqueeze(env, weight, 2)) == MemoryFormat::contiguous_format)
      return contiguous_strides(env, sizes);
    DimVector flat(sizes);
    flat.insert(2, 1);
    DimVector strides = channels_last_strides(env, flat);
    strides.erase(2);
    return strides;
  }
  if (input.dim() == 5) {
    // Only oneDNN has this format, and it refuses doubles and large output paddings.
    bool has_kernel = input.dtype != ScalarType::float64;
    for (std::size_t at = 0; how.transposed && at < how.stride.size(); ++at)
      has_kernel = has_kernel && env.known_less(how.output_padding[at], how.stride[at]);
    if (!has_kernel) return contiguous_strides(env, sizes);
  }
  const MemoryFormat by_input = suggest_memory_format(env, input);
  return strides_for(
      env, sizes,
      by_input != MemoryFormat::contiguous_format ? by_input : suggest_memory_format(env, weight));
}

void convolve(ShapeCall& call, Convolution how) {
  ShapeEnv& env = call.env();
  const TensorMeta& weight = call.tensor(1);
  FakeTensor input(call.tensor(0));
  if (weight.dim() < 3) throw Error("weight should have at least three dimensions");
  const std::size_t spatial = weight.dim() - 2;
  const bool batched = input.dim() == weight.dim();
  if (!batched && input.dim() + 1 != weight.dim())
    fail("Expected {}D (unbatched) or {}D (batched) input to {}, but got {}D", spatial + 1,
         spatial + 2, call.op().schema.name, input.dim());
  if (input.dtype != weight.dtype)
    fail("Input type ({}) and weight type ({}) should be the same", full_name(input.dtype),
         full_name(weight.dtype));
  if (input.device.type != 0)
    call.cannot_infer("the layout of a convolution depends on the device");
  if (!batched) input = unsqueeze(env, input, 0);
  const SymInt channels = how.transposed ? weight.sizes[0] : env.mul(weight.sizes[1], how.groups);
  env.require_equal(input.sizes[1], channels, [&] {
    return fmt::format("expected input to have {} channels, but got {} channels instead",
                       env.str(channels), env.str(input.sizes[1]));
  });
  how.stride = spread(how.stride, spatial);
  how.dilation = spread(how.dilation, spatial);
  if (!how.keeps_size) how.padding = spread(how.padding, spatial);
  if (how.transposed) how.output_padding = spread(how.output_padding, spatial);
  DimVector sizes = {input.sizes[0],
                     how.transposed ? env.mul(weight.sizes[1], how.groups) : weight.sizes[0]};
  for (std::size_t at = 0; at < spatial; ++at) {
    const SymInt size = convolved_size(env, how, at, input.sizes[2 + at], weight.sizes[2 + at]);
    if (env.known_less(size, 0))
      fail("the output of {} would have a negative size", call.op().schema.name);
    sizes.push_back(size);
  }
  FakeTensor result = empty_tensor(env, sizes, input.dtype, input.device);
  result.strides = convolution_strides(env, how, input, weight, sizes);
  call.yield(batched ? result : without_dim(result, 0));
}

/// convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
void convolution(ShapeCall& call) {
  Convolution how;
  how.stride = call.sym_ints(3);
  how.padding = call.sym_ints(4);
  how.dilation = call.sym_ints(5);
  how.transposed = call.boolean(6);
  how.output_padding = call.sym_ints(7);
  how.groups = call.sym_int(8);
  convolve(call, how);
}
/// conv2d(input, weight, bias, stride, padding, dilation, groups)
void conv(ShapeCall& call) {
  Convolution how;
  how.stride = call.sym_ints(3);
  if (call.argument(4).kind() == ArgumentKind::string) {
    how.keeps_size = call.string(4) == "same";
    how.padding = {0};
  } else {
    how.padding = call.sym_ints(4);
  }
  how.dilation = call.sym_ints(5);
  how.groups = call.sym_int(6);
  convolve(call, how);
}
/// conv_transpose2d(input, weight, bias, stride, padding, output_padding, groups, dilation)
void conv_transpose(ShapeCall& call) {
  Convolution how;
  how.transposed = true;
  how.stride = call.sym_ints(3);
  how.padding = call.sym_ints(4);
  how.output_padding = call.sym_ints(5);
  how.groups = call.sym_int(6);
  how.dilation = call.sym_ints(7);
  convolve(call, how);
}

/// aten/src/ATen/native/Pool.h pooling_output_shape.
SymInt pooled_size(ShapeCall& call, SymInt size, SymInt kernel, SymInt padding, SymInt stride,
                   SymInt dilation, bool ceil_mode) {
  const ShapeEnv& env = call.env();
  if (env.known_zero(stride)) throw Error("stride should not be zero");
  SymInt span = env.sub(env.add(size, env.mul(padding, 2)), env.mul(dilation, env.sub(kernel, 1)));
  span = env.sub(span, 1);
  if (ceil_mode) span = env.add(span, env.sub(stride, 1));
  SymInt result = env.add(env.floor_div(span, stride), 1);
  if (ceil_mode) {
    // The last window has to start inside the image or the left padding.
    const SymInt start = env.mul(env.sub(result, 1), stride);
    const SymInt limit = env.add(size, padding);
    if (env.known_at_least(start, limit)) {
      result = env.sub(result, 1);
    } else if (!env.known_less(start, limit)) {
      call.cannot_infer("how many windows a pooling with ceil_mode has is not known");
    }
  }
  if (env.known_less(result, 1))
    fail("{}: output size {} is too small", call.op().schema.name, env.str(result));
  return result;
}

/// Sizes of a pooled tensor; `dims` spatial dimensions.
DimVector pooled_sizes(ShapeCall& call, std::size_t dims, Sizes dilation, bool ceil_mode) {
  const TensorMeta& self = call.tensor(0);
  if (self.dim() != dims + 1 && self.dim() != dims + 2)
    fail("{}: expected {}D or {}D input, but got {}D", call.op().schema.name, dims + 1, dims + 2,
         self.dim());
  const DimVector kernel = spread(call.sym_ints(1), dims);
  DimVector stride = call.sym_ints(2);
  stride = stride.empty() ? kernel : spread(stride, dims);
  const DimVector padding = spread(call.sym_ints(3), dims);
  DimVector sizes(self.sizes);
  const std::size_t first = self.dim() - dims;
  for (std::size_t at = 0; at < dims; ++at) {
    sizes[first + at] = pooled_size(call, sizes[first + at], kernel[at], padding[at], stride[at],
                                    dilation[at], ceil_mode);
  }
  return sizes;
}

constexpr std::uint32_t and_indices = 8;

/// Pooling keeps channels last, but averages over volumes do not. `parameter` has the number of
/// dimensions, and `and_indices` more where indices are yielded too.
MemoryFormat pooled_format(ShapeCall& call, std::size_t dims) {
  const bool is_average = call.op().schema.name.find("avg") != std::string_view::npos;
  return dims == 1 || (dims == 3 && is_average) ? MemoryFormat::contiguous_format
                                                : suggest_memory_format(call.env(), call.tensor(0));
}

void yield_pooled(ShapeCall& call, Sizes sizes, std::size_t dims, bool with_indices) {
  FakeTensor result = empty_tensor(call.env(), sizes, call.tensor(0).dtype, call.tensor(0).device,
                                   pooled_format(call, dims));
  call.yield(result);
  result.dtype = ScalarType::int64;
  if (with_indices) call.yield(result);
}

void max_pool(ShapeCall& call) {
  const std::size_t dims = call.parameter() % and_indices;
  const DimVector dilation = spread(call.sym_ints(4), dims);
  const DimVector sizes = pooled_sizes(call, dims, dilation, call.boolean(5));
  yield_pooled(call, sizes, dims, call.parameter() >= and_indices);
}
void avg_pool(ShapeCall& call) {
  const std::size_t dims = call.parameter();
  const DimVector sizes = pooled_sizes(call, dims, DimVector(dims, 1), call.boolean(4));
  yield_pooled(call, sizes, dims, false);
}
void adaptive_pool(ShapeCall& call) {
  const std::size_t dims = call.parameter() % and_indices;
  const TensorMeta& self = call.tensor(0);
  if (self.dim() != dims + 1 && self.dim() != dims + 2)
    fail("{}: expected {}D or {}D input, but got {}D", call.op().schema.name, dims + 1, dims + 2,
         self.dim());
  const DimVector output = spread(call.sym_ints(1), dims);
  DimVector sizes(self.sizes.first(self.dim() - dims));
  sizes.append(output);
  yield_pooled(call, sizes, dims, call.parameter() >= and_indices);
}

/// adaptive_avg_pool2d: to one pixel it is a mean, which keeps channels last by its strides. In one
/// dimension it is that of an image one pixel high.
void adaptive_avg_pool(ShapeCall& call) {
  const ShapeEnv& env = call.env();
  const bool is_1d = call.parameter() == 1;
  const FakeTensor self(call.tensor(0));
  const std::size_t rank = self.dim();
  const std::size_t dims = call.parameter();
  if (rank != dims + 1 && rank != dims + 2)
    fail("{}: expected {}D or {}D input, but got {}D", call.op().schema.name, dims + 1, dims + 2,
         rank);
  const FakeTensor image = is_1d ? unsqueeze(env, self, rank - 1) : self;
  DimVector output = spread(call.sym_ints(1), dims);
  if (is_1d) output.insert(0, 1);
  DimVector sizes(Sizes(image.sizes).first(image.dim() - 2));
  sizes.append(output);
  const MemoryFormat format = suggest_memory_format(env, image);
  FakeTensor result = empty_tensor(env, sizes, self.dtype, self.device, format);
  const bool is_pixel = env.known_one(output[0]) && env.known_one(output[1]);
  if (is_pixel && format == MemoryFormat::channels_last)
    result.strides = {sizes[1], 1, sizes[1], sizes[1]};
  call.yield(is_1d ? without_dim(result, result.dim() - 2) : result);
}

/// upsample_nearest2d.vec(input, output_size, scale_factors) and the like; `parameter` is the
/// position of the factors.
void upsample(ShapeCall& call) {
  const TensorMeta& input = call.tensor(0);
  const ShapeEnv& env = call.env();
  if (input.dim() < 3) throw Error("Non-empty 3D data tensor expected");
  DimVector sizes(input.sizes);
  const std::size_t dims = input.dim() - 2;
  if (!call.is_none(1)) {
    const DimVector output = spread(call.sym_ints(1), dims);
    std::copy(output.begin(), output.end(), sizes.begin() + 2);
  } else {
    const Argument factors = call.argument(call.parameter());
    if (factors.kind() != ArgumentKind::floats)
      call.cannot_infer("the scale factors are not known");
    const auto values = call.context().floats_of(factors);
    if (values.size() != dims) fail("{} scale factors for {} dimensions", values.size(), dims);
    for (std::size_t at = 0; at < dims; ++at) {
      const double factor = values[at];
      SymInt& size = sizes[2 + at];
      const auto whole = static_cast<std::int64_t>(factor);
      if (static_cast<double>(whole) == factor) {
        size = env.mul(size, whole);
      } else if (size.is_constant()) {
        size = static_cast<std::int64_t>(static_cast<double>(size.constant()) * factor);
      } else {
        call.cannot_infer("a symbolic size is scaled by {}", factor);
      }
    }
  }
  call.yield(
      empty_tensor(env, sizes, input.dtype, input.device, suggest_memory_format(env, input)));
}

constexpr ShapeRow rows[] = {
    {op::aten__adaptive_avg_pool2d_default, adaptive_pool, 2},
    {op::aten__adaptive_avg_pool3d_default, adaptive_pool, 3},
    {op::aten_adaptive_avg_pool1d_default, adaptive_avg_pool, 1},
    {op::aten_adaptive_avg_pool2d_default, adaptive_avg_pool, 2},
    {op::aten_adaptive_max_pool2d_default, adaptive_pool, 2 + and_indices},
    {op::aten_adaptive_max_pool3d_default, adaptive_pool, 3 + and_indices},
    {op::aten_avg_pool1d_default, avg_pool, 1},
    {op::aten_avg_pool2d_default, avg_pool, 2},
    {op::aten_avg_pool3d_default, avg_pool, 3},
    {op::aten_conv1d_default, conv},
    {op::aten_conv1d_padding, conv},
    {op::aten_conv2d_default, conv},
    {op::aten_conv2d_padding, conv},
    {op::aten_conv3d_default, conv},
    {op::aten_conv3d_padding, conv},
    {op::aten_conv_transpose1d_default, conv_transpose},
    {op::aten_conv_transpose2d_input, conv_transpose},
    {op::aten_conv_transpose3d_input, conv_transpose},
    {op::aten_convolution_default, convolution},
    {op::aten_max_pool1d_default, max_pool, 1},
    {op::aten_max_pool2d_default, max_pool, 2},
    {op::aten_max_pool2d_with_indices_default, max_pool, 2 + and_indices},
    {op::aten_max_pool3d_default, max_pool, 3},
    {op::aten_max_pool3d_with_indices_default, max_pool, 3 + and_indices},
    {op::aten_upsample_bicubic2d_vec, upsample, 3},
    {op::aten_upsample_bilinear2d_vec, upsample, 3},
    {op::aten_upsample_nearest2d_vec, upsample, 2},
};

}  // namespace

std::span<const ShapeRow> convolution_rows() {
  return rows;
}

}  // namespace winze
