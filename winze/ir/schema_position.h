// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "winze/ir/argument.h"
#include "winze/schema/op.h"

namespace winze {

/// The arguments of a call in the order of its operator's schema: positional ones, then keyword
/// arguments where the schema has them, and the default for what is left out.
///
/// Throws Error where the schema has no argument of a keyword's name, or one is given twice.
[[nodiscard]] std::vector<Argument> in_schema_position(const Op& op,
                                                       std::span<const Argument> positional,
                                                       std::span<const NamedArgument> keywords);

}  // namespace winze
