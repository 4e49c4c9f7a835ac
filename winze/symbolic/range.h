// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace winze {

/// A closed interval of integers. The two ends of int64 stand for the infinities, and arithmetic
/// that leaves int64 saturates to them, which only ever widens the interval.
struct Range {
  static constexpr std::int64_t minus_infinity = std::numeric_limits<std::int64_t>::min();
  static constexpr std::int64_t infinity = std::numeric_limits<std::int64_t>::max();

  std::int64_t lo = minus_infinity;
  std::int64_t hi = infinity;

  /// All integers.
  [[nodiscard]] static constexpr Range all() { return {}; }
  /// One integer.
  [[nodiscard]] static constexpr Range exactly(std::int64_t value) { return {value, value}; }
  [[nodiscard]] static constexpr Range at_least(std::int64_t value) { return {value, infinity}; }

  /// No integer at all: the constraints contradict each other.
  [[nodiscard]] constexpr bool empty() const { return lo > hi; }
  [[nodiscard]] constexpr bool is_single() const {
    return lo == hi && lo != minus_infinity && lo != infinity;
  }
  [[nodiscard]] constexpr bool bounded() const { return lo != minus_infinity && hi != infinity; }
  [[nodiscard]] constexpr bool contains(std::int64_t value) const {
    return lo <= value && value <= hi;
  }
  friend constexpr bool operator==(const Range&, const Range&) = default;

  /// `[2, 64]`; an infinite end is written `-int_oo` or `int_oo`.
  [[nodiscard]] std::string str() const;
};

/// What both allow.
[[nodiscard]] Range intersection(Range a, Range b);
/// The smallest interval around both.
[[nodiscard]] Range hull(Range a, Range b);

// Interval arithmetic: each result holds every value that the operation can yield for operands in
// the two ranges. Where the operation is undefined (division by zero) that operand is left out.
[[nodiscard]] Range range_add(Range a, Range b);
[[nodiscard]] Range range_negate(Range a);
[[nodiscard]] Range range_mul(Range a, Range b);
/// Python's `//`, rounding to minus infinity.
[[nodiscard]] Range range_floor_div(Range a, Range b);
/// Python's `%`, with the sign of the divisor.
[[nodiscard]] Range range_mod(Range a, Range b);
/// `a ** exponent` for an exponent of 0 or more.
[[nodiscard]] Range range_pow(Range a, std::int64_t exponent);
[[nodiscard]] Range range_max(Range a, Range b);
[[nodiscard]] Range range_min(Range a, Range b);

}  // namespace winze
