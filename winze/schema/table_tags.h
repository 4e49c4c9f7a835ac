// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "winze/schema/tags.h"
#include "winze/support/diagnostic.h"

namespace winze {

/// The tags that a line of a table names (`core, pointwise`); those not known are left out.
[[nodiscard]] Tags parse_tags(std::string_view text);

/// What is wrong with the first tag of the list that is not known, and at which column of the list;
/// nothing where all are.
[[nodiscard]] std::optional<Diagnostic> unknown_tag(std::string_view text);

/// A hint for a schema with a tag behind it that lacks its brackets, and thus does not parse or
/// passes for the name of the result; else empty. Tags of one word (`out`) do name results.
[[nodiscard]] std::string hint_for_tags(std::string_view schema);

}  // namespace winze
