// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/shape/shape_test.h"

namespace winze {
namespace {

using ::testing::ElementsAre;

TEST(LinalgCompositeRules, PseudoInversesAreTransposed) {
  EXPECT_EQ(inferred("%x: input f32[2, s0, 3]", "aten.linalg_pinv.default(%x, 0.1)"),
            "f32[2, 3, s0]");
}

TEST(LinalgCompositeRules, PowersAskForSquares) {
  const Inferred result = infer("%x: input f32[s0, s1]", "aten.matrix_power.default(%x, 2)");
  EXPECT_EQ(result.text, "f32[s0, s1]");
  EXPECT_THAT(result.constraints, ElementsAre("Eq(s0, s1)"));
}

TEST(LinalgCompositeRules, CovariancesOfOneVariableAreANumber) {
  EXPECT_EQ(inferred("%x: input f32[1, 5]", "aten.cov.default(%x)"), "f32[]");
  EXPECT_EQ(inferred("%x: input i64[s0, 5]", "aten.cov.default(%x)"), "f32[s0, s0]");
}

}  // namespace
}  // namespace winze
