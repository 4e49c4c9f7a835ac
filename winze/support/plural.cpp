// SPDX-License-Identifier: Apache-2.0
#include "winze/support/plural.h"

#include <cstddef>

#include <fmt/ranges.h>

namespace winze {

std::string first_few(std::span<const std::string> texts) {
  constexpr std::size_t most = 12;
  if (texts.size() <= most) return fmt::format("{}", fmt::join(texts, ", "));
  return fmt::format("{} and {} more", fmt::join(texts.first(most), ", "), texts.size() - most);
}

}  // namespace winze
