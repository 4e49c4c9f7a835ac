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

TEST(JoiningRules, RepeatsByATensorAreCountedByData) {
  EXPECT_EQ(inferred("%n: input i64[s0]", "aten.repeat_interleave.Tensor(%n)"), "i64[u4]");
  EXPECT_EQ(inferred("%n: input i64[s0]", "aten.repeat_interleave.Tensor(%n, output_size=7)"),
            "i64[7]");
  EXPECT_EQ(inferred("%x: input f32[3, s0] strides [1, 3], %n: input i64[s0]",
                     "aten.repeat_interleave.self_Tensor(%x, %n, 1)"),
            "f32[3, u4]");
  EXPECT_EQ(inferred("%x: input f32[3, s0], %n: input i64[]",
                     "aten.repeat_interleave.self_Tensor(%x, %n, output_size=5)"),
            "f32[5]");
  EXPECT_EQ(refusal("%x: input f32[3, 4], %n: input i64[3]",
                    "aten.repeat_interleave.self_Tensor(%x, %n, 1)"),
            "repeats must have the same size as input along dim, but got repeats.size(0) = 3 and "
            "input.size(1) = 4");
}

TEST(JoiningRules, ChunksArePaddedAndJoined) {
  EXPECT_EQ(inferred("%a: input f32[5, 3], %b: input f32[2, 2]",
                     "aten._chunk_cat.default([%a, %b], 0, 2)"),
            "f32[2, 11]");
  EXPECT_EQ(refusal("%a: input f32[5, 3], %b: input f32[2, 2]",
                    "aten._chunk_cat.default([%a, %b], 1, 2)"),
            "_chunk_cat expects same sizes of 0,...,dim-1 dimensions for all tensors");
  EXPECT_EQ(
      refusal("%a: input f32[0], %b: input f32[3]", "aten._chunk_cat.default([%a, %b], 0, 1)"),
      "_chunk_cat expects non-empty tensor");
}

TEST(JoiningRules, TensorsAreFlattenedIntoOneAndBack) {
  EXPECT_EQ(inferred("%a: input f32[s0, 3], %b: input f32[4]",
                     "aten.flatten_dense_tensors.default([%a, %b])"),
            "f32[3*s0 + 4]");
  EXPECT_EQ(inferred("%f: input f32[27], %a: input f32[4, 6], %b: input f32[3]",
                     "aten.unflatten_dense_tensors.default(%f, [%a, %b])", "[%x, %y]"),
            "f32[4, 6], f32[3] offset [24]");
  EXPECT_EQ(refusal("%f: input f32[26], %a: input f32[4, 6], %b: input f32[3]",
                    "aten.unflatten_dense_tensors.default(%f, [%a, %b])"),
            "the flat tensor of 26 elements ends before element 27");
}

}  // namespace
}  // namespace winze
