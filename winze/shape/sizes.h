// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "winze/shape/fake_tensor.h"
#include "winze/shape/shape_env.h"

// What rules compute with sizes and strides, after c10/core/TensorImpl.cpp, c10/core/MemoryFormat.h
// and torch/_prims_common. Costs are linear in the number of dimensions unless said otherwise.
namespace winze {

using Sizes = std::span<const SymInt>;

[[nodiscard]] inline bool is_cpu(const TensorMeta& tensor) {
  return tensor.device.type == Device{}.type;
}

/// Number of elements.
[[nodiscard]] SymInt numel(const ShapeEnv& env, Sizes sizes);
/// Row-major strides; a size of 0 counts as 1.
[[nodiscard]] DimVector contiguous_strides(const ShapeEnv& env, Sizes sizes);
/// Strides of `channels_last` (4 sizes) or `channels_last_3d` (5 sizes).
[[nodiscard]] DimVector channels_last_strides(const ShapeEnv& env, Sizes sizes);
/// Strides of a new tensor in this format; formats that do not fit the rank are an Error.
[[nodiscard]] DimVector strides_for(const ShapeEnv& env, Sizes sizes, MemoryFormat format);
/// Strides of a dense tensor whose dimensions lie in memory as those of `strides` do
/// (at::infer_dense_strides). Quadratic in the rank at worst.
[[nodiscard]] DimVector dense_strides_like(const ShapeEnv& env, Sizes sizes, Sizes strides);

// Known to be so: where it depends on a symbol that may be either, the answer is no.
[[nodiscard]] bool is_contiguous(const ShapeEnv& env, Sizes sizes, Sizes strides);
[[nodiscard]] bool is_channels_last(const ShapeEnv& env, Sizes sizes, Sizes strides);
[[nodiscard]] bool is_non_overlapping_and_dense(const ShapeEnv& env, Sizes sizes, Sizes strides);
[[nodiscard]] inline bool is_contiguous(const ShapeEnv& env, const TensorMeta& tensor) {
  return is_contiguous(env, tensor.sizes, tensor.strides);
}
[[nodiscard]] inline bool is_channels_last(const ShapeEnv& env, const TensorMeta& tensor) {
  return is_channels_last(env, tensor.sizes, tensor.strides);
}
[[nodiscard]] inline bool is_non_overlapping_and_dense(const ShapeEnv& env,
                                                       const TensorMeta& tensor) {
  return is_non_overlapping_and_dense(env, tensor.sizes, tensor.strides);
}
/// Tensor::suggest_memory_format: channels last where the strides look like it.
[[nodiscard]] MemoryFormat suggest_memory_format(const ShapeEnv& env, const TensorMeta& tensor);

/// `dim` counted from the front. `rank` 0 counts as 1 unless `wrap_scalar` is false. Throws Error
/// with PyTorch's words where it is out of range.
[[nodiscard]] std::size_t wrap_dim(SymInt dim, std::size_t rank, bool wrap_scalar = true);

/// Sizes that both broadcast to. Sizes that differ and may be equal are required to be.
[[nodiscard]] DimVector broadcast_sizes(ShapeEnv& env, Sizes a, Sizes b);

/// `sizes` with the one -1 replaced by what makes `numel` elements (torch/_prims_common
/// infer_size).
[[nodiscard]] DimVector infer_view_sizes(ShapeEnv& env, Sizes sizes, SymInt numel);

/// Strides of a view of other sizes, or nothing where there is no such view
/// (torch/_refs _reshape_view_helper, torch/_subclasses/fake_impls.py _view_unbacked_meta).
/// `sizes` has no -1 and as many elements as the tensor.
[[nodiscard]] std::optional<DimVector> view_strides(const ShapeEnv& env, const TensorMeta& tensor,
                                                    Sizes sizes);

/// A tensor as a factory makes it.
[[nodiscard]] FakeTensor empty_tensor(const ShapeEnv& env, Sizes sizes, ScalarType dtype,
                                      Device device,
                                      MemoryFormat format = MemoryFormat::contiguous_format);
/// As `torch.empty_like(tensor)` with `preserve_format`.
[[nodiscard]] FakeTensor empty_like(const ShapeEnv& env, const TensorMeta& tensor);
[[nodiscard]] FakeTensor empty_like(const ShapeEnv& env, const TensorMeta& tensor,
                                    MemoryFormat format);

}  // namespace winze
