// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace winze {

/// The lines in which two texts differ, in the form of `diff -u` without file names: `-` before
/// lines that went, `+` before new ones, `context` lines around them, `@@ line N @@` before each
/// group with its first line's number in `after`. Empty where the texts are equal. The shortest
/// difference (Myers 1986), O(lines + differences²); where there are more than `max_differences`,
/// all lines between the first and the last that differ count as replaced.
[[nodiscard]] std::string line_diff(std::string_view before, std::string_view after,
                                    std::size_t context = 2, std::size_t max_differences = 2000);

}  // namespace winze
