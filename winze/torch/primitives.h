// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include <ATen/core/dispatch/Dispatcher.h>

#include "winze/torch/code.h"

namespace winze {

/// The ATen operator that computes what a primitive (`prims::sin`) does on tensors, with arguments
/// of the same names; nothing for others. PyTorch implements its primitives in Python alone.
[[nodiscard]] std::optional<c10::OperatorHandle> find_aten_operator(std::string_view primitive);

/// Primitives whose arguments are no ATen operator's, by qualified name (`prims.iota.default`);
/// null for others. Their operands are all arguments in schema position.
[[nodiscard]] NativeFunction find_primitive_function(std::string_view name);

}  // namespace winze
