// SPDX-License-Identifier: Apache-2.0
// The primitives that decompositions of PyTorch and Inductor leave in a graph, each as the
// `impl_aten` of torch/_prims/__init__.py.
#include "winze/torch/primitives.h"

#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <string>

#include <ATen/core/Tensor.h>
#include <ATen/ops/_fft_c2c.h>
#include <ATen/ops/_fft_c2r.h>
#include <ATen/ops/_fft_r2c.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/div.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/full.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/prod.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/var.h>
#include <ATen/ops/where.h>

#include "winze/torch/native_functions.h"

namespace winze {
namespace {

using c10::IValue;
using Arguments = std::span<const IValue>;

std::optional<at::ScalarType> dtype_of(const IValue& value) {
  if (value.isNone()) return std::nullopt;
  return static_cast<at::ScalarType>(value.toInt());
}

/// An empty list does not tell what of.
std::vector<std::int64_t> ints_of(const IValue& list) {
  if (list.isIntList()) return list.toIntVector();
  TORCH_CHECK(list.isList() && list.toListRef().empty(), "a list of integers is wanted");
  return {};
}

/// Options of a factory: dtype and device.
at::TensorOptions options(const IValue& dtype, const IValue& device) {
  return at::TensorOptions().dtype(dtype_of(dtype)).device(device.toDevice());
}

/// All dimensions where none are given.
std::vector<std::int64_t> dims_of(const IValue& dims, const at::Tensor& input) {
  if (!dims.isNone()) return ints_of(dims);
  std::vector<std::int64_t> all(static_cast<std::size_t>(input.dim()));
  std::ranges::generate(all, [next = std::int64_t{0}]() mutable { return next++; });
  return all;
}

/// A tensor for what may be a Python number beside a tensor.
at::Tensor tensor_beside(const IValue& value, const at::Tensor& other) {
  return value.isTensor() ? value.toTensor() : at::scalar_tensor(value.toScalar(), other.options());
}

// (a, dtype)
at::Tensor convert_element_type(Arguments a) {
  return a[0].toTensor().to(*dtype_of(a[1]), /*non_blocking=*/false, /*copy=*/true);
}

// (a, device, non_blocking)
at::Tensor device_put(Arguments a) {
  return a[0].toTensor().to(a[1].toDevice(), a[0].toTensor().scalar_type());
}

// (a, permutation)
at::Tensor transpose(Arguments a) {
  return a[0].toTensor().permute(ints_of(a[1]));
}

// (a, shape, broadcast_dimensions)
at::Tensor broadcast_in_dim(Arguments a) {
  const std::vector<std::int64_t> shape = ints_of(a[1]);
  const std::vector<std::int64_t> kept = ints_of(a[2]);
  at::Tensor view = a[0].toTensor();
  for (std::int64_t dim = 0; dim < static_cast<std::int64_t>(shape.size()); ++dim)
    if (std::ranges::find(kept, dim) == kept.end()) view = view.unsqueeze(dim);
  return view.expand(shape);
}

// (a, dimensions)
at::Tensor squeeze(Arguments a) {
  return a[0].toTensor().squeeze(ints_of(a[1]));
}

/// The sizes with the dimensions from `start` to `end`, both included, as one.
std::vector<std::int64_t> collapsed(Arguments a) {
  const at::Tensor input = a[0].toTensor();
  if (input.dim() == 0) return {1};
  const std::int64_t start = a[1].toInt();
  const std::int64_t end = a[2].toInt();
  TORCH_CHECK(start >= 0 && start <= end && end < input.dim(), "dimensions ", start, " to ", end,
              " are none of a tensor of ", input.dim());
  std::vector<std::int64_t> sizes = input.sizes().slice(0, start).vec();
  const auto merged = input.sizes().slice(start, end - start + 1);
  std::int64_t size = 1;
  for (const std::int64_t part : merged) size *= part;
  sizes.push_back(size);
  const auto rest = input.sizes().slice(end + 1);
  sizes.insert(sizes.end(), rest.begin(), rest.end());
  return sizes;
}
at::Tensor collapse(Arguments a) {
  return a[0].toTensor().clone(at::MemoryFormat::Contiguous).view(collapsed(a));
}
at::Tensor collapse_view(Arguments a) {
  return a[0].toTensor().view(collapsed(a));
}

// (a, dim, outer_length)
at::Tensor split_dim(Arguments a) {
  const at::Tensor input = a[0].toTensor();
  const std::int64_t outer = a[2].toInt();
  TORCH_CHECK(outer > 0, "the outer length ", outer, " is not positive");
  return input.unflatten(a[1].toInt(), at::IntArrayRef({outer, input.size(a[1].toInt()) / outer}));
}

// (a, shape)
at::Tensor reshape(Arguments a) {
  return a[0].toTensor().reshape(ints_of(a[1])).clone(at::MemoryFormat::Contiguous);
}

// (a, dims)
at::Tensor rev(Arguments a) {
  return a[0].toTensor().flip(ints_of(a[1]));
}

at::Tensor view_of(Arguments a) {
  return a[0].toTensor().view(a[0].toTensor().sizes());
}
at::Tensor view_of_dtype(Arguments a) {
  return a[0].toTensor().view(*dtype_of(a[1]));
}

at::Tensor conj(Arguments a) {
  return a[0].toTensor().conj();
}

at::Tensor copy_to(Arguments a) {
  return a[0].toTensor().copy_(a[1].toTensor());
}

// (tensors, dim)
at::Tensor cat(Arguments a) {
  return at::cat(a[0].toTensorVector(), a[1].toInt());
}

// (pred, a, b)
at::Tensor where(Arguments a) {
  const at::Tensor& like = a[1].isTensor() ? a[1].toTensor() : a[2].toTensor();
  return at::where(a[0].toTensor(), tensor_beside(a[1], like), tensor_beside(a[2], like));
}

at::Tensor div(Arguments a) {
  const at::Tensor& like = a[0].isTensor() ? a[0].toTensor() : a[1].toTensor();
  const at::Tensor dividend = tensor_beside(a[0], like);
  const at::Tensor divisor = tensor_beside(a[1], like);
  if (at::isIntegralType(dividend.scalar_type(), /*includeBool=*/true))
    return at::div(dividend, divisor, "trunc");
  return at::div(dividend, divisor);
}

at::Tensor pow(Arguments a) {
  const at::Tensor& like = a[0].isTensor() ? a[0].toTensor() : a[1].toTensor();
  return at::pow(tensor_beside(a[0], like), tensor_beside(a[1], like));
}

at::Tensor fma(Arguments a) {
  return a[2].toTensor().addcmul(a[0].toTensor(), a[1].toTensor());
}

// (inp, dims, *, output_dtype)
at::Tensor sum(Arguments a) {
  return at::sum(a[0].toTensor(), dims_of(a[1], a[0].toTensor()), false, dtype_of(a[2]));
}
at::Tensor amax(Arguments a) {
  return a[0].toTensor().amax(dims_of(a[1], a[0].toTensor()));
}
at::Tensor amin(Arguments a) {
  return a[0].toTensor().amin(dims_of(a[1], a[0].toTensor()));
}
at::Tensor prod(Arguments a) {
  at::Tensor product = a[0].toTensor();
  if (a[1].isNone()) return at::prod(product, dtype_of(a[2]));
  std::vector<std::int64_t> dims = ints_of(a[1]);
  if (dims.empty()) return product.clone();
  std::ranges::sort(dims, std::greater<>());
  for (const std::int64_t dim : dims) product = at::prod(product, dim, false, dtype_of(a[2]));
  return product;
}

// (inp, dims, correction, *, output_dtype)
at::Tensor var(Arguments a) {
  const at::Tensor input = a[0].toTensor();
  const at::Scalar correction = a[2].isNone() ? at::Scalar(1) : a[2].toScalar();
  return at::var(input, dims_of(a[1], input), correction, /*keepdim=*/false);
}

// (length, *, start, step, dtype, device, requires_grad)
at::Tensor iota(Arguments a) {
  const std::int64_t start = a[1].toInt();
  return at::arange(start, start + a[0].toInt() * a[2].toInt(), a[2].toInt(), options(a[3], a[4]));
}

// (shape, fill_value, *, dtype, device, requires_grad)
at::Tensor full(Arguments a) {
  return at::full(ints_of(a[0]), a[1].toScalar(), options(a[2], a[3]));
}
at::Tensor full_like(Arguments a) {
  return at::full_like(a[0].toTensor(), a[1].toScalar(), options(a[2], a[3]));
}

// (shape, strides, *, dtype, device, requires_grad)
at::Tensor empty_strided(Arguments a) {
  return at::empty_strided(ints_of(a[0]), ints_of(a[1]), options(a[2], a[3]));
}

// (s, *, dtype, device)
at::Tensor scalar_tensor(Arguments a) {
  at::TensorOptions made = at::TensorOptions().dtype(dtype_of(a[1]));
  if (!a[2].isNone()) made = made.device(a[2].toDevice());
  return at::scalar_tensor(a[0].toScalar(), made);
}

constexpr std::int64_t no_normalization = 0;
// (self, *, dim, onesided | last_dim_size | forward)
at::Tensor fft_r2c(Arguments a) {
  return at::_fft_r2c(a[0].toTensor(), ints_of(a[1]), no_normalization, a[2].toBool());
}
at::Tensor fft_c2r(Arguments a) {
  return at::_fft_c2r(a[0].toTensor(), ints_of(a[1]), no_normalization, a[2].toInt());
}
at::Tensor fft_c2c(Arguments a) {
  return at::_fft_c2c(a[0].toTensor(), ints_of(a[1]), no_normalization, a[2].toBool());
}

using Primitive = at::Tensor (*)(Arguments);

template <Primitive primitive>
void call(Machine& /*machine*/, const Instruction& /*instruction*/, Stack& stack) {
  at::Tensor result = primitive(stack);
  stack.assign(1, IValue(std::move(result)));
}

constexpr NamedFunction primitive_functions[] = {
    {"prims.amax.default", call<amax>},
    {"prims.amin.default", call<amin>},
    {"prims.broadcast_in_dim.default", call<broadcast_in_dim>},
    {"prims.cat.default", call<cat>},
    {"prims.collapse.default", call<collapse>},
    {"prims.collapse_view.default", call<collapse_view>},
    {"prims.conj.default", call<conj>},
    {"prims.convert_element_type.default", call<convert_element_type>},
    {"prims.copy_to.default", call<copy_to>},
    {"prims.device_put.default", call<device_put>},
    {"prims.div.default", call<div>},
    {"prims.empty_strided.default", call<empty_strided>},
    {"prims.fft_c2c.default", call<fft_c2c>},
    {"prims.fft_c2r.default", call<fft_c2r>},
    {"prims.fft_r2c.default", call<fft_r2c>},
    {"prims.fma.default", call<fma>},
    {"prims.full.default", call<full>},
    {"prims.full_like.default", call<full_like>},
    {"prims.iota.default", call<iota>},
    {"prims.pow.default", call<pow>},
    {"prims.prod.default", call<prod>},
    {"prims.reshape.default", call<reshape>},
    {"prims.rev.default", call<rev>},
    {"prims.scalar_tensor.default", call<scalar_tensor>},
    {"prims.split_dim.default", call<split_dim>},
    {"prims.squeeze.default", call<squeeze>},
    {"prims.sum.default", call<sum>},
    {"prims.transpose.default", call<transpose>},
    {"prims.var.default", call<var>},
    {"prims.view_of.default", call<view_of>},
    {"prims.view_of_dtype.default", call<view_of_dtype>},
    {"prims.where.default", call<where>},
};

/// A primitive that ATen has under another name.
struct Renamed {
  std::string_view primitive;
  const char* aten;
};

constexpr std::array renamed{
    Renamed{"bessel_i0", "i0"},
    Renamed{"bessel_i0e", "special_i0e"},
    Renamed{"bessel_i1", "special_i1"},
    Renamed{"bessel_i1e", "special_i1e"},
    Renamed{"bessel_j0", "special_bessel_j0"},
    Renamed{"bessel_j1", "special_bessel_j1"},
    Renamed{"erf_inv", "erfinv"},
    Renamed{"erfcx", "special_erfcx"},
    Renamed{"ndtri", "special_ndtri"},
    Renamed{"shift_left", "bitwise_left_shift"},
    Renamed{"shift_right_arithmetic", "bitwise_right_shift"},
    Renamed{"spherical_bessel_j0", "special_spherical_bessel_j0"},
    Renamed{"zeta", "special_zeta"},
};

}  // namespace

std::optional<c10::OperatorHandle> find_aten_operator(std::string_view primitive) {
  constexpr std::string_view prims = "prims::";
  if (!primitive.starts_with(prims)) return std::nullopt;
  primitive.remove_prefix(prims.size());
  const auto other = std::ranges::find(renamed, primitive, &Renamed::primitive);
  const std::string name =
      "aten::" + (other == renamed.end() ? std::string(primitive) : std::string(other->aten));
  c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
  // Of two, the second may be a number in ATen: `add.Tensor` beside `add.Scalar`.
  if (auto tensors = dispatcher.findSchema({name, "Tensor"})) return tensors;
  return dispatcher.findSchema({name, ""});
}

NativeFunction find_primitive_function(std::string_view name) {
  return find_function(primitive_functions, name);
}

}  // namespace winze
