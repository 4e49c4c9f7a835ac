// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "winze/symbolic/symbolic_context.h"

namespace winze {
namespace {

class SimplifyTest : public testing::Test {
 protected:
  SimplifyTest() { c.set_range(n, {2, 64}); }
  std::string simple(std::string_view text) { return c.str(c.simplify(c.parse(text))); }

  SymbolicContext c;
  SymExpr n = c.symbol("n");
  SymExpr m = c.symbol("m");
  SymExpr v = c.symbol("v", SymbolAssumptions::any_integer());
};

TEST_F(SimplifyTest, RangesDecide) {
  EXPECT_EQ(simple("Max(1, n)"), "n");
  EXPECT_EQ(simple("Min(n, 100, v)"), "Min(n, v)");
  EXPECT_EQ(simple("Max(n, n + m)"), "m + n");
  EXPECT_EQ(simple("Where(n < 100, v, 0)"), "v");
  EXPECT_EQ(simple("n > 1"), "True");
  EXPECT_EQ(simple("n//100 + v"), "v");
}

TEST_F(SimplifyTest, QuotientsAndRemainders) {
  EXPECT_EQ(simple("PythonMod(v + 6, 4)"), "PythonMod(v + 2, 4)");
  EXPECT_EQ(simple("(v*m + m)//m"), "v + 1");
  EXPECT_EQ(simple("PythonMod(v*m + 3, m)"), "PythonMod(3, m)");
  EXPECT_EQ(simple("(v//m)//n"), "v//(m*n)");
  EXPECT_EQ(simple("ModularIndexing(n, 8, 100)"), "n//8");
}

TEST_F(SimplifyTest, WithoutRangesNothingChanges) {
  EXPECT_EQ(simple("Max(1, v)"), "Max(1, v)");
  EXPECT_EQ(simple("7"), "7");
}

TEST_F(SimplifyTest, WhatOverflowsStays) {
  c.set_range(n, {64, 64});
  EXPECT_EQ(simple("n**20 + v"), "n**20 + v");
}

}  // namespace
}  // namespace winze
