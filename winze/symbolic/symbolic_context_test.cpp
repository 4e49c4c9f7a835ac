// SPDX-License-Identifier: Apache-2.0
#include "winze/symbolic/symbolic_context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winze {
namespace {

using testing::ElementsAre;

class SymbolicContextTest : public testing::Test {
 protected:
  SymbolicContext c;
  SymExpr s0 = c.symbol("s0");
  SymExpr s1 = c.symbol("s1");
};

TEST_F(SymbolicContextTest, EqualExpressionsAreTheSameValue) {
  EXPECT_EQ(c.add(c.mul(s0, 8), 1), c.add(1, c.mul(8, s0)));
  EXPECT_NE(c.mul(s0, 8), c.mul(s0, 9));
}

TEST_F(SymbolicContextTest, ExpressionsHaveAKind) {
  EXPECT_EQ(c.kind(5), SymKind::int_kind);
  EXPECT_EQ(c.kind(s0), SymKind::int_kind);
  EXPECT_EQ(c.kind(c.lt(s0, 2)), SymKind::bool_kind);
  EXPECT_EQ(c.kind(c.to_float(s0)), SymKind::float_kind);
  EXPECT_EQ(c.kind(c.add(c.to_float(s0), 1)), SymKind::float_kind);
}

TEST_F(SymbolicContextTest, FreeSymbolsComeByName) {
  const SymExpr expr = c.add(c.mul(s1, s0), c.floor_div(s1, 3));
  EXPECT_THAT(c.free_symbols(expr), ElementsAre(s0, s1));
  EXPECT_THAT(c.free_symbols(7), ElementsAre());
  EXPECT_TRUE(c.has_symbol(expr));
  EXPECT_FALSE(c.has_symbol(c.float_constant(0.5)));
}

TEST_F(SymbolicContextTest, SymbolsAreFoundByName) {
  EXPECT_EQ(c.find_symbol("s1"), s1);
  EXPECT_EQ(c.find_symbol("s2"), std::nullopt);
  EXPECT_EQ(c.symbol_name(s0), "s0");
  EXPECT_EQ(c.symbol_assumptions(s0), SymbolAssumptions::positive_integer());
  EXPECT_THAT(c.symbols(), ElementsAre(s0, s1));
}

TEST_F(SymbolicContextTest, AtomsHaveNoOperands) {
  // A symbol's number is no offset into the pool of operands, which is empty here.
  EXPECT_EQ(c.operands(s1).data(), nullptr);
  EXPECT_THAT(c.operands(s1), ElementsAre());
  EXPECT_THAT(c.operands(c.rational(1, 2)), ElementsAre());
  EXPECT_THAT(c.operands(7), ElementsAre());
}

TEST_F(SymbolicContextTest, SymbolNamesAreBounded) {
  EXPECT_THROW(c.symbol(""), Error);
  EXPECT_THROW(c.symbol(std::string(2000, 'x')), Error);
}

TEST_F(SymbolicContextTest, ConstantsHaveValues) {
  EXPECT_EQ(c.constant_value(5), SymValue(std::int64_t{5}));
  EXPECT_EQ(c.constant_value(c.rational(1, 2)), SymValue(0.5));
  EXPECT_EQ(c.constant_value(c.bool_constant(true)), SymValue(true));
  EXPECT_EQ(c.constant_value(s0), std::nullopt);
  EXPECT_EQ(c.rational(6, 3), SymExpr(2));
  EXPECT_THROW(c.rational(1, 0), Error);
}

TEST_F(SymbolicContextTest, OperandOrderDoesNotDependOnHistory) {
  SymbolicContext other;
  const SymExpr t1 = other.symbol("s1");
  other.floor_div(t1, 3);
  const SymExpr t0 = other.symbol("s0");
  const SymExpr there = other.mul(other.floor_div(t1, 3), other.add(t0, t1));
  const SymExpr here = c.mul(c.add(s1, s0), c.floor_div(s1, 3));
  EXPECT_EQ(other.srepr(there), c.srepr(here));
}

TEST_F(SymbolicContextTest, ManyExpressionsKeepTheirIdentity) {
  std::vector<SymExpr> first;
  for (int i = 2; i < 5000; ++i) first.push_back(c.add(c.mul(s0, i), c.mul(s1, i + 1)));
  for (int i = 2; i < 5000; ++i) {
    ASSERT_EQ(first[static_cast<std::size_t>(i) - 2], c.add(c.mul(s1, i + 1), c.mul(i, s0)));
  }
}

}  // namespace
}  // namespace winze
