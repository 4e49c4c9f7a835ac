// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "winze/symbolic/symbolic_context.h"

namespace winze {
namespace {

class MakeTest : public testing::Test {
 protected:
  SymbolicContext c;
  SymExpr x = c.symbol("x");
  SymExpr y = c.symbol("y");
};

TEST_F(MakeTest, BuildsByOperation) {
  const SymExpr operands[] = {x, y};
  EXPECT_EQ(c.make(SymOp::floor_div, operands), c.floor_div(x, y));
  EXPECT_EQ(c.make(SymOp::lt, operands), c.lt(x, y));
}

TEST_F(MakeTest, ChecksTheNumberOfOperands) {
  try {
    c.make(SymOp::floor_div, {&x, 1});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.diagnostic().message, "FloorDiv takes 2 operands, but has 1");
  }
  EXPECT_THROW(c.make(SymOp::max, {}), Error);
  EXPECT_THROW(c.make(SymOp::symbol, {}), InternalError);
}

TEST_F(MakeTest, SubstitutesSymbolsAllAtOnce) {
  const SymExpr expr = c.add(c.mul(2, x), c.floor_div(y, x));
  EXPECT_EQ(c.substitute(expr, {{x, y}, {y, x}}), c.add(c.mul(2, y), c.floor_div(x, y)));
  EXPECT_EQ(c.substitute(expr, {{x, 2}, {y, 9}}), SymExpr(8));
  EXPECT_EQ(c.substitute(expr, {}), expr);
  EXPECT_EQ(c.substitute(5, {{x, 2}}), SymExpr(5));
}

TEST_F(MakeTest, SubstitutesWholeExpressions) {
  const SymExpr half = c.floor_div(x, 2);
  EXPECT_EQ(c.substitute(c.add(c.mul(3, half), x), {{half, y}}), c.add(c.mul(3, y), x));
}

TEST_F(MakeTest, ExpandsProductsOfSums) {
  EXPECT_EQ(c.str(c.expand(c.mul(c.add(x, 1), c.add(y, 2)))), "x*y + 2*x + y + 2");
  EXPECT_EQ(c.str(c.expand(c.pow(c.add(x, 1), 3))), "x**3 + 3*x**2 + 3*x + 1");
  EXPECT_EQ(c.expand(c.sub(c.mul(x, c.add(y, 1)), c.add(c.mul(x, y), x))), SymExpr(0));
}

TEST_F(MakeTest, ExpansionIsBounded) {
  SymExpr product = 1;
  for (int i = 0; i < 40; ++i) {
    product = c.mul(product, c.add(c.symbol(fmt::format("a{}", i)), 1));
  }
  EXPECT_EQ(c.expand(product), product);
  const SymExpr high = c.pow(c.add(x, y), 100);
  EXPECT_EQ(c.expand(high), high);
}

}  // namespace
}  // namespace winze
