// SPDX-License-Identifier: Apache-2.0
#include "winze/shape/sizes.h"

#include <array>
#include <numeric>

#include "winze/shape/elementwise.h"

namespace winze {
namespace {

constexpr std::array<std::size_t, 4> channels_last_order = {1, 3, 2, 0};
constexpr std::array<std::size_t, 5> channels_last_3d_order = {1, 4, 3, 2, 0};

/// Dimensions from the innermost of channels last outwards; empty for other ranks.
std::span<const std::size_t> channels_last_dims(std::size_t rank) {
  if (rank == 4) return channels_last_order;
  if (rank == 5) return channels_last_3d_order;
  return {};
}

bool known_below_two(const ShapeEnv& env, SymInt size) {
  if (size.is_constant()) return size.constant() < 2;
  return env.symbols().range(size).hi < 2;
}

/// Product of sizes where all are constant.
std::optional<std::int64_t> constant_numel(Sizes sizes) {
  std::int64_t product = 1;
  for (const SymInt size : sizes) {
    if (!size.is_constant()) return std::nullopt;
    if (__builtin_mul_overflow(product, size.constant(), &product)) return std::nullopt;
  }
  return product;
}

bool known_below_two_elements(const ShapeEnv& env, Sizes sizes) {
  if (const auto count = constant_numel(sizes)) return *count < 2;
  bool all_ones = true;
  for (const SymInt size : sizes) {
    if (env.known_zero(size)) return true;
    all_ones = all_ones && env.known_one(size);
  }
  return all_ones;
}

/// torch/_prims_common check_contiguous_sizes_strides: strides may have been made with sizes or
/// with `Max(1, size)`.
class NestedStrides {
 public:
  explicit NestedStrides(const ShapeEnv& env) : env_(env) {}
  bool accepts(SymInt size, SymInt stride) {
    if (env_.known_one(size)) return true;
    if (stride != plain_ && stride != at_least_one_ && !env_.known_equal(stride, plain_) &&
        (plain_ == at_least_one_ || !env_.known_equal(stride, at_least_one_)))
      return false;
    at_least_one_ = env_.mul(at_least_one_, env_.at_least_one(size));
    plain_ = env_.mul(plain_, size);
    return true;
  }

