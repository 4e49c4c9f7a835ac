// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/shape/shape_test.h"

namespace winze {
namespace {

using testing::HasSubstr;

TEST(FactoryRules, ArangeCountsIntsExactly) {
  EXPECT_EQ(inferred("", "aten.arange.default(5)"), "i64[5]");
  EXPECT_EQ(inferred("", "aten.arange.start_step(10, 0, -3)"), "i64[4]");
  EXPECT_EQ(inferred("", "aten.arange.start_step(0.0, 1.0, 0.3)"), "f32[4]");
}

TEST(FactoryRules, ArangeRefusesAStepTheOtherWay) {
  EXPECT_EQ(refusal("", "aten.arange.start_step(0, 5, -1)"),
            "upper bound and lower bound inconsistent with step sign");
}

TEST(FactoryRules, FullTakesTheDtypeOfItsNumber) {
  EXPECT_EQ(inferred("", "aten.full.default([2], 1)"), "i64[2]");
  EXPECT_EQ(inferred("", "aten.full.default([2], True)"), "b8[2]");
  EXPECT_EQ(inferred("", "aten.full.default([2], 1.5, dtype=f16)"), "f16[2]");
}

TEST(FactoryRules, SizesAreNotNegative) {
  EXPECT_EQ(refusal("", "aten.zeros.default([-1])"),
            "Trying to create tensor with negative dimension -1");
}

TEST(FactoryRules, LikeKeepsDenseStridesOnly) {
  EXPECT_EQ(inferred("%x: input f32[2, 3] strides [1, 2]", "aten.zeros_like.default(%x)"),
            "f32[2, 3] strides [1, 2]");
  EXPECT_EQ(inferred("%x: input f32[2, 3] strides [6, 2]", "aten.zeros_like.default(%x)"),
            "f32[2, 3]");
}

// The strides are those that torch.empty_strided(sizes, strides).clone() has.
TEST(FactoryRules, CloneClosesGapsInTheOrderOfDimensions) {
  const auto clone = [](const std::string& type) {
    return inferred("%x: input " + type, "aten.clone.default(%x)");
  };
  EXPECT_EQ(clone("f32[2, 3] strides [3, 1] offset [5]"), "f32[2, 3]");
  EXPECT_EQ(clone("f32[2, 3] strides [1, 4]"), "f32[2, 3] strides [1, 2]");
  EXPECT_EQ(clone("f32[2, 3] strides [0, 1]"), "f32[2, 3]");
  EXPECT_EQ(clone("f32[2, 3] strides [1, 0]"), "f32[2, 3]");
  EXPECT_EQ(clone("f32[2, 3, 4] strides [1, 20, 4]"), "f32[2, 3, 4] strides [1, 8, 2]");
  EXPECT_EQ(clone("f32[2, 3, 4] strides [1, 0, 2]"), "f32[2, 3, 4] strides [1, 2, 6]");
  EXPECT_EQ(clone("f32[3, 1, 4] strides [4, 9, 1]"), "f32[3, 1, 4] strides [4, 9, 1]");
  EXPECT_EQ(clone("f32[0, 3] strides [7, 2]"), "f32[0, 3] strides [7, 2]");
  EXPECT_EQ(clone("f32[s0, 3]"), "f32[s0, 3]");
}

TEST(FactoryRules, CloneKeepsALayoutThatIsNotStrided) {
  EXPECT_EQ(inferred("%x: input f32[2, 3] layout sparse_coo", "aten.clone.default(%x)"),
            "f32[2, 3] layout sparse_coo");
}

TEST(FactoryRules, ContiguousIsTheTensorItselfWhereItIs) {
  EXPECT_EQ(inferred("%x: input f32[2] offset [3]", "aten.contiguous.default(%x)"),
            "f32[2] offset [3]");
  EXPECT_EQ(inferred("%x: input f32[2] strides [2] offset [3]", "aten.contiguous.default(%x)"),
            "f32[2]");
}

TEST(FactoryRules, ToChangesNothingWhereThereIsNothingToChange) {
  EXPECT_EQ(inferred("%x: input f32[2] strides [2]", "aten.to.dtype(%x, f32)"),
            "f32[2] strides [2]");
  EXPECT_EQ(inferred("%x: input f32[2] strides [2]", "aten.to.dtype(%x, f64)"), "f64[2]");
}

TEST(FactoryRules, LayoutsOtherThanStridedAreLeftAlone) {
  EXPECT_THAT(inferred("", "aten.zeros.default([2], layout=sparse_coo)"),
              HasSubstr("makes a tensor that is not strided"));
}

TEST(FactoryRules, DropoutInEvaluation) {
  EXPECT_EQ(inferred("%x: input f32[3, 4] strides [5, 1] offset [1]",
                     "aten.dropout.default(%x, 0.5, False)"),
            "f32[3, 4]");
  EXPECT_EQ(inferred("%x: input f32[4, 3] strides [1, 4]", "aten.dropout.default(%x, 0.0, True)"),
            "f32[4, 3] strides [1, 4]");
  EXPECT_EQ(inferred("%x: input f32[3, 4] strides [5, 1] offset [1]",
                     "aten.alpha_dropout.default(%x, 0.5, False)"),
            "f32[3, 4] strides [5, 1] offset [1]");
}

TEST(FactoryRules, NormalNumbersAreFloats) {
  EXPECT_EQ(refusal("%x: input i64[3]", "aten.randn_like.default(%x)"),
            "expected a floating-point or complex dtype, but got dtype=int64");
}

TEST(FactoryRules, ChannelsLastStridesOfNoElementsAreZero) {
  EXPECT_EQ(inferred("%x: input f32[2, 4, 3, 0]",
                     "aten.empty_like.default(%x, memory_format=channels_last)"),
            "f32[2, 4, 3, 0] strides [0, 1, 0, 4]");
}

}  // namespace
}  // namespace winze
