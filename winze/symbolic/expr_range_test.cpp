// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "winze/symbolic/symbolic_context.h"

namespace winze {
namespace {

class ExprRangeTest : public testing::Test {
 protected:
  ExprRangeTest() {
    c.set_range(x, {2, 8});
    c.set_range(u, {-3, 5});
  }
  Range range(std::string_view text) { return c.range(c.parse(text)); }

  SymbolicContext c;
  SymExpr x = c.symbol("x");
  SymExpr u = c.symbol("u", SymbolAssumptions::any_integer());
};

TEST_F(ExprRangeTest, ConstantsAndSymbols) {
  EXPECT_EQ(c.range(5), Range::exactly(5));
  EXPECT_EQ(c.range(x), (Range{2, 8}));
  EXPECT_EQ(c.range(c.symbol("fresh")), Range::at_least(1));
}

TEST_F(ExprRangeTest, Integers) {
  EXPECT_EQ(range("4*x + 1"), (Range{9, 33}));
  EXPECT_EQ(range("x*u"), (Range{-24, 40}));
  EXPECT_EQ(range("u**2"), (Range{0, 25}));
  EXPECT_EQ(range("x//3"), (Range{0, 2}));
  EXPECT_EQ(range("PythonMod(u, 4)"), (Range{0, 3}));
  EXPECT_EQ(range("ModularIndexing(x, 2, 3)"), (Range{0, 2}));
  EXPECT_EQ(range("Max(u, 1)"), (Range{1, 5}));
  EXPECT_EQ(range("Min(u, 1)"), (Range{-3, 1}));
  EXPECT_EQ(range("Abs(u)"), (Range{0, 5}));
  EXPECT_EQ(range("Where(x < 9, x, 100)"), (Range{2, 8}));
  EXPECT_EQ(range("BitwiseFn_bitwise_and(x, u)"), (Range{0, 8}));
  EXPECT_EQ(range("BitwiseFn_bitwise_or(x, 1)"), (Range{2, 15}));
}

TEST_F(ExprRangeTest, FloatsHaveTheIntegersAround) {
  EXPECT_EQ(range("0.5"), (Range{0, 1}));
  EXPECT_EQ(range("IntTrueDiv(x, 3)"), (Range{0, 3}));
  EXPECT_EQ(range("CeilToInt(IntTrueDiv(x, 3))"), (Range{0, 3}));
  EXPECT_EQ(range("OpaqueUnaryFn_sin(x)"), (Range{-1, 1}));
  // Above 2**53 a float may round past the bound.
  EXPECT_EQ(range("ToFloat(Min(x, 3) + 9007199254740993)").hi, Range::infinity);
}

TEST_F(ExprRangeTest, BooleansAreZeroAndOne) {
  EXPECT_EQ(range("x < 9"), Range::exactly(1));
  EXPECT_EQ(range("x < 2"), Range::exactly(0));
  EXPECT_EQ(range("x < 5"), (Range{0, 1}));
  EXPECT_EQ(range("~((x < 9) & (u < 7))"), Range::exactly(0));
}

TEST_F(ExprRangeTest, ANewRangeIsSeenByEverything) {
  const SymExpr expr = c.parse("4*x + 1");
  EXPECT_EQ(c.range(expr).hi, 33);
  c.set_range(x, {2, 3});
  EXPECT_EQ(c.range(expr).hi, 13);
}

TEST_F(ExprRangeTest, AssumptionsLimitTheRange) {
  c.set_range(x, {-5, 4});
  EXPECT_EQ(c.range(x), (Range{1, 4}));
}

TEST_F(ExprRangeTest, ARangeWithoutValuesIsAnError) {
  try {
    c.set_range(x, {-5, 0});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.diagnostic().message,
              "the range [-5, 0] of the symbol `x` (positive=True, integer=True) holds no value");
  }
  EXPECT_THROW(c.set_range(u, {3, 2}), Error);
}

TEST_F(ExprRangeTest, RangesDoNotEnterTheCanonicalForm) {
  c.set_range(u, {7, 7});
  EXPECT_NE(c.add(u, 1), SymExpr(8));
  EXPECT_NE(c.max(u, 1), u);
}

}  // namespace
}  // namespace winze
