// SPDX-License-Identifier: Apache-2.0
// Convolutions, after torch/_subclasses/fake_impls.py conv, torch/_meta_registrations.py
// calc_conv_nd_return_shape and aten/src/ATen/native/Convolution.cpp.
#include <algorithm>

#include "winze/schema/op_ids.h"
#include "winze/shape/families.h"
#include "winze/shape/views.h"

namespace winze {
namespace {

/// The parameters of aten::convolution, one for each spatial dimension.
struct Convolution {
  DimVector stride;
  DimVector padding;
  DimVector dilation;
  DimVector output_padding;
  bool transposed = false;
  SymInt groups = 1;
};

/// A single value stands for all dimensions.
DimVector for_each_dim(const DimVector& values, std::size_t count, std::string_view name) {
  if (values.size() == count) return values;
  if (values.size() != 1) {
    fail("expected {} to be a single integer value or a list of {} values, but got {}", name, count,
         values.size());
  }
  return DimVector(count, values[0]);
}

void expand_parameters(Convolution& convolution, std::size_t count) {
  convolution.stride = for_each_dim(convolution.stride, count, "stride");
  convolution.padding = for_each_dim(convolution.padding, count, "padding");
  convolution.dilation = for_each_dim(convolution.dilation, count, "dilation");
  convolution.output_padding =
      convolution.transposed ? for_each_dim(convolution.output_padding, count, "output_padding")
                             : DimVector(count, 0);
}

void check_parameters(ShapeEnv& env, const Convolution& convolution) {
  for (std::size_t dim = 0; dim < convolution.stride.size(); ++dim) {
    env.require_at_least(convolution.padding[dim], 0,
                         [] { return std::string("negative padding is not supported"); });
    env.require_at_least(convolution.output_padding[dim], 0,
                         [] { return std::string("negative output_padding is not supported"); });
    env.require_at_least(convolution.stride[dim], 1,
                         [] { return std::string("non-positive stride is not supported"); });
    env.require_at_least(convolution.dilation[dim], 1,
                         [] { return std::string("dilation should be greater than zero"); });
  }
  env.require_at_least(convolution.groups, 1,
                       [] { return std::string("non-positive groups is not supported"); });
}

/// Convolution.cpp check_shape_forward, as far as it is not about single dimensions.
void check_operands(ShapeEnv& env, const TensorMeta& input, const TensorMeta& weight,
                    const TensorMeta* bias, const Convolution& convolution) {
  if (weight.dim() < 3) throw Error("weight should have at least three dimensions");
  if (input.dim() != weight.dim()) {
    fail("Expected {}-dimensional input for {}-dimensional weight, but got {}-dimensional input",
         weight.dim(), weight.dim(), input.dim());
  }
  if (input.dtype != weight.dtype) {
    fail("Input type ({}) and weight type ({}) should be the same", full_name(input.dtype),
         full_name(weight.dtype));
  }
  const SymInt channels =
      convolution.transposed ? weight.sizes[0] : env.mul(weight.sizes[1], convolution.groups);
  env.require_equal(input.sizes[1], channels, [&] {
    return fmt::format("expected input to have {} channels, but got {} channels instead",
                       env.str(channels), env.str(input.sizes[1]));
  });
  env.require_at_least(weight.sizes[0], convolution.groups, [&] {
    return fmt::format(
        "Given groups={}, expected weight to be at least {} at dimension 0, but got {}",
        env.str(convolution.groups), env.str(convolution.groups), env.str(weight.sizes[0]));
  });
  if (!env.known_multiple(weight.sizes[0], convolution.groups)) {
    env.require_equal(env.mod(weight.sizes[0], convolution.groups), 0, [&] {
      return fmt::format("expected weight to be divisible by {} at dimension 0, but got {}",
                         env.str(convolution.groups), env.str(weight.sizes[0]));
    });
  }
  if (bias == nullptr) return;
  const SymInt count =
      convolution.transposed ? env.mul(weight.sizes[1], convolution.groups) : weight.sizes[0];
  if (bias->dtype != input.dtype)
    fail("Input type ({}) and bias type ({}) should be the same", full_name(input.dtype),
         full_name(bias->dtype));
  if (bias->dim() != 1) fail("expected bias to be 1-dimensional, but got {} dims", bias->dim());
  env.require_equal(bias->sizes[0], count, [&] {
    return fmt::format("expected bias to be 1-dimensional with {} elements, but got {}",
                       env.str(count), env.str(bias->sizes[0]));
  });
}

/// calc_conv_nd_return_shape
DimVector convolution_sizes(ShapeEnv& env, const TensorMeta& input, const TensorMeta& weight,
                            const Convolution& convolution) {
  DimVector sizes = {input.sizes[0], convolution.transposed
                                         ? env.mul(convolution.groups, weight.sizes[1])
                                         : weight.sizes[0]};
  SymInt largest = 0;
  for (std::size_t dim = 2; dim < input.dim(); ++dim) {
    const SymInt length = input.sizes[dim];
    const SymInt stride = convolution.stride[dim - 2];
    const SymInt padding = env.mul(convolution.padding[dim - 2], 2);
    // What the kernel covers, less one.
    const SymInt reach = env.mul(convolution.dilation[dim - 2], env.sub(weight.sizes[dim], 1));
    SymInt size;
    if (convolution.transposed) {
      size = env.sub(env.mul(env.sub(length, 1), stride), padding);
      size = env.add(env.add(size, reach), convolution.output_padding[dim - 2]);
      env.require_at_least(env.add(size, 1), 0, [&] {
        return fmt::format(
            "Given input size per channel: {}. Calculated output size per channel: {}. Output size "
            "is too small",
            env.str(length), env.str(env.add(size, 1)));
      });
    } else {
      const SymInt padded = env.add(length, padding);
      const SymInt kernel = env.add(reach, 1);
      env.require_at_least(padded, kernel, [&] {
        return fmt::format(
            "Calculated padded input size per channel: {}. Kernel size: {}. Kernel size can't be "
            "greater than actual input size",
            env.str(padded), env.str(kernel));
      });
      size = env.floor_div(env.sub(env.sub(padded, reach), 1), stride);
    }
    sizes.push_back(env.add(size, 1));
    largest = dim == 2 ? sizes.back() : env.max(largest, sizes.back());
  }
  if (is_cpu(input)) {
    env.require_at_least(
        largest, 1, [] { return std::string("Calculated output size per channel is too small"); });
  }
  if (env.known_zero(input.sizes[1])) {
    sizes[1] = 0;
  } else {
    env.require_at_least(input.sizes[1], 1,
                         [] { return std::string("a convolution without channels yields none"); });
  }
  return sizes;
}

bool has_unbacked_size(const ShapeEnv& env, const TensorMeta& tensor) {
  for (const SymInt size : tensor.sizes) {
    if (env.is_unbacked(size)) return true;
  }
  return false;
}

/// Whether oneDNN takes a convolution of 32-bit floats over three dimensions (Convolution.cpp
/// use_mkldnn). It leaves small ones to PyTorch's own loops, and for kernels of one element that
/// depends on the number of threads, too.
Proof takes_mkldnn(const ShapeEnv& env, const TensorMeta& input, const TensorMeta& weight,
                   const Convolution& convolution) {
  if (convolution.transposed) return Proof::unknown;
  const SymInt batch = input.sizes[0];
  const SymInt height = weight.sizes[3];
  const SymInt width = weight.sizes[4];
  const SymInt work =
      env.mul(env.mul(batch, input.sizes[1]), env.mul(input.sizes[2], input.sizes[3]));
  const Proof reasons[] = {env.less(1, convolution.groups), env.less(3, env.min(height, width)),
                           env.less(1, batch), env.less(20480, work)};
  const auto count = [&](Proof proof) { return std::ranges::count(reasons, proof); };
  if (count(Proof::yes) == 0) return count(Proof::unknown) == 0 ? Proof::no : Proof::unknown;
  for (std::size_t dim = 0; dim < convolution.stride.size(); ++dim) {
    if (env.known_less(1, convolution.stride[dim]) || env.known_less(1, convolution.dilation[dim]))
      return Proof::yes;
  }
  const bool any_threads =
      env.known_at_least(batch, 16) || env.known_less(1, env.max(height, width));
  return any_threads ? Proof::yes : Proof::unknown;
}

/// The format that the backend for these arguments writes (_conv_determine_backend_memory_format).
/// Convolutions over one dimension are made as ones over two.
MemoryFormat backend_memory_format(ShapeCall& call, const TensorMeta& input,
                                   const TensorMeta& weight, const Convolution& convolution) {
  const ShapeEnv& env = call.env();
  if (has_unbacked_size(env, input) || has_unbacked_size(env, weight))
    return MemoryFormat::contiguous_format;
  if (env.known_zero(input.sizes[0]) || env.known_zero(input.sizes[1]))
    return MemoryFormat::contiguous_format;
  const bool is_1d = weight.dim() == 3;
  const MemoryFormat of_input = suggest_memory_format(env, input);
  const MemoryFormat of_weight = is_1d ? suggest_memory_format(env, unsqueeze(env, weight, 2))
                                       : suggest_memory_format(env, weight);
  if (of_input == MemoryFormat::contiguous_format && of_weight == MemoryFormat::contiguous_format)
    return MemoryFormat::contiguous_format;
  if (!is_cpu(input))
    call.cannot_infer("the memory format of a convolution depends on its backend on this device");
  if (weight.dim() != 5) return MemoryFormat::channels_last;
  if (input.dtype == ScalarType::float64) return MemoryFormat::contiguous_format;
  if (input.dtype == ScalarType::float32) {
    const Proof mkldnn = takes_mkldnn(env, input, weight, convolution);
    if (mkldnn == Proof::yes) return MemoryFormat::channels_last_3d;
    if (mkldnn == Proof::no) return MemoryFormat::contiguous_format;
  }
  call.cannot_infer("the memory format of this convolution depends on the processor");
}

FakeTensor in_format(const ShapeEnv& env, Sizes sizes, const TensorMeta& like,
                     MemoryFormat format) {
  if (sizes.size() != 3 || format != MemoryFormat::channels_last)
    return empty_tensor(env, sizes, like.dtype, like.device, format);
  DimVector unsqueezed(sizes);
  unsqueezed.insert(2, 1);
  return without_dim(empty_tensor(env, unsqueezed, like.dtype, like.device, format), 2);
}

/// aten::convolution of these arguments.
FakeTensor convolve(ShapeCall& call, const TensorMeta& input, const TensorMeta& weight,
                    const TensorMeta* bias, Convolution convolution) {
  ShapeEnv& env = call.env();
  check_operands(env, input, weight, bias, convolution);
  expand_parameters(convolution, weight.dim() - 2);
  check_parameters(env, convolution);
  const DimVector sizes = convolution_sizes(env, input, weight, convolution);
  return in_format(env, sizes, input, backend_memory_format(call, input, weight, convolution));
}

/// aten::convolution, aten::_convolution
void convolution_rule(ShapeCall& call) {
  Convolution convolution;
  convolution.stride = call.sym_ints(3);
  convolution.padding = call.sym_ints(4);
  convolution.dilation = call.sym_ints(5);
  convolution.transposed = call.boolean(6);
  convolution.output_padding = call.sym_ints(7);
  convolution.groups = call.sym_int(8);
  call.yield(convolve(call, call.tensor(0), call.tensor(1), call.optional_tensor(2), convolution));
}

/// Convolutions that PyTorch composes: those of one sample are made as a batch of one
/// (Convolution.cpp batchify).
void convolve_batched(ShapeCall& call, const TensorMeta& input, const Convolution& convolution,
                      std::size_t spatial_dims) {
  const TensorMeta& weight = call.tensor(1);
  if (is_complex(input.dtype) || is_complex(weight.dtype))
    call.cannot_infer("a convolution of complex numbers is made of several real ones");
  const std::size_t rank = spatial_dims + 2;
  if (input.dim() != rank && input.dim() + 1 != rank) {
    fail("Expected {}D (unbatched) or {}D (batched) input to {}, but got input of dimension {}",
         rank - 1, rank, call.op().schema.name, input.dim());
  }
  if (input.dim() == rank) {
    call.yield(convolve(call, input, weight, call.optional_tensor(2), convolution));
    return;
  }
  const FakeTensor batch = unsqueeze(call.env(), input, 0);
  call.yield(without_dim(convolve(call, batch, weight, call.optional_tensor(2), convolution), 0));
}

/// aten::conv1d, conv2d, conv3d
void conv(ShapeCall& call) {
  Convolution convolution;
  convolution.stride = call.sym_ints(3);
  convolution.padding = call.sym_ints(4);
  convolution.dilation = call.sym_ints(5);
  convolution.groups = call.sym_int(6);
  convolve_batched(call, call.tensor(0), convolution, call.parameter());
}

/// aten::conv_transpose1d, conv_transpose2d, conv_transpose3d
void conv_transpose(ShapeCall& call) {
  Convolution convolution;
  convolution.transposed = true;
  convolution.stride = call.sym_ints(3);
  convolution.padding = call.sym_ints(4);
  convolution.output_padding = call.sym_ints(5);
  convolution.groups = call.sym_int(6);
  convolution.dilation = call.sym_ints(7);
  convolve_batched(call, call.tensor(0), convolution, call.parameter());
}

/// conv1d.padding and the like: `valid`, or `same`, whose odd element goes to the end and is padded
/// first. `parameter` is the number of spatial dimensions, as the weight has them for any_dims.
constexpr std::uint32_t any_dims = 0;
void conv_mode(ShapeCall& call) {
  const ShapeEnv& env = call.env();
  const TensorMeta& weight = call.tensor(1);
  if (weight.dim() < 3) throw Error("weight should have at least three dimensions");
  const std::size_t count = call.parameter() == any_dims ? weight.dim() - 2 : call.parameter();
  Convolution convolution;
  convolution.stride = for_each_dim(call.sym_ints(3), count, "stride");
  convolution.dilation = for_each_dim(call.sym_ints(5), count, "dilation");
  convolution.groups = call.sym_int(6);
  convolution.padding = DimVector(count, 0);
  FakeTensor input(call.tensor(0));
  const std::string_view mode = call.string(4);
  if (mode != "valid" && mode != "same") fail("Invalid padding string: '{}'", mode);
  if (mode == "same") {
    bool is_padded = false;
    if (weight.dim() != count + 2 || input.dim() < count)
      fail("Expected {}-dimensional weight, but got {} dims", count + 2, weight.dim());
    for (std::size_t dim = 0; dim < count; ++dim) {
      if (!env.known_one(convolution.stride[dim]))
        throw Error("padding='same' is not supported for strided convolutions");
      const SymInt total = env.mul(convolution.dilation[dim], env.sub(weight.sizes[dim + 2], 1));
      if (!total.is_constant()) call.cannot_infer("the size of the kernel is symbolic");
      convolution.padding[dim] = total.constant() / 2;
      if (total.constant() % 2 == 0) continue;
      is_padded = true;
      SymInt& size = input.sizes[input.dim() - count + dim];
      size = env.add(size, 1);
    }
    // aten::constant_pad_nd keeps the memory format.
    if (is_padded)
      input = empty_tensor(env, input.sizes, input.dtype, input.device,
                           suggest_memory_format(env, call.tensor(0)));
  }
  convolve_batched(call, input, convolution, count);
}

/// aten::convolution_backward: gradients of input, weight and bias, as far as they are asked for.
void convolution_backward(ShapeCall& call) {
  const TensorMeta& grad = call.tensor(0);
  const TensorMeta& input = call.tensor(1);
  const TensorMeta& weight = call.tensor(2);
  Convolution convolution;
  convolution.stride = call.sym_ints(4);
  convolution.padding = call.sym_ints(5);
  convolution.dilation = call.sym_ints(6);
  convolution.transposed = call.boolean(7);
  convolution.output_padding = call.sym_ints(8);
  convolution.groups = call.sym_int(9);
  check_operands(call.env(), input, weight, nullptr, convolution);
  expand_parameters(convolution, weight.dim() - 2);
  const MemoryFormat format = backend_memory_format(call, input, weight, convolution);
  const DimVector mask = call.sym_ints(10);
  if (mask.size() != 3) throw Error("output_mask of convolution_backward has to have 3 elements");
  const auto yield = [&](SymInt is_wanted, auto make) {
    if (is_wanted == SymInt(1)) {
      call.yield(make());
    } else {
      call.yield_none();
    }
  };
  yield(mask[0], [&] { return in_format(call.env(), input.sizes, grad, format); });
  yield(mask[1], [&] { return in_format(call.env(), weight.sizes, grad, format); });
  yield(mask[2],
        [&] { return empty_tensor(call.env(), call.sym_ints(3), grad.dtype, grad.device); });
}

// --- Kernels without oneDNN, which say what they compute by the size of the kernel too

/// What `parameter` says of such a kernel: the number of spatial dimensions, and which arguments
/// follow the padding.
constexpr std::uint32_t spatial_mask = 7;
constexpr std::uint32_t is_dilated = 8;
constexpr std::uint32_t is_transposed = 16;

/// ConvUtils.h thnn_conv_use_channels_last: over two dimensions, and not transposed.
MemoryFormat slow_format(const ShapeCall& call, const TensorMeta& input, const TensorMeta& weight) {
  const ShapeEnv& env = call.env();
  if ((call.parameter() & spatial_mask) != 2 || (call.parameter() & is_transposed) != 0 ||
      input.dtype == ScalarType::float64)
    return MemoryFormat::contiguous_format;
  return suggest_memory_format(env, input) == MemoryFormat::channels_last ||
                 suggest_memory_format(env, weight) == MemoryFormat::channels_last
             ? MemoryFormat::channels_last
             : MemoryFormat::contiguous_format;
}

/// slow_conv3d(self, weight, kernel_size, bias, stride, padding), slow_conv_dilated2d(...,
/// dilation) and slow_conv_transpose2d(..., output_padding, dilation).
void slow_conv(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const std::size_t count = call.parameter() & spatial_mask;
  Convolution convolution;
  convolution.transposed = (call.parameter() & is_transposed) != 0;
  convolution.stride = call.sym_ints(4);
  convolution.padding = call.sym_ints(5);
  convolution.dilation = DimVector(count, 1);
  if (convolution.transposed) convolution.output_padding = call.sym_ints(6);
  if ((call.parameter() & (is_dilated | is_transposed)) != 0)
    convolution.dilation = call.sym_ints(convolution.transposed ? 7 : 6);
  const TensorMeta& input = call.tensor(0);
  const TensorMeta& weight = call.tensor(1);
  if (weight.dim() != count + 2 || input.dim() != count + 2)
    call.cannot_infer("{} of other than a batch is not known", call.op().schema.name);
  check_operands(env, input, weight, call.optional_tensor(3), convolution);
  expand_parameters(convolution, count);
  check_parameters(env, convolution);
  const DimVector kernel = for_each_dim(call.sym_ints(2), count, "kernel_size");
  for (std::size_t dim = 0; dim < count; ++dim) {
    env.require_equal(weight.sizes[dim + 2], kernel[dim], [&] {
      return fmt::format("weight has the size {} at dimension {}, not that of the kernel, {}",
                         env.str(weight.sizes[dim + 2]), dim + 2, env.str(kernel[dim]));
    });
  }
  call.yield(empty_tensor(env, convolution_sizes(env, input, weight, convolution), input.dtype,
                          input.device, slow_format(call, input, weight)));
}

/// _slow_conv2d_backward.output_mask(grad_output, self, weight, ...): gradients, which the kernel
/// computes of contiguous weights only.
void slow_conv_backward(ShapeCall& call) {
  const ShapeEnv& env = call.env();
  const TensorMeta& grad = call.tensor(0);
  const TensorMeta& input = call.tensor(1);
  const TensorMeta& weight = call.tensor(2);
  const MemoryFormat format = slow_format(call, input, weight);
  const DimVector mask = call.sym_ints(6);
  if (mask.size() != 3 || weight.dim() == 0)
    throw Error("_slow_conv2d_backward expects weights and an output_mask of 3 elements");
  if (format != MemoryFormat::contiguous_format && mask[1] == SymInt(1))
    throw Error("slow_conv2d: grad_weight must be contiguous");
  const DimVector sizes[] = {DimVector(input.sizes), DimVector(weight.sizes),
                             DimVector(weight.sizes.first(1))};
  for (std::size_t at = 0; at < 3; ++at) {
    if (mask[at] == SymInt(1)) {
      call.yield(empty_tensor(env, sizes[at], grad.dtype, grad.device,
                              at == 0 ? format : MemoryFormat::contiguous_format));
    } else {
      call.yield_none();
    }
  }
}

/// conv_tbc(self, weight, bias, pad): time, batch and channels, with a kernel over time.
void conv_tbc(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& input = call.tensor(0);
  const TensorMeta& weight = call.tensor(1);
  const TensorMeta& bias = call.tensor(2);
  if (input.dim() != 3 || weight.dim() != 3 || bias.dim() != 1)
    throw Error("conv_tbc expects an input and weights of 3 dimensions, and a vector of biases");
  env.require_equal(input.sizes[2], weight.sizes[1], [] {
    return std::string("Input dim 2 (input channels) is not == dim 1 in the weight tensor");
  });
  env.require_equal(weight.sizes[2], bias.sizes[0], [] {
    return std::string("Bias size must equal dim 2 in the weight tensor (output channels).");
  });
  const SymInt padded = env.add(input.sizes[0], env.mul(call.sym_int(3), 2));
  const SymInt length = env.add(env.sub(padded, weight.sizes[0]), 1);
  env.require_at_least(length, 0, [] { return std::string("conv_tbc: the kernel is too long"); });
  call.yield(empty_tensor(env, DimVector{length, input.sizes[1], weight.sizes[2]}, input.dtype,
                          input.device));
}
/// conv_tbc_backward(grad, self, weight, bias, pad)
void conv_tbc_backward(ShapeCall& call) {
  for (const std::uint32_t index : {1U, 2U, 3U})
    call.yield(empty_like(call.env(), call.tensor(index)));
}

}  // namespace

std::span<const ShapeRow> convolution_rows() {
  static constexpr ShapeRow rows[] = {
      {op::aten__slow_conv2d_backward_output_mask, slow_conv_backward, 2},
      {op::aten__slow_conv2d_forward_default, slow_conv, 2},
      {op::aten_conv_tbc_default, conv_tbc},
      {op::aten_conv_tbc_backward_default, conv_tbc_backward},
      {op::aten_slow_conv3d_default, slow_conv, 3},
      {op::aten_slow_conv3d_forward_default, slow_conv, 3},
      {op::aten_slow_conv_dilated2d_default, slow_conv, 2 | is_dilated},
      {op::aten_slow_conv_dilated3d_default, slow_conv, 3 | is_dilated},
      {op::aten_slow_conv_transpose2d_default, slow_conv, 2 | is_transposed},
      {op::aten_slow_conv_transpose3d_default, slow_conv, 3 | is_transposed},
      {op::aten_thnn_conv2d_default, slow_conv, 2},
      {op::aten__convolution_mode_default, conv_mode, any_dims},
      {op::aten__convolution_default, convolution_rule},
      {op::aten__convolution_deprecated, convolution_rule},
      {op::aten_conv1d_default, conv, 1},
      {op::aten_conv1d_padding, conv_mode, 1},
      {op::aten_conv2d_default, conv, 2},
      {op::aten_conv2d_padding, conv_mode, 2},
      {op::aten_conv3d_default, conv, 3},
      {op::aten_conv3d_padding, conv_mode, 3},
      {op::aten_conv_transpose1d_default, conv_transpose, 1},
      {op::aten_conv_transpose2d_input, conv_transpose, 2},
      {op::aten_conv_transpose3d_input, conv_transpose, 3},
      {op::aten_convolution_backward_default, convolution_backward},
      {op::aten_convolution_default, convolution_rule},
  };
  return rows;
}

}  // namespace winze
