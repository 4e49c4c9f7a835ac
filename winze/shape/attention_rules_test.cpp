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

}  // namespace
}  // namespace winze
