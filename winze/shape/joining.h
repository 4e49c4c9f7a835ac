// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "winze/shape/shape_call.h"

namespace winze {

/// Tensors joined along a dimension, which may count from the end: aten::cat, for the rules of what
/// is made of it. Empty tensors of one dimension are passed over, as of old. Throws Error with
/// PyTorch's words where the tensors do not fit.
[[nodiscard]] FakeTensor join(ShapeCall& call, std::span<const TensorMeta* const> tensors,
                              SymInt dim);

}  // namespace winze
