// SPDX-License-Identifier: Apache-2.0
#include "winze/symbolic/range.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "winze/symbolic/number.h"

namespace winze {
namespace {

constexpr std::int64_t minus_infinity = Range::minus_infinity;
constexpr std::int64_t infinity = Range::infinity;

bool is_infinite(std::int64_t end) {
  return end == minus_infinity || end == infinity;
}

std::int64_t saturated(std::optional<std::int64_t> value, bool negative) {
  return value.value_or(negative ? minus_infinity : infinity);
}

/// A sum of two lower or two upper ends, which are never infinite in opposite directions.
std::int64_t add_ends(std::int64_t a, std::int64_t b) {
  if (is_infinite(a)) return a;
  if (is_infinite(b)) return b;
  return saturated(checked_add(a, b), a < 0);
}

std::int64_t mul_ends(std::int64_t a, std::int64_t b) {
  if (a == 0 || b == 0) return 0;
  const bool negative = (a < 0) != (b < 0);
  if (is_infinite(a) || is_infinite(b)) return negative ? minus_infinity : infinity;
  return saturated(checked_mul(a, b), negative);
}

/// The quotient of ends, for a divisor that is not 0.
std::int64_t div_ends(std::int64_t a, std::int64_t b) {
  const bool negative = (a < 0) != (b < 0);
  if (is_infinite(a)) return negative ? minus_infinity : infinity;
  if (is_infinite(b)) return a == 0 || !negative ? 0 : -1;
  return saturated(floor_divide(a, b), negative);
}

std::int64_t negate_end(std::int64_t end) {
  if (end == minus_infinity) return infinity;
  if (end == infinity) return minus_infinity;
  return -end;
}

/// Keeps a lower end that overflowed, and an upper end that underflowed, finite: an infinite one
/// would be taken for exact by what is computed from it.
Range normalized(std::int64_t lo, std::int64_t hi) {
  return {std::min(lo, infinity - 1), std::max(hi, minus_infinity + 1)};
}

Range around(const std::array<std::int64_t, 4>& values) {
  const auto [lo, hi] = std::minmax_element(values.begin(), values.end());
  return normalized(*lo, *hi);
}

/// `a // b` for a divisor of one sign.
Range div_one_sign(Range a, Range b) {
  return around(
      {div_ends(a.lo, b.lo), div_ends(a.lo, b.hi), div_ends(a.hi, b.lo), div_ends(a.hi, b.hi)});
}

constexpr Range nothing{1, 0};

}  // namespace

std::string Range::str() const {
  const auto end = [](std::int64_t value) {
    if (value == minus_infinity) return std::string("-int_oo");
    if (value == infinity) return std::string("int_oo");
    return fmt::format("{}", value);
  };
  return fmt::format("[{}, {}]", end(lo), end(hi));
}

Range intersection(Range a, Range b) {
  return {std::max(a.lo, b.lo), std::min(a.hi, b.hi)};
}

Range hull(Range a, Range b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
}

Range range_add(Range a, Range b) {
  if (a.empty() || b.empty()) return nothing;
  return normalized(add_ends(a.lo, b.lo), add_ends(a.hi, b.hi));
}

Range range_negate(Range a) {
  if (a.empty()) return nothing;
  return {negate_end(a.hi), negate_end(a.lo)};
}

Range range_mul(Range a, Range b) {
  if (a.empty() || b.empty()) return nothing;
  return around(
      {mul_ends(a.lo, b.lo), mul_ends(a.lo, b.hi), mul_ends(a.hi, b.lo), mul_ends(a.hi, b.hi)});
}

Range range_floor_div(Range a, Range b) {
  if (a.empty() || b.empty()) return nothing;
  const Range below = intersection(b, {minus_infinity, -1});
  const Range above = intersection(b, {1, infinity});
  Range result = nothing;
  if (!below.empty()) result = hull(result, div_one_sign(a, below));
  if (!above.empty()) result = hull(result, div_one_sign(a, above));
  return result;
}

Range range_mod(Range a, Range b) {
  if (a.empty() || b.empty() || b == Range::exactly(0)) return nothing;
  // A remainder has the sign of the divisor and a smaller magnitude.
  Range result{b.lo < 0 ? add_ends(b.lo, 1) : 0, b.hi > 0 ? add_ends(b.hi, -1) : 0};
  // What is smaller than every divisor is its own remainder, and a remainder of a dividend of its
  // own sign is no larger than the dividend.
  if (b.lo > 0 && a.lo >= 0) {
    if (a.hi < b.lo) return a;
    result.hi = std::min(result.hi, a.hi);
  }
  if (b.hi < 0 && a.hi <= 0) {
    if (a.lo > b.hi) return a;
    result.lo = std::max(result.lo, a.lo);
  }
  return result;
}

Range range_pow(Range a, std::int64_t exponent) {
  if (a.empty()) return nothing;
  if (exponent == 0) return Range::exactly(1);
  const auto power = [exponent](std::int64_t end) {
    const bool negative = end < 0 && exponent % 2 != 0;
    if (is_infinite(end)) return negative ? minus_infinity : infinity;
    return saturated(checked_pow(end, exponent), negative);
  };
  const std::int64_t low = power(a.lo);
  const std::int64_t high = power(a.hi);
  if (exponent % 2 != 0) return normalized(low, high);
  if (a.contains(0)) return {0, std::max(low, high)};
  return normalized(std::min(low, high), std::max(low, high));
}

Range range_max(Range a, Range b) {
  if (a.empty() || b.empty()) return nothing;
  return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
}

Range range_min(Range a, Range b) {
  if (a.empty() || b.empty()) return nothing;
  return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
}

}  // namespace winze
