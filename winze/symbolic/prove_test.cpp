// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include <gtest/gtest.h>

#include "winze/symbolic/symbolic_context.h"

namespace winze {

// NOLINTNEXTLINE(readability-identifier-naming): the name that GoogleTest looks for
void PrintTo(Proof proof, std::ostream* out) {
  *out << (proof == Proof::yes ? "yes" : proof == Proof::no ? "no" : "unknown");
}

namespace {

class ProveTest : public testing::Test {
 protected:
  ProveTest() {
    c.set_range(n, {2, 64});
    c.set_range(u, {0, Range::infinity});
  }
  Proof eq(std::string_view a, std::string_view b) { return c.prove_eq(c.parse(a), c.parse(b)); }
  Proof le(std::string_view a, std::string_view b) { return c.prove_le(c.parse(a), c.parse(b)); }
  Proof lt(std::string_view a, std::string_view b) { return c.prove_lt(c.parse(a), c.parse(b)); }
  Proof holds(std::string_view text) { return c.prove(c.parse(text)); }
  Proof divisible(std::string_view a, std::string_view k) {
    return c.prove_divisible(c.parse(a), c.parse(k));
  }

  SymbolicContext c;
  SymExpr n = c.symbol("n");
  SymExpr m = c.symbol("m");
  SymExpr u = c.symbol("u", SymbolAssumptions::any_integer());
  SymExpr v = c.symbol("v", SymbolAssumptions::any_integer());
};

TEST_F(ProveTest, EqualityOfPolynomialsInAnyForm) {
  EXPECT_EQ(eq("n*(m + 1)", "n*m + n"), Proof::yes);
  EXPECT_EQ(eq("(n + m)**2", "n**2 + 2*n*m + m**2"), Proof::yes);
  EXPECT_EQ(eq("n + 1", "n + 2"), Proof::no);
  EXPECT_EQ(eq("n", "m"), Proof::unknown);
}

TEST_F(ProveTest, EqualityThroughRanges) {
  EXPECT_EQ(eq("n", "100"), Proof::no);
  EXPECT_EQ(eq("Max(1, n)", "n"), Proof::yes);
  EXPECT_EQ(eq("Max(1, u)", "u"), Proof::unknown);
  EXPECT_EQ(eq("Mod(n, 65)", "n"), Proof::yes);
  EXPECT_EQ(eq("n//65", "0"), Proof::yes);
}

TEST_F(ProveTest, PowersWithNegativeSymbolsInTheExponentAreNoIntegers) {
  EXPECT_EQ(eq("3*n//n**n", "3*n*n**(-n)"), Proof::unknown);
  EXPECT_EQ(divisible("3*n//n**n", "3"), Proof::unknown);
  EXPECT_EQ(c.str(c.simplify(c.parse("3*n//n**n"))), "3*n//n**n");
}

TEST_F(ProveTest, EqualityThroughDivisibility) {
  EXPECT_EQ(eq("2*v", "4*n + 1"), Proof::no);
  EXPECT_EQ(eq("2*v", "4*n"), Proof::unknown);
}

TEST_F(ProveTest, WhatIsPaddedToAMultipleIsOne) {
  EXPECT_EQ(divisible("n + PythonMod(-n, 8)", "8"), Proof::yes);
  EXPECT_EQ(divisible("n + PythonMod(-PythonMod(n, 8) + 8, 8)", "8"), Proof::yes);
  EXPECT_EQ(divisible("n + PythonMod(-n, 12)", "8"), Proof::unknown);
  EXPECT_EQ(divisible("n + 3*PythonMod(-n, 8)", "8"), Proof::unknown);
  EXPECT_EQ(le("1", "(n + PythonMod(-n, 8))//8"), Proof::yes);
  EXPECT_EQ(le("1", "(u + PythonMod(-u, 8))//8"), Proof::unknown);
  EXPECT_EQ(divisible("n + PythonMod(-n, 8)", "(n + PythonMod(-n, 8))//8"), Proof::yes);
  EXPECT_EQ(eq("(n + PythonMod(-n, 8))//((n + PythonMod(-n, 8))//8)", "8"), Proof::yes);
  EXPECT_EQ(eq("(n + 1)//((n + 1)//8)", "8"), Proof::unknown);
}

TEST_F(ProveTest, QuotientAndRemainderMakeTheWhole) {
  EXPECT_EQ(eq("4*(v//4) + PythonMod(v, 4)", "v"), Proof::yes);
  EXPECT_EQ(eq("m*(v//m) + PythonMod(v, m)", "v"), Proof::yes);
  EXPECT_EQ(eq("(n*m + m)//m", "n + 1"), Proof::yes);
  EXPECT_EQ(eq("(v + 7)//2", "(v + 1)//2 + 3"), Proof::yes);
}

TEST_F(ProveTest, OrderThroughRanges) {
  EXPECT_EQ(le("n", "64"), Proof::yes);
  EXPECT_EQ(lt("64", "n"), Proof::no);
  EXPECT_EQ(lt("n", "64"), Proof::unknown);
  EXPECT_EQ(le("n", "n + u"), Proof::yes);
  EXPECT_EQ(lt("n + u", "n"), Proof::no);
}

TEST_F(ProveTest, OrderOfPolynomials) {
  EXPECT_EQ(le("n", "n*m"), Proof::yes);
  EXPECT_EQ(le("n + m", "n*m + 1"), Proof::yes);
  EXPECT_EQ(lt("m", "n*m"), Proof::yes);
  EXPECT_EQ(lt("n*m", "m**2"), Proof::unknown);
}

TEST_F(ProveTest, OrderOfQuotients) {
  EXPECT_EQ(le("4*(v//4)", "v"), Proof::yes);
  EXPECT_EQ(lt("v", "4*(v//4) + 4"), Proof::yes);
  EXPECT_EQ(le("n//2 + 1", "n"), Proof::yes);
  EXPECT_EQ(le("m*(u//m)", "u"), Proof::yes);
  EXPECT_EQ(le("v//4", "v"), Proof::unknown);
}

TEST_F(ProveTest, OrderOfExtremes) {
  EXPECT_EQ(le("v", "Max(v, m)"), Proof::yes);
  EXPECT_EQ(le("Min(v, m)", "v"), Proof::yes);
  EXPECT_EQ(le("Max(u, n)", "u + n"), Proof::yes);
  EXPECT_EQ(lt("Max(v, m)", "v"), Proof::no);
  // The last of `u`, if there is one.
  EXPECT_EQ(le("u - Max(0, u - 1)", "Max(0, u - Max(0, u - 1))"), Proof::yes);
  EXPECT_EQ(le("Max(0, u - Max(0, u - 1))", "u - Max(0, u - 1)"), Proof::yes);
}

TEST_F(ProveTest, Conditions) {
  EXPECT_EQ(holds("(n >= 2) & (u >= 0)"), Proof::yes);
  EXPECT_EQ(holds("(n > 64) | (u < 0)"), Proof::no);
  EXPECT_EQ(holds("(n < 50) | Eq(2*v, 2*n + 1)"), Proof::unknown);
  EXPECT_EQ(holds("~Eq(n*(m + 1), n*m + n)"), Proof::no);
  EXPECT_EQ(holds("True"), Proof::yes);
  EXPECT_THROW(holds("n"), Error);
}

TEST_F(ProveTest, Divisibility) {
  EXPECT_EQ(divisible("4*n + 8", "4"), Proof::yes);
  EXPECT_EQ(divisible("4*n + 2", "4"), Proof::no);
  EXPECT_EQ(divisible("n", "4"), Proof::unknown);
  EXPECT_EQ(divisible("n*m + n", "n"), Proof::yes);
  EXPECT_EQ(divisible("n*(m + 1)", "m + 1"), Proof::yes);
  EXPECT_EQ(divisible("4*(v//4)", "4"), Proof::yes);
  EXPECT_EQ(divisible("n", "0"), Proof::unknown);
  EXPECT_EQ(divisible("n", "65"), Proof::no);
  EXPECT_EQ(divisible("7", "1"), Proof::yes);
}

TEST_F(ProveTest, FloatsAreProvedFromRangesAlone) {
  EXPECT_EQ(eq("ToFloat(n)", "ToFloat(n)"), Proof::yes);
  EXPECT_EQ(lt("ToFloat(n)", "0.5"), Proof::no);
  EXPECT_EQ(eq("ToFloat(n) + 1", "ToFloat(n)"), Proof::unknown);
}

TEST_F(ProveTest, WhatCannotBeComputedIsUnknown) {
  EXPECT_EQ(eq("9223372036854775807*n", "v - 9223372036854775807*n"), Proof::unknown);
  EXPECT_EQ(le("n**30", "v"), Proof::unknown);
}

TEST_F(ProveTest, ABigProductTakesBoundedTime) {
  SymExpr product = 1;
  for (int i = 0; i < 60; ++i) {
    product = c.mul(product, c.add(c.symbol(fmt::format("a{}", i)), 1));
  }
  EXPECT_EQ(c.prove_eq(product, m), Proof::unknown);
  EXPECT_EQ(c.prove_le(1, product), Proof::yes);
}

}  // namespace
}  // namespace winze
