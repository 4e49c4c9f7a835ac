// SPDX-License-Identifier: Apache-2.0
// The operators of torch/_prims that are not elementwise: views, copies, reductions, factories and
// Fourier transforms; and those of torch/_inductor/inductor_prims.py.
#include <algorithm>
#include <vector>

#include "winze/schema/op_ids.h"
#include "winze/shape/elementwise.h"
#include "winze/shape/families.h"
#include "winze/shape/views.h"

namespace winze {
namespace {

/// A dimension of an argument `int`: prims do not count from the end.
std::size_t dim_of(SymInt dim, std::size_t rank) {
  if (!dim.is_constant() || dim.constant() < 0 ||
      static_cast<std::size_t>(dim.constant()) >= std::max<std::size_t>(rank, 1))
    fail("a prim is given a dimension that a tensor of {} dimensions has not", rank);
  return static_cast<std::size_t>(dim.constant());
}

/// An argument `int[]` of dimensions, each at most once.
DimVector distinct_dims(const ShapeCall& call, std::uint32_t index, std::size_t rank) {
  DimVector dims = call.sym_ints(index);
  for (std::size_t at = 0; at < dims.size(); ++at) {
    dims[at] = static_cast<std::int64_t>(dim_of(dims[at], rank));
    if (std::find(dims.begin(), dims.begin() + at, dims[at]) != dims.begin() + at)
      fail("{} is given the dimension {} more than once", call.op().schema.name,
           dims[at].constant());
  }
  return dims;
}

ScalarType dtype_of_result(const ShapeCall& call, std::string_view name, ScalarType otherwise) {
  return call.dtype(call.position(name)).value_or(otherwise);
}

// --- Views

/// prims::broadcast_in_dim(a, shape, broadcast_dimensions): where each dimension of `a` goes.
void broadcast_in_dim(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& self = call.tensor(0);
  const DimVector sizes = call.sym_ints(1);
  const DimVector places = distinct_dims(call, 2, sizes.size());
  if (places.size() != self.dim() || !std::ranges::is_sorted(places, {}, &SymInt::constant))
    throw Error("broadcast_in_dim expects an ascending place for each dimension");
  FakeTensor result(self);
  result.sizes = sizes;
  result.strides = DimVector(sizes.size(), 0);
  std::size_t from = 0;
  for (std::size_t dim = 0; dim < sizes.size(); ++dim) {
    if (from < places.size() && places[from] == SymInt(static_cast<std::int64_t>(dim))) {
      const SymInt size = self.sizes[from];
      const bool is_broadcast = env.known_one(size) && !env.known_equal(size, sizes[dim]);
      if (!is_broadcast) {
        env.require_equal(size, sizes[dim], [&] {
          return fmt::format("non-broadcasting semantics require {} == {}", env.str(size),
                             env.str(sizes[dim]));
        });
        result.strides[dim] = self.strides[from];
      }
      ++from;
    } else if (env.known_one(sizes[dim])) {
      result.strides[dim] =
          from == self.dim() ? SymInt(1) : env.mul(self.strides[from], self.sizes[from]);
    }
  }
  call.yield(result);
}

/// The dimensions from `start` to `end`, both included, as one. Tensors without dimensions have one
/// of size 1.
DimVector collapsed_sizes(const ShapeCall& call, std::size_t& start, std::size_t& end) {
  const ShapeEnv& env = call.env();
  const TensorMeta& self = call.tensor(0);
  start = dim_of(call.sym_int(1), self.dim());
  end = dim_of(call.sym_int(2), self.dim());
  if (end < start) fail("Attempting to collapse but end, {}, is less than start, {}!", end, start);
  if (self.dim() == 0) return {1};
  DimVector sizes(self.sizes.first(start));
  sizes.push_back(numel(env, self.sizes.subspan(start, end - start + 1)));
  sizes.append(self.sizes.subspan(end + 1));
  return sizes;
}

void collapse(ShapeCall& call) {
  std::size_t start = 0;
  std::size_t end = 0;
  const DimVector sizes = collapsed_sizes(call, start, end);
  const TensorMeta& self = call.tensor(0);
  call.yield(empty_tensor(call.env(), sizes, self.dtype, self.device));
}

/// prims::collapse_view: what is collapsed has to lie as one dimension.
void collapse_view(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& self = call.tensor(0);
  std::size_t start = 0;
  std::size_t end = 0;
  FakeTensor result(self);
  result.sizes = collapsed_sizes(call, start, end);
  if (self.dim() == 0) result.strides = {1};
  if (self.dim() == 0 || start == end) return call.yield(result);
  const bool is_empty = env.known_zero(numel(env, self.sizes));
  SymInt stride = self.strides[end];
  for (std::size_t dim = end; dim-- > start && !is_empty;) {
    if (env.known_one(self.sizes[dim])) continue;
    if (!env.known_one(self.sizes[dim + 1])) {
      env.require_equal(self.strides[dim], env.mul(self.strides[dim + 1], self.sizes[dim + 1]), [] {
        return std::string("Attempting to view a collapsed tensor, but no such view exists!");
      });
    }
    stride = env.min(stride, self.strides[dim]);
  }
  result.strides = DimVector(self.strides.first(start));
  result.strides.push_back(stride);
  result.strides.append(self.strides.subspan(end + 1));
  if (is_empty) result.strides = contiguous_strides(env, result.sizes);
  call.yield(result);
}

/// prims::split_dim(a, dim, outer_length)
void split_dim(ShapeCall& call) {
  ShapeEnv& env = call.env();
  FakeTensor result(call.tensor(0));
  const std::size_t dim = dim_of(call.sym_int(1), result.dim());
  if (result.dim() == 0) throw Error("split_dim expects a tensor with dimensions");
  const SymInt outer = call.sym_int(2);
  const SymInt size = result.sizes[dim];
  env.require_at_least(outer, 1, [] { return std::string("split_dim expects a positive length"); });
  if (!env.known_multiple(size, outer)) {
    env.require_equal(env.mod(size, outer), 0, [&] {
      return fmt::format(
          "Attempting to split dimension of length {}, but outer length of {} divides it with a "
          "remainder!",
          env.str(size), env.str(outer));
    });
  }
  const SymInt inner = env.floor_div(size, outer);
  result.sizes[dim] = outer;
  result.sizes.insert(dim + 1, inner);
  const SymInt stride = result.strides[dim];
  result.strides[dim] = env.mul(stride, inner);
  result.strides.insert(dim + 1, stride);
  call.yield(result);
}

/// prims::squeeze(a, dimensions): each of size 1, and maybe named more than once.
void squeeze(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& self = call.tensor(0);
  const DimVector dims = call.sym_ints(1);
  FakeTensor result(self);
  for (std::size_t dim = self.dim(); dim-- > 0;) {
    if (std::ranges::find(dims, SymInt(static_cast<std::int64_t>(dim))) == dims.end()) continue;
    env.require_equal(self.sizes[dim], 1, [&] {
      return fmt::format("Cannot squeeze dimension {} with size {} (must be 1)", dim,
                         env.str(self.sizes[dim]));
    });
    result = without_dim(result, dim);
  }
  for (const SymInt dim : dims) static_cast<void>(dim_of(dim, self.dim()));
  call.yield(result);
}

// --- Copies

/// prims::reshape(a, shape): a contiguous copy.
void reshape(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& self = call.tensor(0);
  const DimVector sizes = call.sym_ints(1);
  const SymInt count = numel(env, sizes);
  env.require_equal(count, numel(env, self.sizes), [&] {
    return fmt::format("Attempting to reshape a tensor to a shape with {} elements!",
                       env.str(count));
  });
  call.yield(empty_tensor(env, sizes, self.dtype, self.device));
}

/// prims::cat(tensors, dim): contiguous, and stricter than aten::cat about tensors without
/// elements.
void cat(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const auto tensors = call.tensors(0);
  if (tensors.empty() || tensors[0] == nullptr) throw Error("prims.cat is given no tensors");
  const TensorMeta& first = *tensors[0];
  const std::size_t joined = dim_of(call.sym_int(1), first.dim());
  if (first.dim() == 0) throw Error("prims.cat expects tensors with dimensions");
  DimVector sizes(first.sizes);
  for (const TensorMeta* tensor : std::span(tensors).subspan(1)) {
    if (tensor == nullptr || tensor->dim() != first.dim())
      throw Error("All tensors must have the same number of dimensions.");
    for (std::size_t dim = 0; dim < sizes.size(); ++dim) {
      if (dim == joined) {
        sizes[dim] = env.add(sizes[dim], tensor->sizes[dim]);
        continue;
      }
      env.require_equal(tensor->sizes[dim], first.sizes[dim], [&] {
        return fmt::format(
            "Sizes of tensors must match except in dimension {}. Expected {} in dimension {} but "
            "got {}",
            joined, env.str(first.sizes[dim]), dim, env.str(tensor->sizes[dim]));
      });
    }
  }
  call.yield(empty_tensor(env, sizes, first.dtype, first.device));
}

void clone(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  const MemoryFormat format = call.memory_format(1, MemoryFormat::preserve_format);
  call.yield(format == MemoryFormat::preserve_format ? elementwise_like(call.env(), self)
                                                     : empty_like(call.env(), self, format));
}

/// prims::copy_strided(a, stride) and inductor_force_stride_order
void copy_strided(ShapeCall& call) {
  FakeTensor result(call.tensor(0));
  const DimVector strides = call.sym_ints(1);
  if (strides.size() != result.dim())
    fail("{} expects a stride for each dimension", call.op().schema.name);
  result.strides = strides;
  result.storage_offset = 0;
  call.yield(result);
}

void copy_to(ShapeCall& call) {
  ShapeEnv& env = call.env();
  const TensorMeta& self = call.tensor(0);
  const SymInt count = numel(env, self.sizes);
  env.require_equal(numel(env, call.tensor(1).sizes), count, [&] {
    return fmt::format("Attempting to copy to a tensor with {} elements!", env.str(count));
  });
  call.yield(self);
}

/// prims::rev(a, dims)
void rev(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  static_cast<void>(distinct_dims(call, 1, self.dim()));
  call.yield(empty_like(call.env(), self));
}

void device_put(ShapeCall& call) {
  FakeTensor result(call.tensor(0));
  result.storage_offset = 0;
  result.device = call.device(1).value_or(result.device);
  call.yield(result);
}

/// Operators that yield one tensor laid out as theirs.
void same_layout(ShapeCall& call) {
  call.yield(elementwise_like(call.env(), call.tensor(0)));
}

/// prims::full_like(a, fill_value, dtype, device, requires_grad)
void full_like(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  FakeTensor result = elementwise_like(call.env(), self);
  if (call.env().known_zero(numel(call.env(), self.sizes)))
    result.strides = DimVector(self.strides);
  result.dtype = dtype_of_result(call, "dtype", self.dtype);
  result.device = call.device(call.position("device")).value_or(self.device);
  call.yield(result);
}

/// prims::as_strided_scatter(self, src, size, stride, storage_offset)
void as_strided_scatter(ShapeCall& call) {
  ShapeEnv& env = call.env();
  FakeTensor result(call.tensor(0));
  const TensorMeta& source = call.tensor(1);
  const DimVector sizes = call.sym_ints(2);
  if (source.dim() != sizes.size())
    throw Error("expected src to have a size equal to the slice of self.");
  for (std::size_t dim = 0; dim < sizes.size(); ++dim) {
    env.require_equal(source.sizes[dim], sizes[dim], [&] {
      return fmt::format(
          "expected src to have a size equal to the slice of self. src size = {}, slice size = {}",
          env.str(source.sizes[dim]), env.str(sizes[dim]));
    });
  }
  const DimVector strides = call.sym_ints(3);
  if (strides.size() != sizes.size())
    throw Error("as_strided_scatter expects a stride for each size");
  if (!env.known_zero(numel(env, sizes))) {
    SymInt required = env.add(call.sym_int(4), 1);
    for (std::size_t dim = 0; dim < sizes.size(); ++dim)
      required = env.add(required, env.mul(env.sub(sizes[dim], 1), strides[dim]));
    env.require_at_least(numel(env, result.sizes), required, [&] {
      return fmt::format("as_strided_scatter: {} elements are out of bounds for the storage",
                         env.str(required));
    });
  }
  // The clone has the storage of the input as far as it is seen.
  call.yield(result);
}

// --- Reductions

/// prims::sum(inp, dims, output_dtype) and its like: `parameter` 1 is for var, which is real.
void reduction(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  if (call.is_none(1)) fail("{} expects the dimensions to reduce", call.op().schema.name);
  const DimVector dims = distinct_dims(call, 1, self.dim());
  DimVector sizes;
  for (std::size_t dim = 0; dim < self.dim(); ++dim) {
    if (std::ranges::find(dims, SymInt(static_cast<std::int64_t>(dim))) == dims.end())
      sizes.push_back(self.sizes[dim]);
  }
  const ScalarType dtype = call.parameter() == 1
                               ? to_real(self.dtype)
                               : dtype_of_result(call, "output_dtype", self.dtype);
  call.yield(empty_tensor(call.env(), sizes, dtype, self.device));
}

// --- Fourier transforms, whose results are contiguous

/// The last of the dimensions to transform, each of which is there once. Where its size matters a
/// tensor has to have dimensions.
std::size_t last_transformed(const ShapeCall& call, bool size_matters) {
  const std::size_t rank = call.tensor(0).dim();
  const DimVector dims = call.sym_ints(1);
  if (dims.empty()) fail("{} expects a dimension", call.op().schema.name);
  std::vector<std::size_t> seen;
  for (const SymInt given : dims) {
    seen.push_back(wrap_dim(given, rank, !size_matters));
    if (std::ranges::count(seen, seen.back()) > 1)
      throw Error("duplicate value in the list of dims");
  }
  return seen.back();
}

void fft_c2c(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  static_cast<void>(last_transformed(call, false));
  call.yield(empty_tensor(call.env(), self.sizes, self.dtype, self.device));
}
void fft_r2c(ShapeCall& call) {
  const ShapeEnv& env = call.env();
  const TensorMeta& self = call.tensor(0);
  DimVector sizes(self.sizes);
  const bool is_onesided = call.boolean(2);
  const std::size_t last = last_transformed(call, is_onesided);
  if (is_onesided) sizes[last] = env.add(env.floor_div(sizes[last], 2), 1);
  call.yield(empty_tensor(env, sizes, to_complex(self.dtype), self.device));
}
void fft_c2r(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  DimVector sizes(self.sizes);
  sizes[last_transformed(call, true)] = call.sym_int(2);
  call.yield(empty_tensor(call.env(), sizes, to_real(self.dtype), self.device));
}

// --- Factories

/// prims::empty(shape, dtype, device) and its like.
FakeTensor of_shape(const ShapeCall& call) {
  return empty_tensor(call.env(), call.sym_ints(0), dtype_of_result(call, "dtype", default_float),
                      call.device(call.position("device")).value_or(Device{}));
}
void factory(ShapeCall& call) {
  call.yield(of_shape(call));
}
/// prims::normal(shape, mean, std)
void normal(ShapeCall& call) {
  if (const auto deviation = call.constant_number(2); deviation && *deviation < 0)
    fail("expected non-negative standard deviation, but got std={}", *deviation);
  const FakeTensor result = of_shape(call);
  if (is_integral_or_bool(result.dtype))
    fail("expected a floating-point or complex dtype, but got dtype={}", full_name(result.dtype));
  call.yield(result);
}
void empty_permuted(ShapeCall& call) {
  const ShapeEnv& env = call.env();
  FakeTensor result = of_shape(call);
  const DimVector order = distinct_dims(call, 1, result.dim());
  if (order.size() != result.dim())
    throw Error("Number of dimensions does not match the length of the physical layout");
  SymInt stride = 1;
  for (std::size_t at = order.size(); at-- > 0;) {
    const std::size_t dim = dim_of(order[at], result.dim());
    result.strides[dim] = stride;
    stride = env.mul(stride, env.at_least_one(result.sizes[dim]));
  }
  call.yield(result);
}
/// prims::empty_strided(shape, strides) and uniform, whose strides `parameter` tells the position
/// of.
void strided_factory(ShapeCall& call) {
  FakeTensor result = of_shape(call);
  const DimVector strides = call.sym_ints(call.parameter());
  if (strides.size() != result.dim())
    fail("{} expects a stride for each size", call.op().schema.name);
  result.strides = strides;
  call.yield(result);
}
void scalar_tensor(ShapeCall& call) {
  const auto dtype = call.dtype(1);
  const ScalarType kind = call.number_kind(0);
  const ScalarType otherwise = kind == ScalarType::float64 ? default_float : kind;
  call.yield(
      empty_tensor(call.env(), {}, dtype.value_or(otherwise), call.device(2).value_or(Device{})));
}

// --- Operators of Inductor's

void make_token(ShapeCall& call) {
  call.yield(empty_tensor(call.env(), DimVector{0}, default_float, Device{}));
}

/// prepare_softmax_online(x, dim): the largest element and the sum, with the dimension kept.
void prepare_softmax(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  DimVector sizes(self.sizes);
  const std::size_t dim = call.dim(1, self.dim());
  if (!sizes.empty()) sizes[dim] = 1;
  for (int count = 0; count < 2; ++count)
    call.yield(empty_tensor(call.env(), sizes, self.dtype, self.device));
}

/// inductor_cvt_e8m0_rceil(input): exponents as bytes.
void exponents(ShapeCall& call) {
  const TensorMeta& self = call.tensor(0);
  if (computation_dtype(self.dtype) != ScalarType::float32)
    fail("cvt_e8m0_rceil requires float32, float16, or bfloat16 input, got {}",
         full_name(self.dtype));
  FakeTensor result = elementwise_like(call.env(), self);
  result.dtype = ScalarType::uint8;
  call.yield(result);
}

/// inductor_seed(device), inductor_seeds(count, device), inductor_lookup_seed(seeds, index)
void seed(ShapeCall& call) {
  call.yield(empty_tensor(call.env(), {}, ScalarType::int64, call.device(0).value_or(Device{})));
}
void seeds(ShapeCall& call) {
  call.yield(empty_tensor(call.env(), DimVector{call.sym_int(0)}, ScalarType::int64,
                          call.device(1).value_or(Device{})));
}
void lookup_seed(ShapeCall& call) {
  const TensorMeta& all = call.tensor(0);
  if (all.dim() != 1) throw Error("inductor_lookup_seed expects a vector of seeds");
  call.yield(empty_tensor(call.env(), {}, all.dtype, all.device));
}
/// inductor_random(size, seed, mode) and inductor_randint(low, high, size, seed); `parameter` is
/// the position of the size, which the seed follows.
void random_of_seed(ShapeCall& call) {
  const bool is_float = call.parameter() == 0;
  call.yield(empty_tensor(call.env(), call.sym_ints(call.parameter()),
                          is_float ? ScalarType::float32 : ScalarType::int64,
                          call.tensor(call.parameter() + 1).device));
}

}  // namespace

std::span<const ShapeRow> prims_structure_rows() {
  static constexpr ShapeRow rows[] = {
      {op::prims__make_token_default, make_token},
      {op::prims_amax_default, reduction},
      {op::prims_amin_default, reduction},
      {op::prims_as_strided_scatter_default, as_strided_scatter},
      {op::prims_broadcast_in_dim_default, broadcast_in_dim},
      {op::prims_cat_default, cat},
      {op::prims_clone_default, clone},
      {op::prims_collapse_default, collapse},
      {op::prims_collapse_view_default, collapse_view},
      {op::prims_copy_strided_default, copy_strided},
      {op::prims_copy_to_default, copy_to},
      {op::prims_device_put_default, device_put},
      {op::prims_empty_default, factory},
      {op::prims_empty_permuted_default, empty_permuted},
      {op::prims_empty_strided_default, strided_factory, 1},
      {op::prims_fft_c2c_default, fft_c2c},
      {op::prims_fft_c2r_default, fft_c2r},
      {op::prims_fft_r2c_default, fft_r2c},
      {op::prims_fill_default, same_layout},
      {op::prims_full_default, factory},
      {op::prims_full_like_default, full_like},
      {op::prims_inductor_cvt_e8m0_rceil_default, exponents},
      {op::prims_inductor_force_stride_order_default, copy_strided},
      {op::prims_inductor_lookup_seed_default, lookup_seed},
      {op::prims_inductor_randint_default, random_of_seed, 2},
      {op::prims_inductor_random_default, random_of_seed, 0},
      {op::prims_inductor_seed_default, seed},
      {op::prims_inductor_seeds_default, seeds},
      {op::prims_normal_default, normal},
      {op::prims_prepare_softmax_online_default, prepare_softmax},
      {op::prims_prod_default, reduction},
      {op::prims_reshape_default, reshape},
      {op::prims_rev_default, rev},
      {op::prims_scalar_tensor_default, scalar_tensor},
      {op::prims_split_dim_default, split_dim},
      {op::prims_squeeze_default, squeeze},
      {op::prims_sum_default, reduction},
      {op::prims_uniform_default, strided_factory, 5},
      {op::prims_var_default, reduction, 1},
      {op::prims_xor_sum_default, reduction},
  };
  return rows;
}

}  // namespace winze
