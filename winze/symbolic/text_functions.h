// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "winze/symbolic/symbolic_context.h"

namespace winze {

/// A function of the text form.
struct TextFunction {
  std::string_view name;
  std::int8_t min_operands = 0;
  std::int8_t max_operands = 0;  ///< -1 for any number
  SymExpr (*build)(SymbolicContext& context, std::span<const SymExpr> operands) = nullptr;
};

/// The function written with this name that is not a SymOp: other spellings and what PyTorch
/// rewrites when it is built.
[[nodiscard]] const TextFunction* find_text_function(std::string_view name);

/// The constant written with this name, such as `true` or `int_oo`.
[[nodiscard]] std::optional<SymExpr> find_text_constant(std::string_view name);

}  // namespace winze
