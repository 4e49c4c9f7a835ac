// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace winze {

/// Random numbers by seed, stream and count, the same on every machine: SplitMix64 (Steele, Lea and
/// Flood, Fast splittable pseudorandom number generators, 2014). Real numbers come from integers by
/// exact operations alone.
class CountedRandom {
 public:
  CountedRandom(std::uint64_t seed, std::uint64_t stream)
      : state_(mix(mix(seed + increment) ^ (stream * 0xD1342543DE82EF95U))) {}

  std::uint64_t bits() {
    state_ += increment;
    return mix(state_);
  }
  /// At least `low`, below `high`, which is above `low`.
  std::int64_t integer(std::int64_t low, std::int64_t high) {
    const std::uint64_t width = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + bits() % width);
  }
  /// In [0, 1).
  double uniform() { return static_cast<double>(bits() >> 11U) * 0x1p-53; }
  /// Mean 0, standard deviation near 1, within 3.5: the sum of four uniform numbers.
  double normal() {
    const std::uint64_t random = bits();
    std::int64_t sum = 0;
    for (unsigned part = 0; part < 4; ++part)
      sum += static_cast<std::int64_t>(random >> (16 * part) & 0xFFFFU);
    // Four uniform numbers of [0, 1) have variance 1/3.
    return static_cast<double>(2 * sum - std::int64_t{4} * 0xFFFF) * 0x1p-17 * 1.7320508075688772;
  }
  bool chance(double probability) { return uniform() < probability; }

 private:
  static constexpr std::uint64_t increment = 0x9E3779B97F4A7C15U;
  static constexpr std::uint64_t mix(std::uint64_t value) {
    value = (value ^ value >> 30U) * 0xBF58476D1CE4E5B9U;
    value = (value ^ value >> 27U) * 0x94D049BB133111EBU;
    return value ^ value >> 31U;
  }
  std::uint64_t state_;
};

}  // namespace winze
