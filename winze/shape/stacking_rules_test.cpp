// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "winze/shape/shape_test.h"

namespace winze {
namespace {

TEST(StackingRules, DimensionsAreAddedBeforeTensorsAreJoined) {
  EXPECT_EQ(inferred("%a: input f32[3], %b: input f32[3]", "aten.vstack.default([%a, %b])"),
            "f32[2, 3]");
  EXPECT_EQ(inferred("%a: input f32[3], %b: input f32[4]", "aten.hstack.default([%a, %b])"),
            "f32[7]");
  EXPECT_EQ(inferred("%a: input f32[3], %b: input f32[3]", "aten.column_stack.default([%a, %b])"),
            "f32[3, 2]");
  EXPECT_EQ(inferred("%a: input f32[3]", "aten.atleast_3d.default(%a)"), "f32[1, 3, 1]");
}

TEST(StackingRules, DiagonalsMakeMatrices) {
  EXPECT_EQ(inferred("%a: input f32[2, 3]", "aten.diag_embed.default(%a, 1)"), "f32[2, 4, 4]");
  EXPECT_EQ(inferred("%a: input f32[3, 5]", "aten.diag.default(%a, -1)"), "f32[2]");
  EXPECT_EQ(refusal("%a: input f32[3]", "aten.diag_embed.default(%a, 0, 0, 0)"),
            "diagonal dimensions cannot be identical 0, 0");
}

TEST(StackingRules, DifferencesShortenADimension) {
  EXPECT_EQ(inferred("%a: input f32[2, s0]", "aten.diff.default(%a, 2)"),
            "f32[2, s0 - 2] strides [Max(1, s0 - 2), 1]");
  EXPECT_EQ(refusal("%a: input f32[]", "aten.diff.default(%a)"),
            "diff expects input to be at least one-dimensional");
  EXPECT_EQ(refusal("%a: input f32[3]", "aten.diff.default(%a, -1)"),
            "order must be non-negative but got -1");
}

TEST(StackingRules, QuarterTurnsAreViewsOfFlips) {
  EXPECT_EQ(inferred("%a: input f32[2, 3]", "aten.rot90.default(%a)"), "f32[3, 2] strides [1, 3]");
  EXPECT_EQ(refusal("%a: input f32[2, 3]", "aten.rot90.default(%a, 1, [0, 0])"),
            "expected rotation dims to be different, but got dim0 = 0 and dim1 = 0");
}

}  // namespace
}  // namespace winze
