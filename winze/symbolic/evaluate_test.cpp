// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include <gtest/gtest.h>

#include "winze/symbolic/symbolic_context.h"

namespace winze {
namespace {

class EvaluateTest : public testing::Test {
 protected:
  std::optional<SymValue> value(std::string_view text, std::int64_t of_x, std::int64_t of_y = 1) {
    return c.evaluate(c.parse(text), [&](SymExpr symbol) -> std::optional<SymValue> {
      return symbol == x ? of_x : of_y;
    });
  }
  static SymValue integer(std::int64_t value) { return value; }

  SymbolicContext c;
  SymExpr x = c.symbol("x", SymbolAssumptions::any_integer());
  SymExpr y = c.symbol("y", SymbolAssumptions::any_integer());
};

TEST_F(EvaluateTest, IntegersFollowPython) {
  EXPECT_EQ(value("x//y", -7, 2), integer(-4));
  EXPECT_EQ(value("PythonMod(x, y)", -7, 3), integer(2));
  EXPECT_EQ(value("Mod(x, y)", 7, 3), integer(1));
  EXPECT_EQ(value("ModularIndexing(x, 2, y)", 17, 5), integer(3));
  EXPECT_EQ(value("x**2 - 3*x*y + 1", 4, 5), integer(-43));
  EXPECT_EQ(value("Max(x, y, 3)", 1, 2), integer(3));
  EXPECT_EQ(value("Abs(x)", -4), integer(4));
  EXPECT_EQ(value("BitwiseFn_bitwise_xor(x, y)", 6, 3), integer(5));
}

TEST_F(EvaluateTest, FloatsFollowPython) {
  EXPECT_EQ(value("IntTrueDiv(x, 2)", 7), SymValue(3.5));
  EXPECT_EQ(value("FloatPow(ToFloat(x), 0.5)", 9), SymValue(3.0));
  EXPECT_EQ(value("RoundToInt(IntTrueDiv(x, 2))", 5), integer(2));
  EXPECT_EQ(value("CeilToInt(IntTrueDiv(x, 2))", 5), integer(3));
  EXPECT_EQ(value("TruncToFloat(IntTrueDiv(x, 2))", -5), SymValue(-2.0));
  EXPECT_EQ(value("x**(-1)", 4), SymValue(0.25));
  EXPECT_EQ(value("x/2", 7), SymValue(3.5));
}

TEST_F(EvaluateTest, BooleansFollowPython) {
  EXPECT_EQ(value("(x < 3) & (y < 3)", 2, 2), SymValue(true));
  EXPECT_EQ(value("(x < 3) | Eq(y, 9)", 5, 2), SymValue(false));
  EXPECT_EQ(value("Ne(x, y)", 5, 5), SymValue(false));
  EXPECT_EQ(value("~((x < 3) & (y < 3))", 2, 2), SymValue(false));
}

TEST_F(EvaluateTest, OnlyTheChosenBranchNeedsAValue) {
  EXPECT_EQ(value("Where(x > 0, x, x//y)", 5, 0), integer(5));
  EXPECT_EQ(value("Where(x > 0, x, x//y)", -5, 0), std::nullopt);
  EXPECT_EQ(value("Piecewise((x//y, Ne(y, 0)), (x, True))", 5, 0), integer(5));
}

TEST_F(EvaluateTest, WherePythonRaisesThereIsNoValue) {
  EXPECT_EQ(value("x//y", 1, 0), std::nullopt);
  EXPECT_EQ(value("OpaqueUnaryFn_log(x)", -1), std::nullopt);
  EXPECT_EQ(value("FloatPow(ToFloat(x), 0.5)", -1), std::nullopt);
  EXPECT_EQ(value("FloatTrueDiv(ToFloat(x), ToFloat(y))", 1, 0), std::nullopt);
  EXPECT_EQ(value("int_oo + x", 1), std::nullopt);
}

TEST_F(EvaluateTest, WhatLeavesInt64HasNoValue) {
  constexpr auto highest = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(value("x + y", highest, 1), std::nullopt);
  EXPECT_EQ(value("x*y", highest, 2), std::nullopt);
  EXPECT_EQ(value("x**y", 2, 63), std::nullopt);
  EXPECT_EQ(value("x + y", highest, -1), integer(highest - 1));
}

TEST_F(EvaluateTest, ASumIsExactWhateverTheOrder) {
  constexpr auto highest = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(value("Max(x, 1) + Max(x, 2) - Max(x, 3)", highest), integer(highest));
}

TEST_F(EvaluateTest, AMissingSymbolMeansNoValue) {
  const SymExpr expr = c.add(x, 1);
  EXPECT_EQ(c.evaluate(expr, [](SymExpr) { return std::nullopt; }), std::nullopt);
  EXPECT_EQ(c.evaluate(5, [](SymExpr) { return std::nullopt; }), integer(5));
}

TEST_F(EvaluateTest, IntegersOnlyAreAskedFor) {
  const auto lookup = [](SymExpr) { return std::optional<SymValue>(std::int64_t{3}); };
  EXPECT_EQ(c.evaluate_int(c.add(x, 1), lookup), 4);
  EXPECT_EQ(c.evaluate_int(c.to_float(x), lookup), std::nullopt);
}

TEST_F(EvaluateTest, SharedPartsAreComputedOnce) {
  SymExpr deep = x;  // as a tree it would have 2**200 leaves
  for (int i = 0; i < 200; ++i) deep = c.max(c.python_mod(deep, 100), c.floor_div(deep, -3));
  EXPECT_TRUE(c.evaluate(deep, [](SymExpr) { return std::optional<SymValue>(std::int64_t{7}); }));
}

}  // namespace
}  // namespace winze
