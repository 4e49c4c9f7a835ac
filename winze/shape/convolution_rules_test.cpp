// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/shape/shape_test.h"

namespace winze {
namespace {

using testing::HasSubstr;

TEST(ConvolutionRules, SizesFollowFromKernelStrideAndPadding) {
  EXPECT_EQ(inferred("%x: input f32[s0, 3, 32, 32], %w: input f32[8, 3, 3, 3]",
                     "aten.conv2d.default(%x, %w, None, [2, 2], [1, 1])"),
            "f32[s0, 8, 16, 16]");
}

TEST(ConvolutionRules, TransposedConvolutionGrows) {
  EXPECT_EQ(inferred("%x: input f32[1, 4, 8, 8], %w: input f32[4, 2, 2, 2]",
                     "aten.conv_transpose2d.input(%x, %w, None, [2, 2])"),
            "f32[1, 2, 16, 16]");
}

TEST(ConvolutionRules, ChannelsLastStays) {
  EXPECT_EQ(inferred("%x: input f32[1, 3, 4, 4] strides [48, 1, 12, 3], %w: input f32[2, 3, 1, 1]",
                     "aten.conv2d.default(%x, %w)"),
            "f32[1, 2, 4, 4] strides [32, 1, 8, 2]");
}

/// PyTorch's own loops over three dimensions write contiguous results, oneDNN does not.
TEST(ConvolutionRules, SmallConvolutionsOverThreeDimensionsAreContiguous) {
  const std::string_view weight = ", %w: input f32[3, 2, 2, 2, 2]";
  const auto result = [&](std::string_view input) {
    return inferred(fmt::format("%x: input {}{}", input, weight), "aten.conv3d.default(%x, %w)");
  };
  EXPECT_EQ(result("f32[1, 2, 4, 4, 4] strides [128, 1, 32, 8, 2]"), "f32[1, 3, 3, 3, 3]");
  EXPECT_EQ(result("f32[2, 2, 4, 4, 4] strides [128, 1, 32, 8, 2]"),
            "f32[2, 3, 3, 3, 3] strides [81, 1, 27, 9, 3]");
  EXPECT_EQ(result("f32[1, 2, 64, 256, 4] strides [131072, 1, 2048, 8, 2]"),
            "f32[1, 3, 63, 255, 3] strides [144585, 1, 2295, 9, 3]");
}

TEST(ConvolutionRules, ChannelsHaveToMatch) {
  EXPECT_EQ(
      refusal("%x: input f32[1, 4, 8], %w: input f32[2, 3, 1]", "aten.conv1d.default(%x, %w)"),
      "expected input to have 3 channels, but got 4 channels instead");
}

TEST(ConvolutionRules, UnbatchedInput) {
  EXPECT_EQ(inferred("%x: input f32[3, 8], %w: input f32[2, 3, 3]", "aten.conv1d.default(%x, %w)"),
            "f32[2, 6]");
}

TEST(ConvolutionRules, CeilModeDropsWindowsInTheRightPadding) {
  EXPECT_EQ(inferred("%x: input f32[1, 1, 5, 5]",
                     "aten.max_pool2d.default(%x, [2, 2], [2, 2], [0, 0], [1, 1], True)"),
            "f32[1, 1, 3, 3]");
  EXPECT_EQ(inferred("%x: input f32[1, 1, 4, 4]",
                     "aten.max_pool2d.default(%x, [1, 1], [3, 3], [0, 0], [1, 1], True)"),
            "f32[1, 1, 2, 2]");
}

TEST(ConvolutionRules, PoolingToNothing) {
  EXPECT_EQ(refusal("%x: input f32[1, 1, 2, 2]", "aten.max_pool2d.default(%x, [3, 3])"),
            "max_pool2d: output size 0 is too small");
}

TEST(ConvolutionRules, UpsamplingByWholeFactors) {
  EXPECT_EQ(
      inferred("%x: input f32[1, 2, s0, 4]", "aten.upsample_nearest2d.vec(%x, None, [2.0, 1.5])"),
      "f32[1, 2, 2*s0, 6]");
}

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

TEST(ConvolutionRules, SlowKernelsKeepChannelsLastOverTwoDimensions) {
  const std::string image = "%x: input f32[2, 4, 7, 7] strides [196, 1, 28, 4]";
  EXPECT_EQ(
      inferred(image + ", %w: input f32[6, 4, 3, 3]",
               "aten.slow_conv_dilated2d.default(%x, %w, [3, 3], None, [1, 1], [1, 1], [2, 2])"),
      "f32[2, 6, 5, 5] strides [150, 1, 30, 6]");
  EXPECT_EQ(
      inferred(image + ", %w: input f32[4, 6, 3, 3]",
               "aten.slow_conv_transpose2d.default(%x, %w, [3, 3], None, [2, 2], [1, 1], [1, 1])"),
      "f32[2, 6, 14, 14]");
  EXPECT_EQ(inferred("%x: input f32[s0, 4, 7, 7, 7], %w: input f32[6, 4, 3, 3, 3]",
                     "aten.slow_conv3d.default(%x, %w, [3, 3, 3])"),
            "f32[s0, 6, 5, 5, 5]");
  EXPECT_EQ(
      refusal(image + ", %w: input f32[6, 4, 3, 3]", "aten.thnn_conv2d.default(%x, %w, [2, 3])"),
      "weight has the size 3 at dimension 2, not that of the kernel, 2");
}

TEST(ConvolutionRules, TimeMayComeFirst) {
  EXPECT_EQ(inferred("%x: input f32[s0, 2, 4], %w: input f32[3, 4, 6], %b: input f32[6]",
                     "aten.conv_tbc.default(%x, %w, %b, 1)"),
            "f32[s0, 2, 6]");
  EXPECT_EQ(refusal("%x: input f32[7, 2, 5], %w: input f32[3, 4, 6], %b: input f32[6]",
                    "aten.conv_tbc.default(%x, %w, %b)"),
            "Input dim 2 (input channels) is not == dim 1 in the weight tensor");
}

TEST(ConvolutionRules, FewElementsOverThreeDimensionsAreComputedContiguously) {
  const std::string weight = ", %w: input f32[3, 3, 2, 2, 2] strides [24, 1, 12, 6, 3]";
  const std::string call =
      "aten.convolution.default(%x, %w, None, [1, 1, 1], [0, 0, 0], [1, 1, 1], False, [0, 0, 0], "
      "1)";
  EXPECT_EQ(inferred("%x: input f32[1, 3, 5, 5, 5]" + weight, call), "f32[1, 3, 4, 4, 4]");
  EXPECT_EQ(inferred("%x: input f32[2, 3, 5, 5, 5]" + weight, call),
            "f32[2, 3, 4, 4, 4] strides [192, 1, 48, 12, 3]");
  EXPECT_EQ(inferred("%x: input f32[1, 3, 100, 100, 5]" + weight, call),
            "f32[1, 3, 99, 99, 4] strides [117612, 1, 1188, 12, 3]");
}

}  // namespace
}  // namespace winze
