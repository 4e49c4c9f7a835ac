// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "winze/shape/fake_tensor.h"
#include "winze/shape/shape_call.h"

namespace winze {

/// Throws Error with PyTorch's words where `tensor` has fewer than two dimensions.
void check_matrix(const ShapeCall& call, const TensorMeta& tensor);

}  // namespace winze
