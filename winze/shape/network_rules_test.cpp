// SPDX-License-Identifier: Apache-2.0
// Convolution, pooling, normalization, attention and what goes with them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/shape/shape_test.h"

namespace winze {
namespace {

using testing::HasSubstr;

TEST(ConvolutionRules, SizesFollowStrideAndPadding) {
  EXPECT_EQ(inferred("%x: input f32[s0, 3, 32, 32], %w: input f32[8, 3, 3, 3]",
                     "aten.conv2d.default(%x, %w, None, [2, 2], [1, 1])"),
            "f32[s0, 8, 16, 16]");
}

TEST(ConvolutionRules, ChannelsLastIsKept) {
  EXPECT_EQ(inferred("%x: input f32[2, 3, 8, 8] strides [192, 1, 24, 3], %w: input f32[4, 3, 1, 1]",
                     "aten.conv2d.default(%x, %w)"),
            "f32[2, 4, 8, 8] strides [256, 1, 32, 4]");
}

TEST(ConvolutionRules, RefusesOtherChannelsAndTooLargeKernels) {
  EXPECT_THAT(refusal("%x: input f32[2, 3, 8, 8], %w: input f32[4, 5, 1, 1]",
                      "aten.conv2d.default(%x, %w)"),
              HasSubstr("expected input to have 5 channels, but got 3"));
  EXPECT_THAT(refusal("%x: input f32[2, 3, 4, 4], %w: input f32[4, 3, 5, 5]",
                      "aten.conv2d.default(%x, %w)"),
              HasSubstr("Kernel size can't be greater than actual input size"));
}

TEST(PoolingRules, SizesFollowTheWindows) {
  EXPECT_EQ(inferred("%x: input f32[s0, 3, 8, 9]", "aten.max_pool2d.default(%x, [2, 2])"),
            "f32[s0, 3, 4, 4]");
  EXPECT_EQ(inferred("%x: input f32[2, 3, 8, 9]",
                     "aten.max_pool2d.default(%x, [2, 2], [2, 2], [0, 0], [1, 1], True)"),
            "f32[2, 3, 4, 5]");
}

TEST(PoolingRules, RefusesTooMuchPadding) {
  EXPECT_THAT(
      refusal("%x: input f32[2, 3, 8, 8]", "aten.avg_pool2d.default(%x, [2, 2], [2, 2], [2, 2])"),
      HasSubstr("pad should be at most half of effective kernel size"));
}

TEST(NormalizationRules, LayerNormIsContiguous) {
  EXPECT_EQ(
      inferred("%x: input f32[2, 4, 6] strides [24, 1, 4]", "aten.layer_norm.default(%x, [6])"),
      "f32[2, 4, 6]");
}

TEST(NormalizationRules, LayerNormRefusesOtherSizes) {
  EXPECT_THAT(refusal("%x: input f32[2, 4, 6]", "aten.layer_norm.default(%x, [5])"),
              HasSubstr("normalized_shape"));
}

TEST(NormalizationRules, GroupNormKeepsChannelsLast) {
  EXPECT_EQ(inferred("%x: input f32[2, 4, 5, 6] strides [120, 1, 24, 4], %w: input f32[4]",
                     "aten.group_norm.default(%x, 2, %w, %w)"),
            "f32[2, 4, 5, 6] strides [120, 1, 24, 4]");
  EXPECT_THAT(refusal("%x: input f32[2, 4, 5, 6]", "aten.group_norm.default(%x, 3)"),
              HasSubstr("divisible by num_groups"));
}

TEST(AttentionRules, FusedAttentionKeepsTheLayoutOfTheQuery) {
  EXPECT_EQ(inferred("%q: input f32[2, 3, 5, 8] strides [120, 8, 24, 1]",
                     "aten.scaled_dot_product_attention.default(%q, %q, %q)"),
            "f32[2, 3, 5, 8] strides [120, 8, 24, 1]");
}

TEST(AttentionRules, DropoutMakesAttentionContiguous) {
  EXPECT_EQ(inferred("%q: input f32[2, 3, 5, 8] strides [120, 8, 24, 1]",
                     "aten.scaled_dot_product_attention.default(%q, %q, %q, None, 0.5)"),
            "f32[2, 3, 5, 8]");
}

TEST(ResizingRules, UpsamplesByWholeFactors) {
  EXPECT_EQ(
      inferred("%x: input f32[1, 4, s0, 6]", "aten.upsample_nearest2d.vec(%x, None, [2.0, 2.0])"),
      "f32[1, 4, 2*s0, 12]");
}

TEST(ResizingRules, PadAddsOnBothSides) {
  EXPECT_EQ(inferred("%x: input f32[2, 5]", "aten.pad.default(%x, [1, 2])"), "f32[2, 8]");
  EXPECT_THAT(refusal("%x: input f32[2, 5]", "aten.pad.default(%x, [5, 0], \"reflect\")"),
              HasSubstr("Padding size should be less than the corresponding input dimension"));
}

TEST(SortingRules, SearchesYieldIndices) {
  EXPECT_EQ(inferred("%x: input f32[s0, 4] strides [1, s0], %b: input f32[8]",
                     "aten.bucketize.Tensor(%x, %b, out_int32=True)"),
            "i32[s0, 4]");
}

TEST(RecurrentRules, BatchFirstIsTransposed) {
  EXPECT_EQ(
      inferred("%x: input f32[2, 5, 6], %h: input f32[1, 2, 7], %w: input f32[21, 6], "
               "%v: input f32[21, 7]",
               "aten.gru.input(%x, %h, [%w, %v], False, 1, 0.0, False, False, True)", "%a, %b"),
      "f32[2, 5, 7] strides [7, 14, 1], f32[1, 2, 7]");
}

}  // namespace
}  // namespace winze
