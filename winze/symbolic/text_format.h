// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "winze/symbolic/symbolic_context.h"

namespace winze {

enum class SymTextStyle : std::uint8_t { srepr, plain };

/// The text of an expression; cut after about `most` bytes, since a shared sub-expression is
/// written at each of its uses and the text may be far larger than the expression.
[[nodiscard]] std::string print_expression(const SymbolicContext& context, SymExpr expr,
                                           SymTextStyle style, std::size_t most);

/// The shortest text that reads back to the same double, with a point or an exponent.
[[nodiscard]] std::string float_text(double value);

/// Whether the plain form can spell the symbol by its bare name.
[[nodiscard]] bool is_plain_name(std::string_view name);

}  // namespace winze
