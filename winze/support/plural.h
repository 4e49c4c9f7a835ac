// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace winze {

/// The number with the word for it: `1 node`, `3 nodes`.
[[nodiscard]] inline std::string plural(std::uint64_t count, std::string_view word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

/// The texts with commas between, at most twelve of them: `s0, s1, ... and 3 more`.
[[nodiscard]] std::string first_few(std::span<const std::string> texts);

}  // namespace winze
