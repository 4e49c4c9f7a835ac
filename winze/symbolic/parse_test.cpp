// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/symbolic/symbolic_context.h"

namespace winze {
namespace {

class ParseTest : public testing::Test {
 protected:
  /// The message of the error that the text causes, with its column.
  std::string error(std::string_view text) {
    try {
      c.parse(text);
    } catch (const Error& error) {
      return fmt::format("{}: {}", error.diagnostic().where.column, error.diagnostic().message);
    }
    return "no error";
  }

  SymbolicContext c;
  SymExpr s0 = c.symbol("s0");
  SymExpr s1 = c.symbol("s1");
};

TEST_F(ParseTest, SreprDeclaresItsSymbols) {
  const SymExpr expr = c.parse(
      "Add(Mul(Integer(4), Symbol('u7', integer=True)), Symbol('s0', integer=True, "
      "positive=True), Integer(-1))");
  const SymExpr u7 = *c.find_symbol("u7");
  EXPECT_EQ(c.symbol_assumptions(u7), SymbolAssumptions::any_integer());
  EXPECT_EQ(expr, c.sub(c.add(c.mul(4, u7), s0), 1));
}

TEST_F(ParseTest, PlainTextFollowsPython) {
  EXPECT_EQ(c.parse("2*s0 + 1"), c.add(c.mul(2, s0), 1));
  EXPECT_EQ(c.parse("(s0//2)"), c.floor_div(s0, 2));
  EXPECT_EQ(c.parse("-s0**2"), c.neg(c.pow(s0, 2)));
  EXPECT_EQ(c.parse("-3**2"), SymExpr(-9));
  EXPECT_EQ(c.parse("2**-1"), c.rational(1, 2));
  EXPECT_EQ(c.parse("2**3**2"), SymExpr(512));
  EXPECT_EQ(c.parse("s0*s1//2*3"), c.mul(c.floor_div(c.mul(s0, s1), 2), 3));
  EXPECT_EQ(c.parse("7 - 2 - 1"), SymExpr(4));
  EXPECT_EQ(c.parse("12/2/3"), SymExpr(2));
  EXPECT_EQ(c.parse("1 << 3"), SymExpr(8));
  EXPECT_EQ(c.parse("s0 % 2"), c.python_mod(s0, 2));
  EXPECT_EQ(c.parse("s0 - (s1 - s0)"), c.sub(c.mul(2, s0), s1));
  EXPECT_EQ(c.parse("- - +s0"), s0);
}

TEST_F(ParseTest, ProductsAreTakenFromTheLeftAsInPython) {
  const SymExpr sum = c.add(s0, 1);
  EXPECT_EQ(c.parse("2*(s0 + 1)*s1"), c.mul(c.mul(2, sum), s1));
  EXPECT_EQ(c.parse("2*s1*(s0 + 1)"), c.mul(c.mul(2, s1), sum));
  EXPECT_EQ(c.parse("Mul(s1, Mul(2, Add(s0, 1)))"), c.mul(c.mul(2, sum), s1));
  const SymExpr factors[] = {2, sum, s1};
  EXPECT_EQ(c.parse("Mul(2, Add(s0, 1), s1)"), c.mul(factors));
  EXPECT_NE(c.mul(factors), c.mul(c.mul(2, sum), s1));
}

TEST_F(ParseTest, RelationsAndBooleans) {
  EXPECT_EQ(c.parse("s0 < 3"), c.lt(s0, 3));
  EXPECT_EQ(c.parse("s0 >= s1 + 1"), c.ge(s0, c.add(s1, 1)));
  EXPECT_EQ(c.parse("s0 == 3"), c.eq(s0, 3));
  EXPECT_EQ(c.parse("Eq(s0, 3)"), c.eq(s0, 3));
  EXPECT_EQ(c.parse("StrictGreaterThan(s0, 3)"), c.gt(s0, 3));
  EXPECT_EQ(c.parse("(s0 < 3) & ~(s1 < 3) | true"), c.bool_constant(true));
  EXPECT_EQ(c.parse("And(s0 < 3, s1 < 3)"), c.land(c.lt(s0, 3), c.lt(s1, 3)));
}

TEST_F(ParseTest, OtherSpellings) {
  EXPECT_EQ(c.parse("CeilDiv(s0, 4)"), c.ceil_div(s0, 4));
  EXPECT_EQ(c.parse("LShift(s0, 2)"), c.mul(4, s0));
  EXPECT_EQ(c.parse("RShift(s0, 2)"), c.floor_div(s0, 4));
  EXPECT_EQ(c.parse("IntInfinity()"), SymbolicContext::int_oo());
  EXPECT_EQ(c.parse("Mul(Integer(-1), oo)"), c.parse("-oo"));
  EXPECT_EQ(c.parse("sqrt(s0)"), c.pow(s0, c.rational(1, 2)));
  EXPECT_EQ(c.parse("Float('0.25', precision=53)"), c.float_constant(0.25));
  EXPECT_EQ(c.parse("Float(-2)"), c.float_constant(-2));
  EXPECT_EQ(c.parse("Piecewise(ExprCondPair(s0, s0 < 3), ExprCondPair(1, true))"),
            c.parse("Piecewise((s0, s0 < 3), (1, True))"));
}

TEST_F(ParseTest, NestedCallsOfOneFunctionAreFlat) {
  EXPECT_EQ(c.parse("Min(s0, Min(s0, s1) + s1)"), c.min(s0, c.add(c.min(s0, s1), s1)));
  EXPECT_EQ(c.parse("Add(1, Add(s0, Add(s1, 2)))"), c.add(c.add(s0, s1), 3));
  EXPECT_EQ(c.parse("Max(1, Max(s0, 4))"), c.max(s0, 4));
}

TEST_F(ParseTest, UndeclaredNamesNeedLeave) {
  EXPECT_EQ(error("s0 + s9"), "6: the symbol `s9` is not declared");
  const SymExpr s9 = c.parse("s9", {.declare_as = SymbolAssumptions::any_integer()});
  EXPECT_EQ(c.symbol_assumptions(s9), SymbolAssumptions::any_integer());
}

TEST_F(ParseTest, ErrorsPointAtTheirPlace) {
  EXPECT_EQ(error(""), "1: expected an expression, but found the end");
  EXPECT_EQ(error("s0 +"), "5: expected an expression, but found the end");
  EXPECT_EQ(error("s0 s1"), "4: expected an operator, but found `s1`");
  EXPECT_EQ(error("(s0 + 1"), "1: this parenthesis is not closed");
  EXPECT_EQ(error("s0)"), "3: unexpected `)`: nothing is open here");
  EXPECT_EQ(error("s0, s1"), "3: unexpected `,` outside of parentheses");
  EXPECT_EQ(error("(s0, s1)"), "1: a pair stands only in Piecewise, and has two parts");
  EXPECT_EQ(error("Max(s0,)"), "8: expected an expression, but found `)`");
  EXPECT_EQ(error("Foo(s0)"), "1: the function `Foo` is not known");
  EXPECT_EQ(error("1 + FloorDiv(s0)"), "5: FloorDiv takes 2 operands, but has 1");
  EXPECT_EQ(error("CeilDiv(s0)"), "1: CeilDiv takes 2 operands, but has 1");
  EXPECT_EQ(error("s0 < s1 < 3"), "9: comparisons cannot be chained");
  EXPECT_EQ(error("s0 // 0"), "4: division by zero in FloorDiv");
  EXPECT_EQ(error("s0 / 0"), "4: division by zero");
  EXPECT_EQ(error("s0 & 1"), "4: And needs booleans, but its operand `s0` is a number");
  EXPECT_EQ(error("s0 $ 1"), "4: expected an operator, but found `$`");
  EXPECT_EQ(error("s0 × 2"), "4: expected an operator, but found `×`");
  EXPECT_EQ(error(std::string_view("s0\0", 3)),
            std::string("3: expected an operator, but found `") + '\0' + "`");
}

TEST_F(ParseTest, ErrorsInLeaves) {
  EXPECT_EQ(error("Symbol(s0)"), "8: expected a string in quotes, but found `s0`");
  EXPECT_EQ(error("Symbol('s0"), "8: this string has no end");
  EXPECT_EQ(error("Symbol('a', big=True)"), "13: sympy has no assumption `big`");
  EXPECT_EQ(error("Symbol('a', integer=1)"),
            "21: the assumption `integer` is neither True nor False");
  EXPECT_EQ(error(R"(Symbol('a\n'))"), R"(10: the escape `\n` is not supported in a name)");
  EXPECT_EQ(error("Integer(x)"), "9: expected an integer, but found `x`");
  EXPECT_EQ(error("Integer(1.5)"), "9: expected an integer, but found a float");
  EXPECT_EQ(error("Integer(1"), "10: expected `)`, but found the end");
  EXPECT_EQ(error("Rational(1, 0)"), "1: the rational 1/0 has no value");
  EXPECT_EQ(error("Float('1.5.2', precision=53)"), "7: `1.5.2` is not a number");
  EXPECT_EQ(error("Float('inf', precision=53)"), "7: `inf` is not a number");
  EXPECT_EQ(error("Float('0.5', precision=24)"),
            "24: a float of 24 bits is not a double, which has 53");
}

TEST_F(ParseTest, NumbersOutOfRangeAreErrors) {
  EXPECT_EQ(error("Integer(99999999999999999999)"),
            "9: the integer 99999999999999999999 is out of the range of int64");
  EXPECT_EQ(error("1e999"), "1: the number 1e999 is out of the range of double");
  EXPECT_EQ(error("Pow(Integer(10), Integer(100))"),
            "1: a power of integers is out of the range of int64");
  EXPECT_EQ(error("9223372036854775807 + 1"), "21: a sum of integers is out of the range of int64");
  EXPECT_THAT(error(std::string(1000000, '9')), testing::HasSubstr("out of the range"));
}

TEST_F(ParseTest, AConflictOfAssumptionsIsAnError) {
  EXPECT_THAT(error("Symbol('s0', integer=True)"), testing::HasSubstr("is spelled both"));
}

TEST_F(ParseTest, DeepNestingNeedsNoStack) {
  const std::string open(100000, '(');
  const std::string close(100000, ')');
  EXPECT_EQ(c.parse(open + "s0" + close), s0);
  EXPECT_THAT(error(open), testing::HasSubstr("expected an expression"));
  std::string calls;
  for (int i = 0; i < 100000; ++i) calls += "PythonMod(";
  calls += "s0";
  for (int i = 0; i < 100000; ++i) calls += ", 3)";
  const SymExpr deep = c.parse(calls);
  EXPECT_EQ(c.parse(c.srepr(deep)), deep);
  EXPECT_EQ(c.range(deep), (Range{0, 2}));
  EXPECT_TRUE(c.evaluate(deep, [](SymExpr) { return std::optional<SymValue>(std::int64_t{7}); }));
  c.simplify(deep);
  EXPECT_EQ(c.parse(std::string(100000, '-') + "s0"), s0);
}

TEST_F(ParseTest, ManyTermsReadInOneGo) {
  std::string call = "Add(Integer(0)";
  std::string plain = "0";
  for (int i = 0; i < 300000; ++i) {
    const std::string name = fmt::format("t{}", i);
    call += fmt::format(", Symbol('{}', integer=True)", name);
    plain += (i % 2 == 0 ? " + " : " - ") + name;
  }
  const SymExpr sum = c.parse(call + ")");
  EXPECT_EQ(c.operands(sum).size(), 300000U);
  EXPECT_EQ(c.operands(c.parse(plain)).size(), 300000U);
  EXPECT_EQ(c.parse(c.str(sum)), sum);
}

TEST_F(ParseTest, NestedCallsOfAddCostNoMoreThanOne) {
  std::string nested;
  for (int i = 0; i < 100000; ++i) nested += fmt::format("Add(t{}, ", i);
  nested += "s0" + std::string(100000, ')');
  const SymExpr sum = c.parse(nested, {.declare_as = SymbolAssumptions::any_integer()});
  EXPECT_EQ(c.operands(sum).size(), 100001U);
}

TEST_F(ParseTest, WhatGrowsTooLargeIsRefused) {
  // Each level multiplies all that is inside by -1.
  std::string nested;
  for (int i = 0; i < 50000; ++i) nested += fmt::format("t{} - (", i);
  nested += "s0" + std::string(50000, ')');
  try {
    c.parse(nested, {.declare_as = SymbolAssumptions::any_integer()});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.diagnostic().message, "the expression grows too large when it is simplified");
  }
}

TEST_F(ParseTest, LongTextsAreQuotedInPart) {
  try {
    c.parse(std::string(1000, ' ') + "$");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_TRUE(error.diagnostic().where.source_text.empty());
    EXPECT_EQ(error.diagnostic().where.column, 1001);
    EXPECT_LT(std::string(error.what()).size(), 400U);
  }
}

}  // namespace
}  // namespace winze
