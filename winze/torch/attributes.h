// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <ATen/core/ivalue.h>

#include "winze/ir/context.h"
#include "winze/torch/code.h"

namespace winze {

/// A constant argument as PyTorch's boxed calls have it; nothing for values, graphs, operators,
/// lists in slots and roles.
[[nodiscard]] std::optional<c10::IValue> attribute_value(const Context& context,
                                                         const Argument& argument);

/// A constant list with elements of this kind, from a constant list or, where the parameter allows
/// a single one for `list_size` of them (`int[2]`), from a number. Nothing where it is neither.
[[nodiscard]] std::optional<c10::IValue> attribute_list(const Context& context,
                                                        const Argument& argument, ListKind kind,
                                                        int list_size);

[[nodiscard]] at::ScalarType to_torch(ScalarType dtype);
[[nodiscard]] ScalarType from_torch(at::ScalarType dtype);
/// \throws Error for a type of device that libtorch does not know.
[[nodiscard]] c10::Device to_torch(const Context& context, Device device);

}  // namespace winze
