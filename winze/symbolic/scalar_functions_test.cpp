// SPDX-License-Identifier: Apache-2.0
#include "winze/symbolic/scalar_functions.h"

#include <cmath>

#include <gtest/gtest.h>

#include "winze/symbolic/symbolic_context.h"

namespace winze {
namespace {

class ScalarFunctionsTest : public testing::Test {
 protected:
  SymExpr real(double value) { return c.float_constant(value); }
  SymbolicContext c;
  SymExpr x = c.symbol("x");
  SymExpr y = c.symbol("y");
};

TEST_F(ScalarFunctionsTest, FloatsRoundToIntegers) {
  EXPECT_EQ(c.ceil_to_int(real(2.1)), SymExpr(3));
  EXPECT_EQ(c.floor_to_int(real(-2.1)), SymExpr(-3));
  EXPECT_EQ(c.trunc_to_int(real(-2.9)), SymExpr(-2));
  EXPECT_EQ(c.round_to_int(real(2.5)), SymExpr(2));
  EXPECT_EQ(c.round_to_int(real(3.5)), SymExpr(4));
}

TEST_F(ScalarFunctionsTest, WhatIsNotInInt64IsNotFolded) {
  EXPECT_EQ(c.str(c.ceil_to_int(real(1e30))), "CeilToInt(1e+30)");
}

TEST_F(ScalarFunctionsTest, DivisionsOfConstantsFold) {
  EXPECT_EQ(c.int_true_div(7, 2), real(3.5));
  EXPECT_EQ(c.float_true_div(real(7), 2), real(3.5));
  EXPECT_EQ(c.float_pow(real(9), real(0.5)), real(3));
  EXPECT_EQ(c.to_float(3), real(3));
  EXPECT_EQ(c.round_decimal(real(2.675), 2), real(2.67));
  EXPECT_EQ(c.trunc_to_float(real(-2.5)), real(-2));
}

TEST_F(ScalarFunctionsTest, OpaqueFunctionsFoldOnConstantsOnly) {
  EXPECT_EQ(c.sqrt(4), real(2));
  EXPECT_EQ(c.str(c.sqrt(x)), "OpaqueUnaryFn_sqrt(x)");
  EXPECT_EQ(c.str(c.log(-1)), "OpaqueUnaryFn_log(-1)");  // a domain error in Python
  EXPECT_EQ(c.str(c.exp(1000)), "OpaqueUnaryFn_exp(1000)");
}

TEST_F(ScalarFunctionsTest, PowersThatPythonRefusesAreNothing) {
  EXPECT_EQ(python_float_pow(0, -1), std::nullopt);
  EXPECT_EQ(python_float_pow(-8, 1.0 / 3), std::nullopt);
  EXPECT_EQ(python_float_pow(10, 400), std::nullopt);
  EXPECT_EQ(python_float_pow(-2, 3), -8.0);
}

TEST_F(ScalarFunctionsTest, ExtremesAreFlatAndFold) {
  EXPECT_EQ(c.max(c.max(x, 3), c.max(5, y)), c.max(y, c.max(x, 5)));
  EXPECT_EQ(c.max(2, 7), SymExpr(7));
  EXPECT_EQ(c.min(x, x), x);
  EXPECT_EQ(c.str(c.min(c.max(x, 1), y)), "Min(Max(1, x), y)");
  EXPECT_EQ(c.max(x, c.parse("-oo")), x);
  EXPECT_EQ(c.max(x, c.parse("oo")), c.parse("oo"));
  EXPECT_THROW(c.max(c.parse("nan"), 1), Error);
}

TEST_F(ScalarFunctionsTest, BitwiseOperationsFold) {
  EXPECT_EQ(c.bitwise_and(12, 10), SymExpr(8));
  EXPECT_EQ(c.bitwise_or(12, 10), SymExpr(14));
  EXPECT_EQ(c.bitwise_xor(12, -1), SymExpr(-13));
  EXPECT_EQ(c.bitwise_and(c.bool_constant(true), x), c.bitwise_and(1, x));
  EXPECT_EQ(c.bitwise_and(c.lt(x, 2), c.lt(y, 2)), c.land(c.lt(x, 2), c.lt(y, 2)));
  EXPECT_THROW(c.bitwise_and(real(1), 1), Error);
}

TEST_F(ScalarFunctionsTest, AbsoluteValuesOfConstants) {
  EXPECT_EQ(c.abs(-3), SymExpr(3));
  EXPECT_EQ(c.abs(real(-0.5)), real(0.5));
  EXPECT_EQ(c.str(c.abs(x)), "Abs(x)");
}

TEST_F(ScalarFunctionsTest, IdentityProtectsItsOperand) {
  EXPECT_NE(c.identity(x), x);
  EXPECT_EQ(c.str(c.identity(x)), "Identity(x)");
}

TEST_F(ScalarFunctionsTest, DenseWithoutOverlap) {
  const auto dense = [](std::vector<std::int64_t> values) {
    return is_non_overlapping_and_dense(values);
  };
  EXPECT_TRUE(dense({2, 3, 3, 1}));
  EXPECT_TRUE(dense({2, 3, 1, 2}));
  EXPECT_FALSE(dense({2, 3, 4, 1}));
  EXPECT_TRUE(dense({1, 3, 77, 1}));
  EXPECT_TRUE(dense({1, 5}));
  EXPECT_TRUE(dense({}));
}

TEST_F(ScalarFunctionsTest, TheIndicatorIsKnownWithoutTheLargestDimension) {
  const auto indicator = [&](std::vector<SymExpr> operands) {
    return c.is_non_overlapping_and_dense_indicator(operands);
  };
  EXPECT_EQ(indicator({x, 3, 3, 1}), SymExpr(1));
  EXPECT_EQ(indicator({x, 3, 4, 1}), SymExpr(0));
  EXPECT_EQ(indicator({x, 1}), SymExpr(1));
  EXPECT_EQ(c.op(indicator({3, x, 3, 1})), SymOp::is_non_overlapping_and_dense_indicator);
  EXPECT_THROW(indicator({x, 3, 1}), Error);
}

}  // namespace
}  // namespace winze
