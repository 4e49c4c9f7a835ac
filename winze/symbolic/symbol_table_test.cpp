// SPDX-License-Identifier: Apache-2.0
#include "winze/symbolic/symbol_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winze {
namespace {

TEST(SymbolTableTest, AssumptionsPrintAsPyTorchWritesThem) {
  EXPECT_EQ(SymbolAssumptions::positive_integer().str(), "positive=True, integer=True");
  EXPECT_EQ(SymbolAssumptions::any_integer().str(), "integer=True");
  EXPECT_EQ(SymbolAssumptions().with(Assumption::real, false).str(), "real=False");
  EXPECT_EQ(SymbolAssumptions().str(), "");
}

TEST(SymbolTableTest, OneSpellingIsOneSymbol) {
  SymbolTable table;
  const auto first = table.declare("s0", SymbolAssumptions::positive_integer());
  EXPECT_EQ(table.declare("s0", SymbolAssumptions::positive_integer()), first);
  EXPECT_NE(table.declare("s1", SymbolAssumptions::positive_integer()), first);
  EXPECT_EQ(table.size(), 2U);
}

TEST(SymbolTableTest, TwoSpellingsOfOneNameAreAnError) {
  SymbolTable table;
  table.declare("s0", SymbolAssumptions::positive_integer());
  try {
    table.declare("s0", SymbolAssumptions::any_integer());
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.diagnostic().message,
              "the symbol `s0` is spelled both Symbol('s0', positive=True, integer=True) and "
              "Symbol('s0', integer=True), which are different symbols to sympy");
    EXPECT_EQ(error.diagnostic().hint, "give every occurrence of it the same assumptions");
  }
}

TEST(SymbolTableTest, AssumptionsGiveARange) {
  EXPECT_EQ(SymbolAssumptions::positive_integer().range(), Range::at_least(1));
  EXPECT_EQ(SymbolAssumptions::any_integer().range(), Range::all());
  EXPECT_EQ(SymbolAssumptions().with(Assumption::nonnegative).range(), Range::at_least(0));
  // A positive float may be smaller than 1.
  EXPECT_EQ(SymbolAssumptions().with(Assumption::positive).with(Assumption::real).range(),
            Range::at_least(0));
}

TEST(SymbolTableTest, KindFollowsFromAssumptionsAndName) {
  EXPECT_EQ(symbol_kind("s0", SymbolAssumptions()), SymKind::int_kind);
  EXPECT_EQ(symbol_kind("zuf0", SymbolAssumptions()), SymKind::float_kind);
  EXPECT_EQ(symbol_kind("x", SymbolAssumptions().with(Assumption::real)), SymKind::float_kind);
  EXPECT_EQ(symbol_kind("zf0", SymbolAssumptions::any_integer()), SymKind::int_kind);
}

TEST(SymbolTableTest, EveryAssumptionHasItsName) {
  for (unsigned i = 0; i < static_cast<unsigned>(Assumption::count); ++i) {
    const auto assumption = static_cast<Assumption>(i);
    EXPECT_EQ(find_assumption(assumption_name(assumption)), assumption);
  }
  EXPECT_EQ(find_assumption("tall"), std::nullopt);
}

}  // namespace
}  // namespace winze
