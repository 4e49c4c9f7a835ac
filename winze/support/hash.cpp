// SPDX-License-Identifier: Apache-2.0
#include "winze/support/hash.h"

#include <random>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace winze {

std::uint64_t random_seed() {
  std::random_device random;
  return std::uint64_t{random()} << 32U | random();
}

std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace winze
