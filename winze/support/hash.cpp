// SPDX-License-Identifier: Apache-2.0
#include "winze/support/hash.h"

#include <unistd.h>

#include <random>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace winze {

std::uint64_t random_seed() {
  std::uint64_t seed = 0;
  // In a virtual machine it takes std::random_device 20 microseconds to choose where to ask.
  if (::getentropy(&seed, sizeof seed) == 0) return seed;
  std::random_device random;
  return std::uint64_t{random()} << 32U | random();
}

std::uint64_t process_secret() {
  static const std::uint64_t secret = random_seed();
  return secret;
}

std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace winze
