// SPDX-License-Identifier: Apache-2.0
#include "winze/passes/clone_meta.h"

#include <algorithm>
#include <numeric>

namespace winze {
namespace {

using Sizes = std::vector<SymInt>;

/// Row-major strides. \throws Error where a product leaves the range of integers.
Sizes contiguous_strides(Context& context, std::span<const SymInt> sizes) {
  Sizes strides(sizes.size(), SymInt(1));
  for (std::size_t i = sizes.size(); i-- > 1;) {
    const SymInt size = sizes[i] == SymInt(0) ? SymInt(1) : sizes[i];
    strides[i - 1] = context.symbols().mul(strides[i], size);
  }
  return strides;
}

bool same_but_for_ones(std::span<const SymInt> sizes, std::span<const SymInt> a,
                       std::span<const SymInt> b) {
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] != SymInt(1) && a[i] != b[i]) return false;
  }
  return true;
}

/// Whether the elements fill a range of memory without gap or overlap
/// (c10::TensorImpl::compute_non_overlapping_and_dense). Static metas only.
bool is_non_overlapping_and_dense(const TensorMeta& tensor) {
  if (std::find(tensor.sizes.begin(), tensor.sizes.end(), SymInt(0)) != tensor.sizes.end())
    return true;
  std::vector<std::size_t> dims(tensor.dim());
  std::iota(dims.begin(), dims.end(), std::size_t{0});
  std::erase_if(dims, [&](std::size_t dim) { return tensor.sizes[dim] == SymInt(1); });
  std::sort(dims.begin(), dims.end(), [&](std::size_t a, std::size_t b) {
    return tensor.strides[a].constant() < tensor.strides[b].constant();
  });
  std::int64_t expected = 1;
  for (std::size_t dim : dims) {
    if (tensor.strides[dim].constant() != expected) return false;
    expected *= tensor.sizes[dim].constant();
  }
  return true;
}

/// Dense strides in the order of the given ones (at::infer_dense_strides). Static metas only.
Sizes dense_strides(const TensorMeta& tensor) {
  std::vector<std::size_t> order(tensor.dim());
  std::iota(order.rbegin(), order.rend(), std::size_t{0});
  const auto compare = [&](std::size_t a, std::size_t b) {
    const std::int64_t stride_a = tensor.strides[a].constant();
    const std::int64_t stride_b = tensor.strides[b].constant();
    if (stride_a == 0 || stride_b == 0) return 0;
    if (stride_a != stride_b) return stride_a < stride_b ? -1 : 1;
    return tensor.sizes[a].constant() > tensor.sizes[b].constant() ? 1 : 0;
  };
  // An expanded dimension (stride 0) stays where it is, so this is no strict order for std::sort.
  for (std::size_t i = 1; i < order.size(); ++i) {
    std::size_t moving = i;
    for (std::size_t k = i; k-- > 0;) {
      const int outcome = compare(order[k], order[moving]);
      if (outcome < 0) break;
      if (outcome == 0) continue;
      std::swap(order[k], order[moving]);
      moving = k;
    }
  }
  Sizes strides(tensor.dim(), SymInt(1));
  std::int64_t next = 1;
  for (std::size_t dim : order) {
    strides[dim] = SymInt(next);
    next *= std::max<std::int64_t>(tensor.sizes[dim].constant(), 1);
  }
  return strides;
}

}  // namespace

std::optional<MetaId> meta_of_clone(Context& context, MetaId meta) {
  TensorMeta tensor = context.meta(meta).tensor;
  if (tensor.layout != Layout::strided) return meta;
  const bool has_offset = tensor.storage_offset != SymInt(0);
  Sizes strides(tensor.strides.begin(), tensor.strides.end());
  const auto constant = [](SymInt size) { return size.is_constant(); };
  if (std::all_of(tensor.sizes.begin(), tensor.sizes.end(), constant) &&
      std::all_of(tensor.strides.begin(), tensor.strides.end(), constant)) {
    if (!is_non_overlapping_and_dense(tensor)) {
      strides = dense_strides(tensor);
    } else if (!has_offset) {
      return meta;
    }
  } else {
    const Sizes contiguous = contiguous_strides(context, tensor.sizes);
    if (!same_but_for_ones(tensor.sizes, tensor.strides, contiguous)) return std::nullopt;
  }
  tensor.storage_offset = SymInt(0);
  tensor.strides = strides;
  const Sizes sizes(tensor.sizes.begin(), tensor.sizes.end());
  tensor.sizes = sizes;  // interning may move what the old meta points to
  return context.tensor_meta(tensor);
}

MetaId meta_of_contiguous_clone(Context& context, MetaId meta) {
  TensorMeta tensor = context.meta(meta).tensor;
  const Sizes sizes(tensor.sizes.begin(), tensor.sizes.end());
  const Sizes strides = contiguous_strides(context, sizes);
  tensor.sizes = sizes;
  tensor.strides = strides;
  tensor.storage_offset = SymInt(0);
  return context.tensor_meta(tensor);
}

}  // namespace winze
