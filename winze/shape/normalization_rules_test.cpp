// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/shape/shape_test.h"

namespace winze {
namespace {

using testing::HasSubstr;

TEST(NormalizationRules, LayerNormYieldsItsStatistics) {
  EXPECT_EQ(inferred("%x: input f32[2, s0, 8]",
                     "aten.native_layer_norm.default(%x, [8], None, None, 1e-05)", "%a, %b, %c"),
            "f32[2, s0, 8], f32[2, s0, 1], f32[2, s0, 1]");
}

TEST(NormalizationRules, LayerNormOfAnotherShape) {
  EXPECT_THAT(
      refusal("%x: input f32[2, 8]", "aten.layer_norm.default(%x, [4])"),
      HasSubstr("Given normalized_shape with size 4, expected input of that size, but got 8"));
}

TEST(NormalizationRules, BatchNormStatisticsAreOfTheChannels) {
  EXPECT_EQ(inferred("%x: input f32[2, 3, 4, 4], %m: input f32[3]",
                     "aten._native_batch_norm_legit_functional.default("
                     "%x, None, None, %m, %m, True, 0.1, 1e-05)",
                     "%a, %b, %c, %d, %e"),
            "f32[2, 3, 4, 4], f32[3], f32[3], f32[3], f32[3]");
}

TEST(NormalizationRules, AttentionIsLaidOutLikeItsQuery) {
  EXPECT_EQ(inferred("%q: input f32[1, 2, 8, 4] strides [64, 4, 8, 1]",
                     "aten.scaled_dot_product_attention.default(%q, %q, %q)"),
            "f32[1, 2, 8, 4] strides [64, 4, 8, 1]");
  EXPECT_EQ(inferred("%q: input f32[2, 8, 4], %v: input f32[2, 8, 6]",
                     "aten.scaled_dot_product_attention.default(%q, %q, %v)"),
            "f32[2, 8, 6]");
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

}  // namespace
}  // namespace winze
