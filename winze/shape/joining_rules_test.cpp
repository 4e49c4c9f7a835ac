// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/shape/shape_test.h"

namespace winze {
namespace {

using testing::HasSubstr;

TEST(JoiningRules, CatAddsSizesAndPromotes) {
  EXPECT_EQ(inferred("%x: input f16[2, s0], %y: input f32[2, 3]", "aten.cat.default([%x, %y], 1)"),
            "f32[2, s0 + 3]");
}

TEST(JoiningRules, CatPassesOverNothing) {
  EXPECT_EQ(inferred("%x: input f32[0], %y: input f32[2, 3]", "aten.cat.default([%x, %y], 1)"),
            "f32[2, 3]");
}

TEST(JoiningRules, CatKeepsAFormatThatAllHave) {
  EXPECT_EQ(
      inferred("%x: input f32[1, 2, 3, 3] strides [18, 1, 6, 2]", "aten.cat.default([%x, %x])"),
      "f32[2, 2, 3, 3] strides [18, 1, 6, 2]");
}

TEST(JoiningRules, CatRefusesOtherSizesThatDiffer) {
  EXPECT_THAT(refusal("%x: input f32[2, 3], %y: input f32[2, 4]", "aten.cat.default([%x, %y])"),
              HasSubstr("Sizes of tensors must match except in dimension 0. Expected 3 but got 4"));
}

TEST(JoiningRules, StackAddsADimension) {
  EXPECT_EQ(inferred("%x: input f32[2, 3]", "aten.stack.default([%x, %x], 1)"), "f32[2, 2, 3]");
}

TEST(JoiningRules, RepeatAddsDimensionsInFront) {
  EXPECT_EQ(inferred("%x: input f32[s0]", "aten.repeat.default(%x, [2, 3])"), "f32[2, 3*s0]");
}

TEST(JoiningRules, PaddingMayCut) {
  EXPECT_EQ(inferred("%x: input f32[4, 5]", "aten.constant_pad_nd.default(%x, [1, -2])"),
            "f32[4, 4]");
  EXPECT_EQ(refusal("%x: input f32[1]", "aten.constant_pad_nd.default(%x, [-1, -1])"),
            "padding leaves a negative size -1");
}

TEST(JoiningRules, PixelShuffleTradesChannelsForPixels) {
  EXPECT_EQ(inferred("%x: input f32[s0, 8, 3, 3]", "aten.pixel_shuffle.default(%x, 2)"),
            "f32[s0, 2, 6, 6]");
  EXPECT_EQ(refusal("%x: input f32[1, 6, 3, 3]", "aten.pixel_shuffle.default(%x, 2)"),
            "pixel_shuffle expects a size to be divisible by 4, but it is 6");
}

}  // namespace
}  // namespace winze
