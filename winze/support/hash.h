// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

namespace winze {

/// Multiplies to 128 bits and folds the halves: the mixing step of wyhash (public domain, by Wang
/// Yi).
constexpr std::uint64_t hash_mix(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

/// A well mixed hash of one integer.
constexpr std::uint64_t hash_integer(std::uint64_t value) {
  return hash_mix(value ^ 0xa0761d6478bd642fULL, 0xe7037ed1a0b428dbULL);
}

/// The hash of a sequence so far and its next element; the order of the elements matters. Whatever
/// the element is, different hashes stay different: none of what went before is lost.
constexpr std::uint64_t hash_combine(std::uint64_t hash, std::uint64_t value) {
  return std::rotl(hash, 32) * 0x8ebc6af09c88c6e3ULL ^
         hash_mix(value ^ 0x589965cc75374cc3ULL, 0xe7037ed1a0b428dbULL);
}

/// XXH3 with 64 bits. The same on every machine and in every run for equal seeds.
[[nodiscard]] std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed = 0);

/// Random bits of the operating system.
[[nodiscard]] std::uint64_t random_seed();

/// A secret of this process, for hashes that have no object of their own to keep one in.
[[nodiscard]] std::uint64_t process_secret();

/// `hash_combine` under a secret that is drawn for each object, so that no file can be made whose
/// records collide. For tables in memory: the hashes differ from run to run.
class SecretHash {
 public:
  SecretHash() : secret_(random_seed()) {}
  std::uint64_t operator()(std::uint64_t hash, std::uint64_t value) const {
    return hash_combine(hash, value ^ secret_);
  }
  /// The hash of a text under the same secret.
  [[nodiscard]] std::uint64_t bytes(std::string_view bytes) const {
    return hash_bytes(bytes, secret_);
  }

 private:
  std::uint64_t secret_;
};

}  // namespace winze
