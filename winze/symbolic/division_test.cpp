// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include <gtest/gtest.h>

#include "winze/symbolic/symbolic_context.h"

namespace winze {
namespace {

class DivisionTest : public testing::Test {
 protected:
  SymbolicContext c;
  SymExpr x = c.symbol("x");
  SymExpr y = c.symbol("y");
  SymExpr u = c.symbol("u", SymbolAssumptions::any_integer());
};

TEST_F(DivisionTest, ConstantsFoldAsInPython) {
  EXPECT_EQ(c.floor_div(-7, 2), SymExpr(-4));
  EXPECT_EQ(c.python_mod(-7, 3), SymExpr(2));
  EXPECT_EQ(c.mod(7, 3), SymExpr(1));
  EXPECT_EQ(c.modular_indexing(17, 2, 5), SymExpr(3));
  EXPECT_EQ(c.ceil_div(7, 2), SymExpr(4));
}

TEST_F(DivisionTest, TrivialDivisionsFold) {
  EXPECT_EQ(c.floor_div(x, 1), x);
  EXPECT_EQ(c.floor_div(x, -1), c.neg(x));
  EXPECT_EQ(c.floor_div(x, x), SymExpr(1));
  EXPECT_EQ(c.floor_div(0, x), SymExpr(0));
  EXPECT_EQ(c.python_mod(x, x), SymExpr(0));
  EXPECT_EQ(c.mod(x, 1), SymExpr(0));
}

TEST_F(DivisionTest, MultiplesDivideExactly) {
  EXPECT_EQ(c.floor_div(c.mul(6, x), 3), c.mul(2, x));
  EXPECT_EQ(c.floor_div(c.mul(x, y), y), x);
  EXPECT_EQ(c.mod(c.mul(6, x), 3), SymExpr(0));
  EXPECT_EQ(c.mod(c.mul(x, y), y), SymExpr(0));
  EXPECT_EQ(c.python_mod(c.pow(y, 2), y), SymExpr(0));
}

TEST_F(DivisionTest, SumsThatAreFactorsCancelWhole) {
  const SymExpr sum = c.add(x, 2);
  EXPECT_EQ(c.floor_div(c.mul(y, sum), sum), y);
  EXPECT_EQ(c.floor_div(c.mul(3, c.mul(y, sum)), c.mul(3, sum)), y);
  EXPECT_EQ(c.modular_indexing(c.mul(y, sum), sum, 5), c.modular_indexing(y, 1, 5));
}

TEST_F(DivisionTest, WholeTermsLeaveTheDividend) {
  EXPECT_EQ(c.str(c.floor_div(c.add(c.mul(4, x), y), 2)), "2*x + y//2");
  EXPECT_EQ(c.str(c.floor_div(c.add(c.mul(4, x), c.mul(6, y)), 8)), "(2*x + 3*y)//4");
}

TEST_F(DivisionTest, NestedQuotientsJoinWhereThatIsRight) {
  EXPECT_EQ(c.floor_div(c.floor_div(x, 2), 3), c.floor_div(x, 6));
  // (7 // 2) // -1 is -3, but 7 // -2 is -4.
  EXPECT_NE(c.floor_div(c.floor_div(u, 2), -3), c.floor_div(u, -6));
}

TEST_F(DivisionTest, ParityOfASumIsSeen) {
  EXPECT_EQ(c.mod(c.add(c.mul(2, x), 1), 2), SymExpr(1));
  EXPECT_EQ(c.mod(c.add(c.mul(2, x), 4), 2), SymExpr(0));
}

TEST_F(DivisionTest, CleanDivisionKeepsItsName) {
  EXPECT_EQ(c.str(c.clean_div(x, y)), "CleanDiv(x, y)");
  EXPECT_EQ(c.str(c.clean_div(c.mul(2, x), c.mul(2, y))), "x//y");
}

TEST_F(DivisionTest, CeilingDivisionIsHeldAsPyTorchHoldsIt) {
  EXPECT_EQ(c.str(c.ceil_div(x, 4)), "(x + 3)//4");
  EXPECT_EQ(c.ceil_div(c.mul(8, x), 4), c.mul(2, x));
}

TEST_F(DivisionTest, ModularIndexingDropsWholePeriods) {
  EXPECT_EQ(c.modular_indexing(c.add(c.mul(12, x), y), 3, 4), c.modular_indexing(y, 3, 4));
  EXPECT_EQ(c.modular_indexing(c.floor_div(x, 2), 3, 4), c.modular_indexing(x, 6, 4));
  EXPECT_EQ(c.modular_indexing(x, 3, 1), SymExpr(0));
  EXPECT_EQ(c.str(c.modular_indexing(c.sub(c.mul(12, x), y), 3, 4)),
            "ModularIndexing(12*x - y, 3, 4)");
}

TEST_F(DivisionTest, DivisionByZeroIsAnError) {
  EXPECT_THROW(c.floor_div(x, 0), Error);
  EXPECT_THROW(c.mod(x, 0), Error);
  EXPECT_THROW(c.python_mod(3, 0), Error);
  EXPECT_THROW(c.modular_indexing(x, 0, 2), Error);
  EXPECT_THROW(c.modular_indexing(x, 2, 0), Error);
  EXPECT_THROW(c.int_true_div(x, 0), Error);
  EXPECT_THROW(c.float_true_div(x, c.float_constant(0)), Error);
  try {
    c.ceil_div(x, 0);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.diagnostic().message, "division by zero in FloorDiv");
  }
}

TEST_F(DivisionTest, ModOfNegativeNumbersIsAnError) {
  EXPECT_THROW(c.mod(-1, 3), Error);
}

TEST_F(DivisionTest, TheMinimumOfInt64IsSafe) {
  constexpr auto lowest = std::numeric_limits<std::int64_t>::min();
  EXPECT_THROW(c.floor_div(lowest, -1), Error);
  EXPECT_EQ(c.python_mod(lowest, -1), SymExpr(0));
  EXPECT_EQ(c.modular_indexing(c.add(c.mul(lowest, x), 1), 1, -1),
            c.modular_indexing(c.add(c.mul(lowest, x), 1), 1, -1));
  EXPECT_NO_THROW(c.floor_div(c.mul(lowest, x), c.mul(lowest, y)));
}

TEST_F(DivisionTest, ShiftsAreProductsAndQuotients) {
  EXPECT_EQ(c.lshift(x, 3), c.mul(8, x));
  EXPECT_EQ(c.rshift(x, 3), c.floor_div(x, 8));
  EXPECT_THROW(c.lshift(x, -1), Error);
  EXPECT_THROW(c.rshift(x, -1), Error);
}

}  // namespace
}  // namespace winze
