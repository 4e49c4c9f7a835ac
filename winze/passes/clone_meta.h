// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "winze/ir/graph.h"

namespace winze {

/// The meta of `aten.clone(x)` without a memory format, or nothing where symbolic strides do not
/// tell it. Strides are kept where the tensor is non-overlapping and dense; else they become dense
/// in the same order of dimensions (at::empty_like, c10 infer_dense_strides).
[[nodiscard]] std::optional<MetaId> meta_of_clone(Context& context, MetaId meta);
/// The meta of `aten.clone(x, memory_format=torch.contiguous_format)`.
[[nodiscard]] MetaId meta_of_contiguous_clone(Context& context, MetaId meta);

}  // namespace winze
