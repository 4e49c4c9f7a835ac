// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "winze/shape/shape_test.h"

namespace winze {
namespace {

TEST(PatchRules, PatchesBecomeColumnsAndBack) {
  EXPECT_EQ(inferred("%x: input f32[2, 3, 8, 8]",
                     "aten.im2col.default(%x, [3, 3], [1, 1], [0, 0], [1, 1])"),
            "f32[2, 27, 36]");
  EXPECT_EQ(inferred("%x: input f32[2, 27, 36]",
                     "aten.col2im.default(%x, [8, 8], [3, 3], [1, 1], [0, 0], [1, 1])"),
            "f32[2, 3, 8, 8]");
  EXPECT_EQ(inferred("%x: input f32[2, 2, 3]",
                     "aten.affine_grid_generator.default(%x, [2, 3, 4, 5], False)"),
            "f32[2, 4, 5, 2]");
}

TEST(PatchRules, PatchesHaveToFit) {
  EXPECT_EQ(refusal("%x: input f32[2, 3, 3]",
                    "aten.affine_grid_generator.default(%x, [2, 3, 4, 5], False)"),
            "Expected a batch of 2D affine matrices of shape Nx2x3 for size, got 3");
  EXPECT_EQ(refusal("%x: input f32[2, 3, 2, 2]",
                    "aten.im2col.default(%x, [3, 3], [1, 1], [0, 0], [1, 1])"),
            "the calculated shape of the array of sliding blocks has a size of 0, but its "
            "components must be at least one.");
  EXPECT_EQ(refusal("%x: input f32[2, 26, 36]",
                    "aten.col2im.default(%x, [8, 8], [3, 3], [1, 1], [0, 0], [1, 1])"),
            "Expected size of input's first non-batch dimension to be divisible by the product of "
            "kernel_size, but got 26 and 9");
  EXPECT_EQ(refusal("%x: input f32[2, 4, 3, 3]", "aten.channel_shuffle.default(%x, 3)"),
            "Number of channels must be divisible by groups. Got 4 channels and 3 groups.");
}

}  // namespace
}  // namespace winze
