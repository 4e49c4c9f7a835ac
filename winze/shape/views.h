// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "winze/shape/sizes.h"

// Views as functions, for the rules of views and of what is made of them. Each throws Error with
// PyTorch's words where PyTorch refuses.
namespace winze {

/// A view of these sizes; Error where there is none. `sizes` may have one -1.
[[nodiscard]] FakeTensor view(ShapeEnv& env, const TensorMeta& tensor, Sizes sizes);
/// The same, or a contiguous copy where there is no view.
[[nodiscard]] FakeTensor reshape(ShapeEnv& env, const TensorMeta& tensor, Sizes sizes);
/// Merges the dimensions from `start` to `end`, both included.
[[nodiscard]] FakeTensor flatten(ShapeEnv& env, const TensorMeta& tensor, std::size_t start,
                                 std::size_t end);
[[nodiscard]] FakeTensor expand(ShapeEnv& env, const TensorMeta& tensor, Sizes sizes);
/// `dims` may count from the end.
[[nodiscard]] FakeTensor permute(const TensorMeta& tensor, Sizes dims);
[[nodiscard]] FakeTensor transpose(const TensorMeta& tensor, std::size_t a, std::size_t b);
/// `dim` is that of the result.
[[nodiscard]] FakeTensor unsqueeze(const ShapeEnv& env, const TensorMeta& tensor, std::size_t dim);
/// Leaves out dimension `dim`, whatever its size.
[[nodiscard]] FakeTensor without_dim(const TensorMeta& tensor, std::size_t dim);
/// Elements from `start` on, `length` of them.
[[nodiscard]] FakeTensor narrow(const ShapeEnv& env, const TensorMeta& tensor, std::size_t dim,
                                SymInt start, SymInt length);
[[nodiscard]] FakeTensor select(ShapeEnv& env, const TensorMeta& tensor, std::size_t dim,
                                SymInt index);

}  // namespace winze
