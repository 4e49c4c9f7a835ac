// SPDX-License-Identifier: Apache-2.0
#include "winze/symbolic/sym_expr.h"

#include <limits>

#include <gtest/gtest.h>

namespace winze {
namespace {

TEST(SymExprTest, DefaultIsZero) {
  EXPECT_EQ(SymExpr().constant(), 0);
  EXPECT_EQ(SymExpr(), SymExpr(0));
  EXPECT_EQ(SymExpr().bits(), 0U);
}

TEST(SymExprTest, HoldsTheEndsOfInt64) {
  constexpr auto lowest = std::numeric_limits<std::int64_t>::min();
  constexpr auto highest = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(SymExpr::integer(lowest).constant(), lowest);
  EXPECT_EQ(SymExpr::integer(highest).constant(), highest);
  EXPECT_EQ(SymExpr::integer(-1).constant(), -1);
}

TEST(SymExprTest, RefusesReservedValues) {
  constexpr std::int64_t band = std::numeric_limits<std::int64_t>::min() + (std::int64_t{1} << 32);
  EXPECT_EQ(SymExpr(band - 1).constant(), band - 1);
  EXPECT_FALSE(SymExpr::fits(band));
  EXPECT_THROW(SymExpr{band}, Error);
  EXPECT_TRUE(SymExpr::fits(band + (std::int64_t{1} << 32)));
}

TEST(SymExprTest, RefusesUnsignedValuesAboveInt64) {
  EXPECT_THROW(SymExpr{~std::uint64_t{0}}, Error);
  EXPECT_EQ(SymExpr(std::size_t{7}).constant(), 7);
}

TEST(SymExprTest, IndexIsNoConstant) {
  const SymExpr expr = SymExpr::from_index(5);
  EXPECT_FALSE(expr.is_constant());
  EXPECT_EQ(expr.index(), 5U);
  EXPECT_THROW((void)expr.constant(), InternalError);
}

}  // namespace
}  // namespace winze
