// SPDX-License-Identifier: Apache-2.0
#include "winze/symbolic/text_format.h"

#include <limits>

#include <gtest/gtest.h>

namespace winze {
namespace {

class TextFormatTest : public testing::Test {
 protected:
  /// The plain form, after a check that both forms read back to the same expression.
  std::string plain(std::string_view text) {
    const SymExpr expr = c.parse(text);
    EXPECT_EQ(c.parse(c.str(expr)), expr) << c.str(expr);
    EXPECT_EQ(c.parse(c.srepr(expr)), expr) << c.srepr(expr);
    return c.str(expr);
  }
  std::string srepr(std::string_view text) { return c.srepr(c.parse(text)); }

  SymbolicContext c;
  SymExpr s0 = c.symbol("s0");
  SymExpr s1 = c.symbol("s1");
  SymExpr u0 = c.symbol("u0", SymbolAssumptions::any_integer());
};

TEST_F(TextFormatTest, SumsReadAsPolynomials) {
  EXPECT_EQ(plain("1 + 2*s0"), "2*s0 + 1");
  EXPECT_EQ(plain("s0 + s0**2 + s0*s1 - 3"), "s0**2 + s0*s1 + s0 - 3");
  EXPECT_EQ(plain("-s0 - 2*s1"), "-s0 - 2*s1");
  EXPECT_EQ(plain("s0/2 - s1/3"), "1/2*s0 - 1/3*s1");
}

TEST_F(TextFormatTest, ParenthesesOnlyWhereNeeded) {
  EXPECT_EQ(plain("s0//2"), "s0//2");
  EXPECT_EQ(plain("(s0 + 1)//2"), "(s0 + 1)//2");
  EXPECT_EQ(plain("s0*(s1//2)"), "s0*(s1//2)");
  EXPECT_EQ(plain("(3*s0)//2"), "3*s0//2");
  EXPECT_EQ(plain("s0//(s1*2)"), "s0//(2*s1)");
  EXPECT_EQ(plain("s0//(s0//2)"), "s0//(s0//2)");
  EXPECT_EQ(plain("(s0 + 1)**2"), "(s0 + 1)**2");
  EXPECT_EQ(plain("(-2)**s0"), "(-2)**s0");
  EXPECT_EQ(plain("s0**(-1)"), "s0**(-1)");
  EXPECT_EQ(plain("s0**s1**u0"), "s0**(s1**u0)");
  EXPECT_EQ(plain("(u0//2)//(-3)"), "u0//2//-3");
}

TEST_F(TextFormatTest, ProductsOfSumsKeepTheirForm) {
  EXPECT_EQ(plain("Mul(3, s1, Add(s0, 2))"), "3*s1*(s0 + 2)");
  EXPECT_EQ(plain("Mul(3, Add(s1, 1), Add(s0, 2))"), "3*((s0 + 2)*(s1 + 1))");
  EXPECT_EQ(plain("Mul(-1, Add(s1, 1), Add(s0, 2))"), "-((s0 + 2)*(s1 + 1))");
  EXPECT_EQ(plain("s0 - (s0 + 2)*(s1 + 1)"), "s0 - (s0 + 2)*(s1 + 1)");
  EXPECT_EQ(plain("Mul(Add(s1, 1), Add(s0, 2))"), "(s0 + 2)*(s1 + 1)");
  EXPECT_EQ(plain("-s0*(s1 + 1)"), "-s0*(s1 + 1)");
  EXPECT_EQ(plain("3*(s1 + 1)*(s0 + 2)"), "(s0 + 2)*(3*s1 + 3)");
}

TEST_F(TextFormatTest, Conditions) {
  EXPECT_EQ(plain("3 > s0"), "s0 < 3");
  EXPECT_EQ(plain("Eq(2, s0)"), "Eq(s0, 2)");
  EXPECT_EQ(plain("(s0 < 3) & (s1 > 2) | Ne(s0, s1)"), "Ne(s0, s1) | (s0 < 3) & (s1 > 2)");
  EXPECT_EQ(plain("~((s0 < 3) & (s1 > 2))"), "~((s0 < 3) & (s1 > 2))");
  EXPECT_EQ(plain("s0 < 3 + s1"), "s0 < s1 + 3");
  EXPECT_EQ(plain("True"), "True");
}

TEST_F(TextFormatTest, Functions) {
  EXPECT_EQ(plain("Max(s0, 1)"), "Max(1, s0)");
  EXPECT_EQ(plain("Mod(s0, 2)"), "Mod(s0, 2)");
  EXPECT_EQ(plain("Piecewise((s0, s0 < 3), (1, True))"), "Piecewise((s0, s0 < 3), (1, True))");
  EXPECT_EQ(plain("OpaqueUnaryFn_sqrt(s0)*0.5"), "0.5*OpaqueUnaryFn_sqrt(s0)");
}

TEST_F(TextFormatTest, SympysOwnFunctionsAreThoseOfPyTorch) {
  EXPECT_EQ(plain("exp(s0) + log(s0)*sin(2)"),
            plain("OpaqueUnaryFn_exp(s0) + OpaqueUnaryFn_log(s0)*OpaqueUnaryFn_sin(2)"));
  EXPECT_EQ(plain("asinh(s0)"), "OpaqueUnaryFn_asinh(s0)");
}

TEST_F(TextFormatTest, SreprIsThatOfPyTorch) {
  EXPECT_EQ(srepr("2*s0 + 1"),
            "Add(Mul(Integer(2), Symbol('s0', positive=True, integer=True)), Integer(1))");
  EXPECT_EQ(srepr("u0 >= 1"), "GreaterThan(Symbol('u0', integer=True), Integer(1))");
  EXPECT_EQ(srepr("u0 < s0"),
            "StrictLessThan(Symbol('u0', integer=True), "
            "Symbol('s0', positive=True, integer=True))");
  EXPECT_EQ(srepr("FloatPow(ToFloat(u0), 0.5)"),
            "FloatPow(ToFloat(Symbol('u0', integer=True)), Float('0.5', precision=53))");
  EXPECT_EQ(srepr("1/2"), "Rational(1, 2)");
  EXPECT_EQ(srepr("Piecewise((u0, True))"), "Symbol('u0', integer=True)");
}

TEST_F(TextFormatTest, NumbersAtTheEdge) {
  EXPECT_EQ(plain("-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(plain("s0 + -9223372036854775808*s1"), "s0 + -9223372036854775808*s1");
  EXPECT_EQ(plain("int_oo"), "int_oo");
  EXPECT_EQ(plain("-int_oo"), "-int_oo");
  EXPECT_EQ(plain("-oo"), "-oo");
  EXPECT_EQ(plain("zoo"), "zoo");
  EXPECT_EQ(plain("nan"), "nan");
  EXPECT_EQ(plain("Max(-int_oo, u0)"), "Max(-int_oo, u0)");
}

TEST_F(TextFormatTest, FloatsAreShortestAndNeverIntegers) {
  EXPECT_EQ(float_text(2), "2.0");
  EXPECT_EQ(float_text(0.1), "0.1");
  EXPECT_EQ(float_text(1e300), "1e+300");
  EXPECT_EQ(plain("2.0 + ToFloat(s0)"), "ToFloat(s0) + 2.0");
}

TEST_F(TextFormatTest, NamesThatPlainTextCannotSpellAreQuoted) {
  EXPECT_EQ(plain("Symbol('a b', integer=True) + 1"), "Symbol('a b', integer=True) + 1");
  EXPECT_EQ(plain(R"(Symbol('it\'s', integer=True))"), R"(Symbol('it\'s', integer=True))");
  EXPECT_EQ(plain("Symbol('oo', integer=True)"), "Symbol('oo', integer=True)");
}

TEST_F(TextFormatTest, TextIsCutWhereAsked) {
  SymExpr deep = s0;  // as a text it would be longer than any memory
  for (int i = 0; i < 200; ++i) deep = c.max(c.python_mod(deep, 100), c.floor_div(deep, -3));
  EXPECT_LT(print_expression(c, deep, SymTextStyle::plain, 100).size(), 200U);
}

}  // namespace
}  // namespace winze
