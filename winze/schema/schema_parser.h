// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "winze/schema/schema.h"
#include "winze/schema/type.h"

namespace winze {

/// Parses `ns::name.overload(arguments) -> results`. The text is copied.
/// \throws Error with the column and a caret.
[[nodiscard]] Schema parse_schema(std::string_view text);

/// As parse_schema, but the text is not copied: it must outlive the schema and all that is copied
/// from it.
[[nodiscard]] Schema parse_schema_in_place(std::string_view text);

/// Parses a type without alias annotations, such as `Tensor?[]`. \throws Error with the column.
[[nodiscard]] Type parse_type(std::string_view text);

}  // namespace winze
