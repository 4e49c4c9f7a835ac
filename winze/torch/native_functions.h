// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <span>
#include <string_view>

#include "winze/torch/code.h"

namespace winze {

/// A native function by its qualified name.
struct NamedFunction {
  std::string_view name;
  NativeFunction function;
};

/// The function of this name, null where the table has none. Linear in the table.
[[nodiscard]] constexpr NativeFunction find_function(std::span<const NamedFunction> table,
                                                     std::string_view name) {
  const auto found = std::ranges::find(table, name, &NamedFunction::name);
  return found == table.end() ? nullptr : found->function;
}

/// Scalar functions of Python (`_operator.floordiv`, `math.ceil`, `torch.sym_max`, ...) by
/// qualified name; null for others. Semantics are Python's.
[[nodiscard]] NativeFunction find_scalar_function(std::string_view name);

/// Operators that PyTorch implements in Python alone, and Python functions that export leaves in a
/// graph, by qualified name; null for others. Their operands are all arguments in schema position.
[[nodiscard]] NativeFunction find_python_function(std::string_view name);

/// Higher-order operators, by qualified name; null for others.
[[nodiscard]] NativeFunction find_higher_order_function(std::string_view name);

/// Enters and leaves a region of autocast: (device type, dtype, enabled, cache enabled), as
/// torch.amp.autocast takes them; the last three may be left out or None.
void push_autocast(Machine& machine, std::span<const c10::IValue> settings);
void pop_autocast(Machine& machine);

}  // namespace winze
