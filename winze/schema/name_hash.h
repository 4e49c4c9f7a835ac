// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace winze {

/// Hash of an operator name (FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/). The table
/// generator and the registry must agree on it.
[[nodiscard]] constexpr std::uint64_t hash_op_name(std::string_view name) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (char c : name) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001B3U;
  }
  return hash ^ (hash >> 32U);
}

}  // namespace winze
