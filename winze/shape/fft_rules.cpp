// SPDX-License-Identifier: Apache-2.0
// Fourier transforms, after aten/src/ATen/native/SpectralOps.cpp, mkl/SpectralOps.cpp and
// torch/_meta_registrations.py: layouts are those of builds with MKL.
#include <algorithm>

#include "winze/schema/op_ids.h"
#include "winze/shape/families.h"
#include "winze/shape/fft.h"
#include "winze/shape/views.h"

namespace winze {
namespace {

using Dims = std::vector<std::size_t>;

/// Known not to be the smaller: also where it is a multiple, whatever that is of the other, as
/// PyTorch has it for symbols without value. Where it is 0 there are no elements to lay out.
bool is_not_smaller(const ShapeEnv& env, SymInt a, SymInt b) {
  if (env.known_at_least(a, b)) return true;
  return !a.is_constant() && env.symbols().prove_divisible(a, b) == Proof::yes;
}

/// Sorts dimensions by stride, the largest first, those of one stride as they are.
void sort_by_stride(const ShapeCall& call, const TensorMeta& tensor, std::span<std::size_t> dims) {
  const ShapeEnv& env = call.env();
  for (std::size_t i = 1; i < dims.size(); ++i) {
    for (std::size_t j = i; j > 0; --j) {
      const SymInt before = tensor.strides[dims[j - 1]];
      const SymInt after = tensor.strides[dims[j]];
      if (is_not_smaller(env, before, after)) break;
      if (!is_not_smaller(env, after, before))
        call.cannot_infer("the order of the strides {} and {} is not known", env.str(before),
                          env.str(after));
      std::swap(dims[j - 1], dims[j]);
    }
  }
}

/// _exec_fft: the dimensions that are transformed lie innermost, in the order given; the others
/// around them, as they lie in the input.
FakeTensor transformed(const ShapeCall& call, const TensorMeta& input, Sizes sizes,
                       std::span<const std::size_t> dims, ScalarType dtype) {
  ShapeEnv& env = call.env();
  Dims order;
  for (std::size_t dim = 0; dim < input.dim(); ++dim) {
    if (std::ranges::find(dims, dim) == dims.end()) order.push_back(dim);
  }
  for (const std::size_t dim : dims) {
    env.require_at_least(input.sizes[dim], 1, [&] {
      return fmt::format("Invalid number of data points ({}) specified", env.str(input.sizes[dim]));
    });
  }
  sort_by_stride(call, input, order);
  const std::size_t batch = order.size();
  order.insert(order.end(), dims.begin(), dims.end());
  FakeTensor result = empty_tensor(env, sizes, dtype, input.device);
  SymInt stride = 1;
  for (std::size_t at = order.size(); at-- > 0;) {
    result.strides[order[at]] = stride;
    const SymInt size = sizes[order[at]];
    // Batch dimensions are merged into one, whose stride counts the others as they are.
    stride = env.mul(stride, at >= batch ? env.at_least_one(size) : size);
  }
  return result;
}

void check_device(const ShapeCall& call, const TensorMeta& input) {
  if (!is_cpu(input)) call.cannot_infer("the layout of a transform on this device is not known");
}

FakeTensor c2c(const ShapeCall& call, const TensorMeta& input, Dims dims) {
  check_device(call, input);
  if (dims.empty()) return empty_like(call.env(), input);
  sort_by_stride(call, input, dims);
  return transformed(call, input, input.sizes, dims, input.dtype);
}

SymInt half_of(const ShapeEnv& env, SymInt size) {
  return env.add(env.floor_div(size, 2), 1);
}

FakeTensor r2c(const ShapeCall& call, const TensorMeta& input, Dims dims, bool onesided) {
  check_device(call, input);
  DimVector sizes(input.sizes);
  const std::size_t last = dims.back();
  if (onesided) sizes[last] = half_of(call.env(), sizes[last]);
  sort_by_stride(call, input, std::span(dims).first(dims.size() - 1));
  return transformed(call, input, sizes, dims, to_complex(input.dtype));
}

FakeTensor c2r(const ShapeCall& call, const TensorMeta& input, Dims dims, SymInt last_size) {
  check_device(call, input);
  const std::size_t last = dims.back();
  FakeTensor complex(input);
  dims.pop_back();
  if (!dims.empty()) complex = c2c(call, input, dims);
  DimVector sizes(input.sizes);
  sizes[last] = last_size;
  const std::size_t dim[] = {last};
  return transformed(call, complex, sizes, dim, to_real(input.dtype));
}

Dims dims_of(const ShapeCall& call, std::uint32_t index, std::size_t rank) {
  Dims dims;
  for (const SymInt given : call.sym_ints(index)) {
    const std::size_t dim = wrap_dim(given, rank, false);
    if (std::ranges::find(dims, dim) != dims.end()) throw Error("FFT dims must be unique");
    dims.push_back(dim);
  }
  return dims;
}

void check_complex(const TensorMeta& input, bool is_wanted) {
  if (is_complex(input.dtype) == is_wanted) return;
  fail("expected a {} tensor for a transform, got {}", is_wanted ? "complex" : "real",
       full_name(input.dtype));
}

void c2c_rule(ShapeCall& call) {
  const TensorMeta& input = call.tensor(0);
  check_complex(input, true);
  call.yield(c2c(call, input, dims_of(call, 1, input.dim())));
}
void r2c_rule(ShapeCall& call) {
  const TensorMeta& input = call.tensor(0);
  check_complex(input, false);
  call.yield(r2c(call, input, dims_of(call, 1, input.dim()), call.boolean(3)));
}
void c2r_rule(ShapeCall& call) {
  const TensorMeta& input = call.tensor(0);
  check_complex(input, true);
  call.yield(c2r(call, input, dims_of(call, 1, input.dim()), call.sym_int(3)));
}

// --- The composite operators of torch.fft

/// promote_tensor_fft
FakeTensor promoted_input(const ShapeCall& call, bool to_complex_too) {
  const TensorMeta& input = call.tensor(0);
  ScalarType dtype = promoted(input.dtype, Promotion::int_to_float);
  if (dtype == ScalarType::bfloat16 || (dtype == ScalarType::float16 && is_cpu(input)))
    fail("Unsupported dtype {}", full_name(dtype));
  if (to_complex_too) dtype = to_complex(dtype);
  if (dtype == input.dtype) return FakeTensor(input);
  FakeTensor result = empty_like(call.env(), input);
  result.dtype = dtype;
  return result;
}

/// resize_fft_input: cut off where it is longer, padded with zeros where it is shorter.
FakeTensor resized(const ShapeCall& call, FakeTensor input, std::span<const std::size_t> dims,
                   Sizes sizes) {
  ShapeEnv& env = call.env();
  DimVector padded(input.sizes);
  const bool is_whole = is_contiguous(env, input);
  bool pads = false;
  for (std::size_t at = 0; at < dims.size(); ++at) {
    const SymInt wanted = sizes[at];
    if (wanted.is_constant() && wanted.constant() == -1) continue;
    if (env.known_less(wanted, 1))
      fail("Invalid number of data points ({}) specified", env.str(wanted));
    const SymInt size = input.sizes[dims[at]];
    padded[dims[at]] = wanted;
    if (env.known_equal(size, wanted)) continue;
    if (env.known_less(wanted, size)) {
      input = narrow(env, input, dims[at], 0, wanted);
    } else if (is_whole || env.known_less(size, wanted)) {
      pads = true;  // a view that is cut lies as the padded copy does
    } else {
      call.cannot_infer("whether {} or {} is larger is not known", env.str(size), env.str(wanted));
    }
  }
  if (!pads) return input;
  return empty_tensor(env, padded, input.dtype, input.device, suggest_memory_format(env, input));
}

void check_signal(const ShapeCall& call, const FakeTensor& input,
                  std::span<const std::size_t> dims) {
  for (const std::size_t dim : dims) {
    if (call.env().known_zero(input.sizes[dim]))
      fail("Invalid number of data points ({}) specified", 0);
  }
}

/// Which transform; `parameter` of the composites.
enum class Transform : std::uint8_t { fft, rfft, irfft, hfft, ihfft };

/// Export lays symbolic sizes out as the kernels do; `run_decompositions` that keeps the composite
/// asks its reference in Python, whose primitives yield contiguous tensors.
void yield(ShapeCall& call, const FakeTensor& result) {
  const auto is_symbolic = [](SymInt size) { return !size.is_constant(); };
  if (std::ranges::any_of(result.sizes, is_symbolic) && !is_contiguous(call.env(), result))
    call.cannot_infer("the layout of a transform of symbolic sizes depends on how it was exported");
  call.yield(result);
}

/// fft_fft(self, n, dim, norm) and the like.
void one_dim(ShapeCall& call) {
  const auto transform = static_cast<Transform>(call.parameter());
  const ShapeEnv& env = call.env();
  const bool is_complex_input = is_complex(call.tensor(0).dtype);
  const bool wants_real = transform == Transform::rfft || transform == Transform::ihfft;
  if (wants_real && is_complex_input)
    fail("{} expects a real input tensor, but got {}", call.op().schema.name,
         full_name(call.tensor(0).dtype));
  const bool to_real_output = transform == Transform::irfft || transform == Transform::hfft;
  FakeTensor input = promoted_input(call, to_real_output);
  const Dims dims = {wrap_dim(call.sym_int(2), input.dim(), false)};
  const std::optional<SymInt> n = call.optional_sym_int(1);
  if (to_real_output) {
    const SymInt size = n ? *n : env.mul(env.sub(input.sizes[dims[0]], 1), 2);
    if (env.known_less(size, 1))
      fail("Invalid number of data points ({}) specified", env.str(size));
    if (n) input = resized(call, std::move(input), dims, DimVector{half_of(env, size)});
    if (transform == Transform::hfft && is_complex_input) input = empty_like(env, input);
    return yield(call, c2r(call, input, dims, size));
  }
  if (n) input = resized(call, std::move(input), dims, DimVector{*n});
  check_signal(call, input, dims);
  if (is_complex(input.dtype)) return yield(call, c2c(call, input, dims));
  const FakeTensor result = r2c(call, input, dims, transform != Transform::fft);
  yield(call, result);
}

struct Shape {
  Dims dims;
  DimVector sizes;
};

/// canonicalize_fft_shape_and_dim_args: `s` and `dim` in any combination.
Shape shape_of(const ShapeCall& call, const TensorMeta& input) {
  Shape shape;
  shape.sizes = call.sym_ints(1);
  const bool has_sizes = !call.is_none(1);
  if (!call.is_none(2)) {
    shape.dims = dims_of(call, 2, input.dim());
    if (has_sizes && shape.sizes.size() != shape.dims.size())
      throw Error("When given, dim and shape arguments must have the same length");
  } else {
    const std::size_t count = has_sizes ? shape.sizes.size() : input.dim();
    if (count > input.dim())
      fail("Got shape with {} values but input tensor only has {} dimensions.", count, input.dim());
    for (std::size_t at = input.dim() - count; at < input.dim(); ++at) shape.dims.push_back(at);
  }
  if (!has_sizes) {
    for (const std::size_t dim : shape.dims) shape.sizes.push_back(input.sizes[dim]);
  }
  for (std::size_t at = 0; at < shape.dims.size(); ++at) {
    if (shape.sizes[at].is_constant() && shape.sizes[at].constant() == -1)
      shape.sizes[at] = input.sizes[shape.dims[at]];
    if (call.env().known_less(shape.sizes[at], 1))
      fail("Invalid number of data points ({}) specified", call.env().str(shape.sizes[at]));
  }
  return shape;
}

/// fft_fftn(self, s, dim, norm) and the like.
void many_dims(ShapeCall& call) {
  const auto transform = static_cast<Transform>(call.parameter());
  const ShapeEnv& env = call.env();
  const TensorMeta& self = call.tensor(0);
  const bool wants_real = transform == Transform::rfft || transform == Transform::ihfft;
  if (wants_real && is_complex(self.dtype))
    fail("{} expects a real-valued input tensor, but got {}", call.op().schema.name,
         full_name(self.dtype));
  Shape shape = shape_of(call, self);
  if (shape.dims.empty() && transform != Transform::fft)
    fail("{} must transform at least one axis", call.op().schema.name);
  FakeTensor input = promoted_input(call, !wants_real);
  const bool to_real_output = transform == Transform::irfft || transform == Transform::hfft;
  SymInt last_size = 0;
  if (to_real_output) {
    last_size = shape.sizes.back();
    if (call.is_none(1) ||
        (call.sym_ints(1).back().is_constant() && call.sym_ints(1).back().constant() == -1))
      last_size = env.mul(env.sub(self.sizes[shape.dims.back()], 1), 2);
    if (env.known_less(last_size, 1))
      fail("Invalid number of data points ({}) specified", env.str(last_size));
    shape.sizes[shape.sizes.size() - 1] = half_of(env, last_size);
  }
  input = resized(call, std::move(input), shape.dims, shape.sizes);
  Dims others(shape.dims);
  if (!others.empty()) others.pop_back();
  switch (transform) {
    case Transform::fft:
      return yield(call, c2c(call, input, shape.dims));
    case Transform::rfft:
      return yield(call, r2c(call, input, shape.dims, true));
    case Transform::irfft:
      return yield(call, c2r(call, input, shape.dims, last_size));
    case Transform::hfft:
      if (!others.empty()) {
        input = c2c(call, input, others);
      } else if (is_complex(self.dtype)) {
        input = empty_like(env, input);
      }
      return yield(call, c2r(call, input, {shape.dims.back()}, last_size));
    case Transform::ihfft: {
      const FakeTensor last = r2c(call, input, {shape.dims.back()}, true);
      return yield(call, others.empty() ? last : c2c(call, empty_like(env, last), others));
    }
  }
}

/// aten::fft_fftshift: rolled.
void shifted(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  static_cast<void>(dims_of(call, 1, self.dim()));
  call.yield(empty_tensor(call.env(), self.sizes, self.dtype, self.device));
}

constexpr std::uint32_t with(Transform transform) {
  return static_cast<std::uint32_t>(transform);
}

}  // namespace

FakeTensor fft_c2c(const ShapeCall& call, const TensorMeta& input, Dims dims) {
  return c2c(call, input, std::move(dims));
}
FakeTensor fft_r2c(const ShapeCall& call, const TensorMeta& input, Dims dims, bool onesided) {
  return r2c(call, input, std::move(dims), onesided);
}

std::span<const ShapeRow> fft_rows() {
  static constexpr ShapeRow rows[] = {
      {op::aten__fft_c2c_default, c2c_rule},
      {op::aten__fft_c2r_default, c2r_rule},
      {op::aten__fft_r2c_default, r2c_rule},
      {op::aten_fft_fft_default, one_dim, with(Transform::fft)},
      {op::aten_fft_fft2_default, many_dims, with(Transform::fft)},
      {op::aten_fft_fftn_default, many_dims, with(Transform::fft)},
      {op::aten_fft_fftshift_default, shifted},
      {op::aten_fft_hfft_default, one_dim, with(Transform::hfft)},
      {op::aten_fft_hfft2_default, many_dims, with(Transform::hfft)},
      {op::aten_fft_hfftn_default, many_dims, with(Transform::hfft)},
      {op::aten_fft_ifft_default, one_dim, with(Transform::fft)},
      {op::aten_fft_ifft2_default, many_dims, with(Transform::fft)},
      {op::aten_fft_ifftn_default, many_dims, with(Transform::fft)},
      {op::aten_fft_ifftshift_default, shifted},
      {op::aten_fft_ihfft_default, one_dim, with(Transform::ihfft)},
      {op::aten_fft_ihfft2_default, many_dims, with(Transform::ihfft)},
      {op::aten_fft_ihfftn_default, many_dims, with(Transform::ihfft)},
      {op::aten_fft_irfft_default, one_dim, with(Transform::irfft)},
      {op::aten_fft_irfft2_default, many_dims, with(Transform::irfft)},
      {op::aten_fft_irfftn_default, many_dims, with(Transform::irfft)},
      {op::aten_fft_rfft_default, one_dim, with(Transform::rfft)},
      {op::aten_fft_rfft2_default, many_dims, with(Transform::rfft)},
      {op::aten_fft_rfftn_default, many_dims, with(Transform::rfft)},
  };
  return rows;
}

}  // namespace winze