 private:
  const ShapeEnv& env_;
  SymInt plain_ = 1;
  SymInt at_least_one_ = 1;
};

}  // namespace

SymInt numel(const ShapeEnv& env, Sizes sizes) {
  SymInt product = 1;
  for (const SymInt size : sizes) product = env.mul(product, size);
  return product;
}

DimVector contiguous_strides(const ShapeEnv& env, Sizes sizes) {
  DimVector strides(sizes.size(), 1);
  for (std::size_t dim = sizes.size(); dim-- > 1;)
    strides[dim - 1] = env.mul(strides[dim], env.at_least_one(sizes[dim]));
  return strides;
}

DimVector channels_last_strides(const ShapeEnv& env, Sizes sizes) {
  const auto order = channels_last_dims(sizes.size());
  if (order.empty()) {
    fail("required rank {} tensor to use channels_last format, not {}",
         sizes.size() < 5 ? "4" : "5", sizes.size());
  }
  DimVector strides(sizes.size(), 1);
  for (std::size_t at = 1; at < order.size(); ++at) {
    const std::size_t inner = order[at - 1];
    // A size of 0 counts as it is, as in c10/core/MemoryFormat.h.
    strides[order[at]] = env.mul(strides[inner], sizes[inner]);
  }
  return strides;
}

DimVector strides_for(const ShapeEnv& env, Sizes sizes, MemoryFormat format) {
  switch (format) {
    case MemoryFormat::channels_last:
    case MemoryFormat::channels_last_3d:
      if (sizes.size() != (format == MemoryFormat::channels_last ? 4 : 5)) {
        fail("required rank {} tensor to use {} format, not {}",
             format == MemoryFormat::channels_last ? 4 : 5, name_of(format), sizes.size());
      }
      return channels_last_strides(env, sizes);
    case MemoryFormat::contiguous_format:
    case MemoryFormat::preserve_format:
    case MemoryFormat::unknown:
      return contiguous_strides(env, sizes);
  }
  return contiguous_strides(env, sizes);
}

DimVector dense_strides_like(const ShapeEnv& env, Sizes sizes, Sizes strides) {
  DimVector result(sizes.size(), 1);
  if (sizes.size() < 2) return result;
  const DimOrder order = memory_order(env, sizes, {&strides, 1});
  SymInt stride = 1;
  for (const std::uint8_t dim : order) {
    result[dim] = stride;
    stride = env.mul(stride, env.at_least_one(sizes[dim]));
  }
  return result;
}

bool is_contiguous(const ShapeEnv& env, Sizes sizes, Sizes strides) {
  NestedStrides nested(env);
  for (std::size_t dim = sizes.size(); dim-- > 0;) {
    if (!nested.accepts(sizes[dim], strides[dim])) return known_below_two_elements(env, sizes);
  }
  return true;
}

bool is_channels_last(const ShapeEnv& env, Sizes sizes, Sizes strides) {
  const auto order = channels_last_dims(sizes.size());
  if (order.empty()) return false;
  NestedStrides nested(env);
  for (const std::size_t dim : order) {
    if (!nested.accepts(sizes[dim], strides[dim])) return false;
  }
  return true;
}

bool is_non_overlapping_and_dense(const ShapeEnv& env, Sizes sizes, Sizes strides) {
  if (is_contiguous(env, sizes, strides)) return true;
  if (sizes.size() == 1) return known_below_two(env, sizes[0]);
  if (is_channels_last(env, sizes, strides)) return true;
  DimOrder order(sizes.size());
  std::iota(order.begin(), order.end(), std::uint8_t{0});
  // Sizes of 0 or 1 to the end, the rest by stride; an insertion sort, as ranks are small.
  const auto before = [&](std::size_t a, std::size_t b) {
    if (known_below_two(env, sizes[a])) return false;
    return known_below_two(env, sizes[b]) || is_smaller_stride(env, strides[a], strides[b]);
  };
  for (std::size_t i = 1; i < order.size(); ++i) {
    for (std::size_t j = i; j > 0 && before(order[j], order[j - 1]); --j)
      std::swap(order[j], order[j - 1]);
  }
  NestedStrides nested(env);
  for (const std::uint8_t dim : order) {
    if (known_below_two(env, sizes[dim])) return true;
    if (!nested.accepts(sizes[dim], strides[dim])) return false;
  }
  return true;
}

MemoryFormat suggest_memory_format(const ShapeEnv& env, const TensorMeta& tensor) {
  const auto order = channels_last_dims(tensor.dim());
  if (tensor.layout != Layout::strided || order.empty()) return MemoryFormat::contiguous_format;
  // c10/core/MemoryFormat.h is_channels_last_strides_2d_s4
  if (env.known_zero(tensor.strides[1])) return MemoryFormat::contiguous_format;
  SymInt least = 0;
  for (const std::size_t dim : order) {
    const SymInt size = tensor.sizes[dim];
    const SymInt stride = tensor.strides[dim];
    if (env.known_zero(size) ||
        !(env.known_at_least(stride, least) || !is_smaller_stride(env, stride, least)))
      return MemoryFormat::contiguous_format;
    if (dim == 0 && env.known_equal(least, tensor.strides[1]))
      return MemoryFormat::contiguous_format;
    least = env.mul(stride, env.at_least_one(size));
  }
  return tensor.dim() == 4 ? MemoryFormat::channels_last : MemoryFormat::channels_last_3d;
}

std::size_t wrap_dim(SymInt dim, std::size_t rank, bool wrap_scalar) {
  const auto count = static_cast<std::int64_t>(rank == 0 && wrap_scalar ? 1 : rank);
  if (!dim.is_constant()) throw Error("a dimension is symbolic; it has to be an integer");
  const std::int64_t value = dim.constant();
  if (count == 0) fail("Dimension specified as {} but tensor has no dimensions", value);
  if (value < -count || value >= count) {
    fail("Dimension out of range (expected to be in range of [{}, {}], but got {})", -count,
         count - 1, value);
  }
  return static_cast<std::size_t>(value < 0 ? value + count : value);
}

DimVector broadcast_sizes(ShapeEnv& env, Sizes a, Sizes b) {
  if (a.size() < b.size()) return broadcast_sizes(env, b, a);
  DimVector result(a);
  for (std::size_t at = 0; at < b.size(); ++at) {
    SymInt& size = result[a.size() - 1 - at];
    const SymInt other = b[b.size() - 1 - at];
    if (size == other || env.known_one(other)) continue;
    if (env.known_one(size)) {
      size = other;
      continue;
    }
    env.require_equal(size, other, [&] {
      return fmt::format(
          "The size of tensor a ({}) must match the size of tensor b ({}) at "
          "non-singleton dimension {}",
          env.str(size), env.str(other), a.size() - 1 - at);
    });
    // Of two that are equal the constant says more.
    if (other.is_constant()) size = other;
  }
  return result;
}

DimVector infer_view_sizes(ShapeEnv& env, Sizes sizes, SymInt count) {
  DimVector result(sizes);
  SymInt product = 1;
  std::optional<std::size_t> inferred;
  for (std::size_t dim = 0; dim < sizes.size(); ++dim) {
    if (sizes[dim].is_constant() && sizes[dim].constant() == -1) {
      if (inferred) throw Error("only one dimension can be inferred");
      inferred = dim;
    } else {
      if (sizes[dim].is_constant() && sizes[dim].constant() < 0)
        fail("invalid shape dimension {}", sizes[dim].constant());
      product = env.mul(product, sizes[dim]);
    }
  }
  const auto why = [&] {
    std::string shown;
    for (const SymInt size : sizes) shown += (shown.empty() ? "" : ", ") + env.str(size);
    return fmt::format("shape '[{}]' is invalid for input of size {}", shown, env.str(count));
  };
  if (!inferred) {
    env.require_equal(product, count, why);
    return result;
  }
  if (env.known_zero(product)) throw Error(why());
  if (product.is_constant() && count.is_constant()) {
    if (count.constant() % product.constant() != 0) throw Error(why());
  } else if (!env.known_multiple(count, product)) {
    env.require_equal(env.mod(count, product), 0, why);
  }
  result[*inferred] = env.floor_div(count, product);
  return result;
}

FakeTensor empty_tensor(const ShapeEnv& env, Sizes sizes, ScalarType dtype, Device device,
                        MemoryFormat format) {
  FakeTensor tensor;
  tensor.dtype = dtype;
  tensor.device = device;
  tensor.sizes = DimVector(sizes);
  tensor.strides = strides_for(env, sizes, format);
  return tensor;
}

FakeTensor empty_like(const ShapeEnv& env, const TensorMeta& tensor) {
  FakeTensor result;
  result.dtype = tensor.dtype;
  result.device = tensor.device;
  result.sizes = DimVector(tensor.sizes);
  result.strides = is_non_overlapping_and_dense(env, tensor)
                       ? DimVector(tensor.strides)
                       : dense_strides_like(env, tensor.sizes, tensor.strides);
  return result;
}

FakeTensor empty_like(const ShapeEnv& env, const TensorMeta& tensor, MemoryFormat format) {
  if (format == MemoryFormat::preserve_format || format == MemoryFormat::unknown)
    return empty_like(env, tensor);
  return empty_tensor(env, tensor.sizes, tensor.dtype, tensor.device, format);
}

}  // namespace winze
