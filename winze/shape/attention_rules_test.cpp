// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "winze/shape/shape_test.h"

namespace winze {
namespace {

TEST(AttentionRules, FusedAttentionKeepsTheLayoutOfTheQuery) {
  EXPECT_EQ(inferred("%q: input f32[2, 3, 5, 8] strides [120, 8, 24, 1]",
                     "aten.scaled_dot_product_attention.default(%q, %q, %q)"),
            "f32[2, 3, 5, 8] strides [120, 8, 24, 1]");
}

// One token that attends to others, as where a class token reads an image.
TEST(AttentionRules, FusedAttentionOfOneTokenIsContiguous) {
  EXPECT_EQ(inferred("%q: input f32[2, 4, 1, 32] strides [128, 32, 128, 1]",
                     "aten.scaled_dot_product_attention.default(%q, %q, %q)"),
            "f32[2, 4, 1, 32]");
}

TEST(AttentionRules, DropoutMakesAttentionContiguous) {
  EXPECT_EQ(inferred("%q: input f32[2, 3, 5, 8] strides [120, 8, 24, 1]",
                     "aten.scaled_dot_product_attention.default(%q, %q, %q, None, 0.5)"),
            "f32[2, 3, 5, 8]");
}

TEST(AttentionRules, AMaskHasTheSizesOfTheScores) {
  const std::string operands = "%q: input f32[2, 3, 5, 8], %k: input f32[2, 3, s0, 8], ";
  const std::string call = "aten.scaled_dot_product_attention.default(%q, %k, %k, %m)";
  EXPECT_EQ(infer(operands + "%m: input b8[5, s0]", call).constraints, std::vector<std::string>{});
  EXPECT_EQ(infer(operands + "%m: input b8[5, 9]", call).constraints,
            std::vector<std::string>{"Eq(s0, 9)"});
  EXPECT_EQ(refusal(operands + "%m: input b8[4, s0]", call),
            "The size of tensor a (5) must match the size of tensor b (4) at non-singleton "
            "dimension 2");
}

TEST(AttentionRules, ThePlainKernelYieldsTheWeightsToo) {
  EXPECT_EQ(
      inferred("%q: input f16[2, 4, s0, 8] strides [32*s0, 8, 32, 1], %k: input f16[2, 2, s1, 8], "
               "%v: input f16[2, 2, s1, 6]",
               "aten._scaled_dot_product_attention_math.default(%q, %k, %v, enable_gqa=True)",
               "%o, %w"),
      "f16[2, 4, s0, 6], f16[2, 4, s0, s1]");
}

TEST(AttentionRules, HeadsAreSplitIntoPartsOfOneTensor) {
  EXPECT_EQ(inferred("%x: input f32[2, 5, 12], %b: input f32[12]",
                     "aten._transform_bias_rescale_qkv.default(%x, %b, 2)", "%q, %k, %v"),
            "f32[2, 2, 5, 2], f32[2, 2, 5, 2] offset [40], f32[2, 2, 5, 2] offset [80]");
}

TEST(AttentionRules, GroupsOfHeadsNeedHeads) {
  EXPECT_EQ(refusal("%q: input f32[3, 8]",
                    "aten.scaled_dot_product_attention.default(%q, %q, %q, enable_gqa=True)"),
            "enable_gqa expects query, key, and value to have a dimension of heads");
}

}  // namespace
}  // namespace winze
