// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/symbolic/symbolic_context.h"

namespace winze {
namespace {

class ArithmeticTest : public testing::Test {
 protected:
  SymbolicContext c;
  SymExpr x = c.symbol("x");
  SymExpr y = c.symbol("y");
  SymExpr z = c.symbol("z");
};

TEST_F(ArithmeticTest, SumsCollectLikeTerms) {
  EXPECT_EQ(c.add(x, x), c.mul(2, x));
  EXPECT_EQ(c.sub(c.add(x, y), x), y);
  EXPECT_EQ(c.sub(x, x), SymExpr(0));
  EXPECT_EQ(c.add(c.add(x, 3), c.sub(y, 3)), c.add(x, y));
  EXPECT_EQ(c.str(c.add(c.mul(c.mul(x, y), 2), c.mul(c.mul(y, x), 3))), "5*x*y");
}

TEST_F(ArithmeticTest, ProductsCollectPowers) {
  EXPECT_EQ(c.mul(x, x), c.pow(x, 2));
  EXPECT_EQ(c.mul(c.pow(x, 2), c.pow(x, -2)), SymExpr(1));
  EXPECT_EQ(c.pow(c.mul(c.mul(2, x), y), 3), c.mul(c.mul(8, c.pow(x, 3)), c.pow(y, 3)));
  EXPECT_EQ(c.pow(c.pow(x, 2), 3), c.pow(x, 6));
  EXPECT_EQ(c.mul(0, x), SymExpr(0));
}

TEST_F(ArithmeticTest, OnlyNumbersAreDistributed) {
  EXPECT_EQ(c.str(c.mul(3, c.add(x, 2))), "3*x + 6");
  EXPECT_EQ(c.str(c.mul(y, c.add(x, 2))), "y*(x + 2)");
  EXPECT_EQ(c.str(c.mul(c.mul(y, 3), c.add(x, 2))), "3*y*(x + 2)");
}

TEST_F(ArithmeticTest, ConstantsNeedNoNodes) {
  const std::size_t before = c.store().size();
  EXPECT_EQ(c.add(40, 2).constant(), 42);
  EXPECT_EQ(c.mul(-6, 7).constant(), -42);
  EXPECT_EQ(c.pow(2, 10).constant(), 1024);
  EXPECT_EQ(c.store().size(), before);
}

TEST_F(ArithmeticTest, OverflowIsAnError) {
  constexpr auto highest = std::numeric_limits<std::int64_t>::max();
  EXPECT_THROW(c.add(highest, 1), Error);
  EXPECT_THROW(c.mul(highest, 2), Error);
  EXPECT_THROW(c.pow(10, 19), Error);
  EXPECT_THROW(c.add(c.mul(highest, x), x), Error);
  EXPECT_THROW(c.mul(c.mul(highest, x), 2), Error);
  EXPECT_THROW(c.pow(c.pow(x, highest), 2), Error);
  try {
    c.add(c.add(x, highest), 1);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.diagnostic().message, "a sum of integers is out of the range of int64");
  }
}

TEST_F(ArithmeticTest, RationalsAreExact) {
  const SymExpr half = c.mul(c.rational(1, 2), x);
  EXPECT_EQ(c.kind(half), SymKind::float_kind);
  EXPECT_EQ(c.add(half, half), x);
  EXPECT_EQ(c.pow(2, -1), c.rational(1, 2));
}

TEST_F(ArithmeticTest, PowersOfZero) {
  EXPECT_EQ(c.pow(0, 0), SymExpr(1));
  EXPECT_EQ(c.srepr(c.pow(0, -1)), "zoo");
}

TEST_F(ArithmeticTest, PowByNaturalGivesUpAtInt64AsPyTorchDoes) {
  EXPECT_EQ(c.pow_by_natural(2, 5), SymExpr(32));
  EXPECT_EQ(c.pow_by_natural(2, 63), SymbolicContext::int_oo());
  EXPECT_EQ(c.pow_by_natural(-3, 41), SymbolicContext::negative_int_oo());
  EXPECT_EQ(c.pow_by_natural(x, 2), c.pow(x, 2));
  EXPECT_THROW(c.pow_by_natural(2, -1), Error);
}

TEST_F(ArithmeticTest, BooleansAreNoNumbers) {
  try {
    c.add(c.lt(x, 2), 1);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.diagnostic().message,
              "Add needs numbers, but its operand `x < 2` is a boolean");
  }
  EXPECT_THROW(c.mul(c.bool_constant(true), x), Error);
}

TEST_F(ArithmeticTest, InfinitiesAbsorbNumbers) {
  const SymExpr infinity = SymbolicContext::int_oo();
  EXPECT_EQ(c.add(infinity, 5), infinity);
  EXPECT_EQ(c.mul(infinity, -1), SymbolicContext::negative_int_oo());
  EXPECT_EQ(c.srepr(c.sub(infinity, infinity)), "nan");
  EXPECT_EQ(c.srepr(c.add(y, c.sub(c.mul(infinity, x), c.mul(infinity, x)))), "nan");
}

TEST_F(ArithmeticTest, AMillionTermsAreSortedOnce) {
  std::vector<SymExpr> terms;
  for (int i = 0; i < 1000000; ++i) terms.push_back(c.symbol(fmt::format("t{}", i % 300000)));
  const SymExpr sum = c.add(terms);
  EXPECT_EQ(c.operands(sum).size(), 300000U);
}

TEST(ArithmeticOfPowers, WithSymbolsInTheExponentAreOrderedAfterTheyAreMerged) {
  SymbolicContext c;
  const auto parse = [&](const char* text) {
    return c.parse(text, {.declare_as = SymbolAssumptions::positive_integer()});
  };
  const SymExpr product = parse("0**0**y*0**y*0**y");
  EXPECT_EQ(c.parse(c.str(product)), product);
  EXPECT_EQ(c.parse(c.srepr(product)), product);
  EXPECT_EQ(parse("0**y*0**y*0**(2*y)"), parse("0**(4*y)"));
}

}  // namespace
}  // namespace winze
