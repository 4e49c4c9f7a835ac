// SPDX-License-Identifier: Apache-2.0
#include "winze/symbolic/number.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace winze {
namespace {

constexpr auto int64_min = std::numeric_limits<std::int64_t>::min();
constexpr auto int64_max = std::numeric_limits<std::int64_t>::max();

TEST(NumberTest, FloorDivisionRoundsDownAsPythonDoes) {
  EXPECT_EQ(floor_divide(7, 2), 3);
  EXPECT_EQ(floor_divide(-7, 2), -4);
  EXPECT_EQ(floor_divide(7, -2), -4);
  EXPECT_EQ(floor_divide(-7, -2), 3);
  EXPECT_EQ(floor_divide(7, 0), std::nullopt);
  EXPECT_EQ(floor_divide(int64_min, -1), std::nullopt);
}

TEST(NumberTest, RemainderHasTheSignOfTheDivisor) {
  EXPECT_EQ(floor_modulo(-7, 3), 2);
  EXPECT_EQ(floor_modulo(7, -3), -2);
  EXPECT_EQ(floor_modulo(int64_min, -1), 0);
  EXPECT_EQ(floor_modulo(7, 0), std::nullopt);
}

TEST(NumberTest, PowersAreExactOrNothing) {
  EXPECT_EQ(checked_pow(-2, 63), int64_min);
  EXPECT_EQ(checked_pow(2, 63), std::nullopt);
  EXPECT_EQ(checked_pow(-1, int64_max), -1);
  EXPECT_EQ(checked_pow(0, 0), 1);
}

TEST(NumberTest, TrueDivisionRoundsOnce) {
  EXPECT_EQ(true_divide(1, 3), 1.0 / 3.0);
  EXPECT_EQ(true_divide(-7, 2), -3.5);
  // 2**53 + 1 has no double: dividing doubles would lose the 1.
  EXPECT_EQ(true_divide((std::int64_t{1} << 53) + 1, 3), 3002399751580331.0);
  EXPECT_EQ(true_divide(int64_min, int64_max), -1.0);
  EXPECT_EQ(true_divide(1, 0), std::nullopt);
}

TEST(NumberTest, IntegersAndDoublesCompareExactly) {
  const std::int64_t odd = (std::int64_t{1} << 53) + 1;
  EXPECT_EQ(compare(odd, 9007199254740992.0), std::partial_ordering::greater);
  EXPECT_EQ(compare(int64_max, 9223372036854775808.0), std::partial_ordering::less);
  EXPECT_EQ(compare(2, 2.5), std::partial_ordering::less);
  EXPECT_EQ(compare(-2, -2.5), std::partial_ordering::greater);
  EXPECT_EQ(compare(1, std::nan("")), std::partial_ordering::unordered);
}

TEST(NumberTest, DecimalRoundingIsThatOfPython) {
  EXPECT_EQ(round_to_decimal(2.675, 2), 2.67);  // the double is below the half
  EXPECT_EQ(round_to_decimal(0.5, 0), 0.0);
  EXPECT_EQ(round_to_decimal(25, -1), 20.0);
  EXPECT_EQ(round_to_decimal(35, -1), 40.0);
  EXPECT_EQ(round_to_decimal(5, -1), 0.0);
  EXPECT_EQ(round_to_decimal(6, -1), 10.0);
  EXPECT_EQ(round_to_decimal(-149, -2), -100.0);
  EXPECT_EQ(round_to_decimal(1, -5), 0.0);
  EXPECT_EQ(round_to_decimal(1.5, 400), 1.5);
}

TEST(NumberTest, RationalsStayInLowestTerms) {
  const auto half = Number::ratio(3, -6);
  ASSERT_TRUE(half);
  EXPECT_EQ(half->numerator, -1);
  EXPECT_EQ(half->denominator, 2);
  const auto whole = number_mul(*half, Number::of(std::int64_t{4}));
  EXPECT_TRUE(whole->is_integer(-2));
  EXPECT_FALSE(Number::ratio(1, 0));
}

TEST(NumberTest, OverflowOfExactNumbersGivesNothing) {
  EXPECT_FALSE(number_add(Number::of(int64_max), Number::of(std::int64_t{1})));
  EXPECT_FALSE(number_mul(Number::of(int64_max), Number::of(std::int64_t{2})));
  EXPECT_FALSE(number_pow(Number::of(std::int64_t{10}), 19));
}

TEST(NumberTest, InfinitiesFoldAsInSympy) {
  const Number up{Number::Form::int_infinity, 1, 1, 0};
  const Number down{Number::Form::int_infinity, -1, 1, 0};
  EXPECT_EQ(number_add(up, Number::of(std::int64_t{5}))->form, Number::Form::int_infinity);
  EXPECT_EQ(number_add(up, down)->form, Number::Form::nan);
  EXPECT_EQ(number_mul(up, Number::of(std::int64_t{-2}))->sign(), -1);
  EXPECT_EQ(number_mul(up, Number::of(std::int64_t{0}))->form, Number::Form::nan);
  EXPECT_EQ(compare(down, Number::of(int64_min)), std::partial_ordering::less);
}

}  // namespace
}  // namespace winze
