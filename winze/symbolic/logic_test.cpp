// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include <gtest/gtest.h>

#include "winze/symbolic/symbolic_context.h"

namespace winze {
namespace {

class LogicTest : public testing::Test {
 protected:
  SymbolicContext c;
  SymExpr x = c.symbol("x");
  SymExpr y = c.symbol("y");
  SymExpr yes = c.bool_constant(true);
  SymExpr no = c.bool_constant(false);
  SymExpr p = c.lt(x, 3);
  SymExpr q = c.lt(y, 3);
};

TEST_F(LogicTest, ConstantsAreCompared) {
  EXPECT_EQ(c.lt(2, 3), yes);
  EXPECT_EQ(c.ge(2, 3), no);
  EXPECT_EQ(c.eq(2, c.float_constant(2)), yes);
  EXPECT_EQ(c.ne(2, 2), no);
}

TEST_F(LogicTest, ExpressionsThatDifferByAConstantAreCompared) {
  EXPECT_EQ(c.lt(x, c.add(x, 1)), yes);
  EXPECT_EQ(c.eq(c.add(x, y), c.add(c.add(x, y), 2)), no);
  EXPECT_EQ(c.le(x, x), yes);
  EXPECT_EQ(c.ne(x, x), no);
}

TEST_F(LogicTest, AddingToAFloatMayChangeNothing) {
  const SymExpr f = c.symbol("f", SymbolAssumptions().with(Assumption::real));
  EXPECT_EQ(c.kind(c.lt(f, c.add(f, 1))), SymKind::bool_kind);
  EXPECT_NE(c.lt(f, c.add(f, 1)), yes);
}

TEST_F(LogicTest, RelationsHaveOneSpelling) {
  EXPECT_EQ(c.gt(x, y), c.lt(y, x));
  EXPECT_EQ(c.eq(2, x), c.eq(x, 2));
  EXPECT_EQ(c.eq(y, x), c.eq(x, y));
  EXPECT_EQ(c.str(c.ge(x, 2)), "x >= 2");
  EXPECT_EQ(c.str(c.lt(x, y)), "x < y");
}

TEST_F(LogicTest, NegationTurnsRelationsRound) {
  EXPECT_EQ(c.lnot(c.lt(x, y)), c.ge(x, y));
  EXPECT_EQ(c.lnot(c.eq(x, y)), c.ne(x, y));
  EXPECT_EQ(c.lnot(c.lnot(c.land(p, q))), c.land(p, q));
  EXPECT_EQ(c.lnot(yes), no);
}

TEST_F(LogicTest, AConstantTermGoesToTheConstantItEquals) {
  EXPECT_EQ(c.eq(c.add(x, 2), 0), c.eq(x, -2));
  EXPECT_EQ(c.str(c.ne(5, c.add(c.add(x, y), 3))), "Ne(x + y, 2)");
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(c.str(c.eq(c.sub(x, 2), most)), "Eq(x - 2, 9223372036854775807)");  // no such number
}

TEST_F(LogicTest, NegatedFloatRelationsStayBecauseOfNaN) {
  const SymExpr f = c.symbol("f", SymbolAssumptions().with(Assumption::real));
  EXPECT_EQ(c.op(c.lnot(c.lt(f, 2))), SymOp::lnot);
}

TEST_F(LogicTest, JunctionsAreFlatAndFold) {
  EXPECT_EQ(c.land(c.land(p, q), p), c.land(q, p));
  EXPECT_EQ(c.land(p, yes), p);
  EXPECT_EQ(c.land(p, no), no);
  EXPECT_EQ(c.lor(p, yes), yes);
  EXPECT_EQ(c.lor(p, no), p);
  EXPECT_EQ(c.lor(c.lnot(c.land(p, q)), c.land(p, q)), yes);
  EXPECT_EQ(c.land(std::span<const SymExpr>()), yes);
}

TEST_F(LogicTest, ChoicesFold) {
  EXPECT_EQ(c.where(yes, x, y), x);
  EXPECT_EQ(c.where(no, x, y), y);
  const SymExpr pieces[] = {x, no, y, q, x, yes, y, yes};
  EXPECT_EQ(c.str(c.piecewise(pieces)), "Piecewise((y, y < 3), (x, True))");
  const SymExpr same[] = {x, p, x, q, y, yes};
  EXPECT_EQ(c.str(c.piecewise(same)), "Piecewise((x, (x < 3) | (y < 3)), (y, True))");
}

TEST_F(LogicTest, KindsAreChecked) {
  EXPECT_THROW(c.land(x, p), Error);
  EXPECT_THROW(c.lnot(x), Error);
  EXPECT_THROW(c.where(x, x, y), Error);
  EXPECT_THROW(c.where(p, x, q), Error);
  EXPECT_THROW(c.lt(p, 1), Error);
  EXPECT_THROW(c.piecewise(std::span<const SymExpr>()), Error);
  try {
    c.eq(p, 1);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.diagnostic().message, "Equality compares a boolean with a number");
  }
}

}  // namespace
}  // namespace winze
