// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/shape/shape_test.h"

namespace winze {
namespace {

using ::testing::HasSubstr;

TEST(FusedAttentionRules, FlashAttentionYieldsLengthsAndTheStateOfRandomNumbers) {
  EXPECT_EQ(inferred("%q: input f16[s0, 4, s1, 64], %k: input f16[s0, 4, 7, 64]",
                     "aten._scaled_dot_product_flash_attention.default(%q, %k, %k)",
                     "%o, %l, %a, %b, %m, %n, %r, %u, %d"),
            "f16[s0, 4, s1, 64], f32[s0, 4, s1], None, None, int = s1, int = 7, u64[2], u64[], "
            "f16[0]");
}

TEST(FusedAttentionRules, EfficientAttentionRoundsRowsUpToBlocks) {
  EXPECT_EQ(inferred("%q: input f32[2, 4, 33, 64]",
                     "aten._scaled_dot_product_efficient_attention.default(%q, %q, %q, None, True)",
                     "%o, %l, %s, %p"),
            "f32[2, 4, 33, 64] strides [8448, 64, 256, 1], f32[2, 4, 64], i64[], i64[]");
}

TEST(FusedAttentionRules, GradientsOfSequencesLieAsTheirTensors) {
  EXPECT_EQ(
      inferred("%q: input f32[2, 4, 5, 8] strides [160, 8, 32, 1], %l: input f32[2, 4, 5], "
               "%s: input i64[2]",
               "aten._scaled_dot_product_flash_attention_backward.default(%q, %q, %q, %q, %q, "
               "%l, None, None, 5, 5, 0.0, False, %s, %s)",
               "%a, %b, %c"),
      "f32[2, 4, 5, 8] strides [160, 8, 32, 1], f32[2, 4, 5, 8] strides [160, 8, 32, 1], "
      "f32[2, 4, 5, 8] strides [160, 8, 32, 1]");
}

TEST(FusedAttentionRules, QueriesWithoutHeadsAreRefused) {
  EXPECT_THAT(
      refusal("%q: input f32[5, 8]", "aten._scaled_dot_product_flash_attention.default(%q, %q, %q)",
              "%o, %l, %a, %b, %m, %n, %r, %u, %d"),
      HasSubstr("expected a tensor of 4 dimensions, but got one of 2"));
}

TEST(FusedAttentionRules, FlexAttentionKeepsTheOrderOfDimensions) {
  EXPECT_EQ(
      inferred("%q: input f32[2, 4, 5, 8] strides [160, 8, 32, 1], %v: input f32[2, 4, 7, 6]",
               "higher_order.flex_attention(%q, %v, %v, graph s(%x: f32[]) {\n  return %x\n }, "
               "[], 1.0, [], [], [])",
               "%o, %l, %m"),
      "f32[2, 4, 5, 6] strides [120, 6, 24, 1], f32[2, 4, 5], f32[2, 4, 5]");
}

}  // namespace
}  // namespace winze
