// SPDX-License-Identifier: Apache-2.0
#include "winze/symbolic/range.h"

#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "winze/symbolic/number.h"

namespace winze {
namespace {

constexpr auto infinity = Range::infinity;
constexpr auto minus_infinity = Range::minus_infinity;

/// Every small range, to be compared with what its members give one by one.
std::vector<Range> small_ranges() {
  std::vector<Range> ranges;
  for (std::int64_t lo = -4; lo <= 4; ++lo) {
    for (std::int64_t hi = lo; hi <= 4; ++hi) ranges.push_back({lo, hi});
  }
  return ranges;
}

using Operation = std::optional<std::int64_t> (*)(std::int64_t, std::int64_t);

void expect_sound(Range (*rule)(Range, Range), Operation operation) {
  for (const Range a : small_ranges()) {
    for (const Range b : small_ranges()) {
      const Range result = rule(a, b);
      for (std::int64_t x = a.lo; x <= a.hi; ++x) {
        for (std::int64_t y = b.lo; y <= b.hi; ++y) {
          const auto value = operation(x, y);
          if (!value) continue;
          EXPECT_TRUE(result.contains(*value))
              << a.str() << " " << b.str() << " " << result.str() << " " << x << " " << y;
        }
      }
    }
  }
}

TEST(RangeTest, ArithmeticHoldsEveryValue) {
  expect_sound(range_add, checked_add);
  expect_sound(range_mul, checked_mul);
  expect_sound(range_floor_div, floor_divide);
  expect_sound(range_mod, floor_modulo);
}

TEST(RangeTest, PowersHoldEveryValue) {
  for (const Range a : small_ranges()) {
    for (std::int64_t n = 0; n < 5; ++n) {
      for (std::int64_t x = a.lo; x <= a.hi; ++x) {
        EXPECT_TRUE(range_pow(a, n).contains(*checked_pow(x, n)));
      }
    }
  }
}

TEST(RangeTest, ArithmeticIsAsNarrowAsItCanBe) {
  EXPECT_EQ(range_mul({-2, 3}, {-5, 4}), (Range{-15, 12}));
  EXPECT_EQ(range_floor_div({-7, 7}, {2, 3}), (Range{-4, 3}));
  EXPECT_EQ(range_mod({0, 2}, {5, 9}), (Range{0, 2}));
  EXPECT_EQ(range_pow({-3, 2}, 2), (Range{0, 9}));
}

TEST(RangeTest, OverflowWidensToInfinity) {
  EXPECT_EQ(range_add({0, infinity - 1}, {1, 5}), (Range{1, infinity}));
  EXPECT_EQ(range_mul({2, std::int64_t{1} << 62}, {2, 2}), (Range{4, infinity}));
  EXPECT_EQ(range_pow({2, 10}, 40).hi, infinity);
}

TEST(RangeTest, AnEndThatOverflowsStaysFinite) {
  // Everything here is above int64: an infinite lower end would be taken for exact afterwards.
  const Range huge = range_mul({infinity - 1, infinity - 1}, {4, 4});
  EXPECT_EQ(huge, (Range{infinity - 1, infinity}));
  EXPECT_EQ(range_add(huge, {-5, -5}).lo, infinity - 6);
}

TEST(RangeTest, InfinitiesAreAbsorbing) {
  EXPECT_EQ(range_add({minus_infinity, 3}, {1, infinity}), Range::all());
  EXPECT_EQ(range_floor_div({5, infinity}, {2, infinity}), (Range{0, infinity}));
  EXPECT_EQ(range_floor_div({-5, -5}, {2, infinity}), (Range{-3, -1}));
  EXPECT_EQ(range_mul({0, 0}, Range::all()), Range::exactly(0));
}

TEST(RangeTest, DivisionLeavesZeroOut) {
  EXPECT_EQ(range_floor_div({6, 6}, {0, 3}), (Range{2, 6}));
  EXPECT_TRUE(range_floor_div({6, 6}, {0, 0}).empty());
  EXPECT_TRUE(range_mod({6, 6}, {0, 0}).empty());
}

TEST(RangeTest, TextNamesTheInfinities) {
  EXPECT_EQ(Range::all().str(), "[-int_oo, int_oo]");
  EXPECT_EQ((Range{2, 64}).str(), "[2, 64]");
}

TEST(RangeTest, HullAndIntersectionKnowTheEmptyRange) {
  const Range empty{1, 0};
  EXPECT_EQ(hull(empty, {2, 3}), (Range{2, 3}));
  EXPECT_TRUE(intersection({1, 2}, {4, 5}).empty());
}

}  // namespace
}  // namespace winze
