// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/shape/shape_test.h"

namespace winze {
namespace {

using testing::HasSubstr;

TEST(SymbolicRules, SizesAreValues) {
  EXPECT_EQ(inferred("%x: input f32[s0, 4]", "aten.sym_size.int(%x, 0)"), "int = s0");
  EXPECT_EQ(inferred("%x: input f32[s0, 4]", "aten.sym_numel.default(%x)"), "int = 4*s0");
}

TEST(SymbolicRules, ArithmeticOnSizes) {
  EXPECT_EQ(inferred("%a: input int = s0", "_operator.add(%a, 3)"), "int = (s0 + 3)");
  EXPECT_EQ(inferred("%a: input int = s0", "_operator.floordiv(%a, 2)"), "int = s0//2");
  EXPECT_EQ(inferred("%a: input int = s0, %b: input int = s1", "torch.sym_max(%a, %b)"),
            "int = Max(s0, s1)");
}

TEST(SymbolicRules, Comparisons) {
  EXPECT_EQ(inferred("%a: input int = s0, %b: input int = s1", "_operator.lt(%a, %b)"),
            "bool = (s0 < s1)");
}

TEST(SymbolicRules, AChoiceIsAPiecewise) {
  EXPECT_EQ(inferred("%p: input bool = (s0 < 7)", "torch.sym_ite(%p, 1, 2)"),
            "int = Piecewise((1, s0 < 7), (2, True))");
}

TEST(SymbolicRules, UnknownNumbersCannotBeInferred) {
  EXPECT_THAT(inferred("%a: input int", "_operator.add(%a, 3)"),
              HasSubstr("given a number whose value is not known"));
}

}  // namespace
}  // namespace winze
