// SPDX-License-Identifier: Apache-2.0
// Strides of a view of other sizes.
#include "winze/shape/sizes.h"

namespace winze {
namespace {

/// torch/_subclasses/fake_impls.py _compute_stride: chunks of the old dimensions that are
/// contiguous among themselves take whole groups of new ones.
std::optional<DimVector> strides_by_chunks(const ShapeEnv& env, const TensorMeta& tensor,
                                           Sizes sizes) {
  DimVector result(sizes.size(), 0);
  std::size_t left = sizes.size();
  SymInt chunk_stride = tensor.strides.back();
  SymInt tensor_numel = 1;
  SymInt view_numel = 1;
  for (std::size_t dim = tensor.dim(); dim-- > 0;) {
    tensor_numel = env.mul(tensor_numel, tensor.sizes[dim]);
    const bool ends_chunk = dim == 0 || (!env.known_one(tensor.sizes[dim - 1]) &&
                                         !env.known_equal(tensor.strides[dim - 1],
                                                          env.mul(tensor_numel, chunk_stride)));
    if (!ends_chunk) continue;
    while (left > 0 &&
           (!env.known_at_least(view_numel, tensor_numel) || env.known_one(sizes[left - 1]))) {
      --left;
      result[left] = env.mul(view_numel, chunk_stride);
      view_numel = env.mul(view_numel, sizes[left]);
    }
    if (!env.known_equal(view_numel, tensor_numel)) return std::nullopt;
    if (dim > 0) {
      chunk_stride = tensor.strides[dim - 1];
      tensor_numel = 1;
      view_numel = 1;
    }
  }
  if (left != 0) return std::nullopt;
  return result;
}

/// torch/_refs _reshape_view_helper_core_alg: makes the new dimensions from the left by merging and
/// splitting. What it gives for dimensions of size 1 is its own.
class Reshaper {
 public:
  Reshaper(const ShapeEnv& env, const TensorMeta& tensor)
      : env_(env), sizes_(tensor.sizes), strides_(tensor.strides) {}

  std::optional<DimVector> run(Sizes target) {
    std::size_t at = 0;
    for (const SymInt length : target) {
      if (at >= sizes_.size()) {
        if (!env_.known_one(length)) return std::nullopt;
        split(sizes_.size() - 1, sizes_.back());
      } else if (!env_.known_equal(length, sizes_[at])) {
        if (!make(at, length)) return std::nullopt;
      }
      ++at;
    }
    while (at < sizes_.size()) {
      if (!env_.known_one(sizes_[at])) return std::nullopt;
      sizes_.erase(at);
      strides_.erase(at);
    }
    return strides_;
  }

 private:
  /// Makes dimension `at` of this length.
  bool make(std::size_t at, SymInt length) {
    std::size_t end = at;
    SymInt accumulated = sizes_[at];
    while (!env_.known_multiple(accumulated, length)) {
      if (++end >= sizes_.size()) return false;
      accumulated = env_.mul(accumulated, sizes_[end]);
    }
    if (end != at && !merge(at, end)) return false;
    if (!env_.known_equal(accumulated, length)) split(at, length);
    return true;
  }

  void split(std::size_t dim, SymInt outer) {
    const SymInt inner = env_.floor_div(sizes_[dim], outer);
    sizes_[dim] = outer;
    sizes_.insert(dim + 1, inner);
    strides_.insert(dim, env_.mul(strides_[dim], inner));
  }

  /// torch/_prims _collapse_view_helper.
  bool merge(std::size_t start, std::size_t end) {
    SymInt stride = strides_[end];
    SymInt length = sizes_[end];
    std::size_t inner = end;  // dimensions of size 1 between two lie nowhere
    for (std::size_t dim = end; dim-- > start;) {
      if (env_.known_one(sizes_[dim])) continue;
      const bool fits = env_.known_one(sizes_[inner]) ||
                        env_.known_equal(strides_[dim], env_.mul(strides_[inner], sizes_[inner]));
      if (!fits) return false;
      stride = env_.min(stride, strides_[dim]);
      length = env_.mul(length, sizes_[dim]);
      inner = dim;
    }
    for (std::size_t count = end - start; count > 0; --count) {
      sizes_.erase(start + 1);
      strides_.erase(start + 1);
    }
    sizes_[start] = length;
    strides_[start] = stride;
    return true;
  }

  const ShapeEnv& env_;
  DimVector sizes_;
  DimVector strides_;
};

bool any_unbacked(const ShapeEnv& env, const TensorMeta& tensor, Sizes sizes) {
  const auto any = [&](Sizes values) {
    return std::ranges::any_of(values, [&](SymInt value) { return env.is_unbacked(value); });
  };
  return any(tensor.sizes) || any(tensor.strides) || any(sizes);
}

}  // namespace

std::optional<DimVector> view_strides(const ShapeEnv& env, const TensorMeta& tensor, Sizes sizes) {
  const bool is_empty =
      std::ranges::any_of(tensor.sizes, [&](SymInt size) { return env.known_zero(size); });
  if (is_empty) return contiguous_strides(env, sizes);
  if (tensor.dim() == 0) return DimVector(sizes.size(), 1);
  if (sizes.empty()) return DimVector();
  const bool contiguous = is_contiguous(env, tensor);
  if (any_unbacked(env, tensor, sizes)) {
    if (std::ranges::equal(sizes, tensor.sizes)) return DimVector(tensor.strides);
    return contiguous ? contiguous_strides(env, sizes) : strides_by_chunks(env, tensor, sizes);
  }
  if (contiguous &&
      ((sizes.size() == 1 && tensor.dim() > 1) || (sizes.size() == 2 && tensor.dim() == 1))) {
    return sizes.size() == 1 ? DimVector{1} : DimVector{sizes[1], 1};
  }
  if (auto strides = Reshaper(env, tensor).run(sizes)) return strides;
  // It merges more than it must: a view may still exist.
  if (contiguous) return contiguous_strides(env, sizes);
  return strides_by_chunks(env, tensor, sizes);
}

}  // namespace winze
