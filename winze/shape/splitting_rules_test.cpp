// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "winze/shape/shape_test.h"

namespace winze {
namespace {

TEST(SplittingRules, PartsOfOneLength) {
  EXPECT_EQ(inferred("%x: input f32[4, 6]", "aten.hsplit.int(%x, 2)", "[%a, %b]"),
            "f32[4, 3] strides [6, 1], f32[4, 3] strides [6, 1] offset [3]");
  EXPECT_EQ(
      inferred("%x: input f32[5, 2]", "aten.tensor_split.indices(%x, [1, 4])", "[%a, %b, %c]"),
      "f32[1, 2], f32[3, 2] offset [2], f32[1, 2] offset [8]");
}

TEST(SplittingRules, ALongDimensionHasAllChunks) {
  const Inferred two = infer("%x: input f32[s0, 2]", "aten.chunk.default(%x, 2)", "[%a, %b]");
  EXPECT_EQ(two.text, "f32[(s0 + 1)//2, 2], f32[s0 - ((s0 + 1)//2), 2] offset [2*((s0 + 1)//2)]");
  EXPECT_TRUE(two.constraints.empty());
  EXPECT_EQ(
      infer("%x: input f32[s0, 2]", "aten.chunk.default(%x, 3)", "[%a, %b, %c]").constraints.size(),
      1U);
}

TEST(SplittingRules, NamedSplitsAskForDimensionsAndWholeParts) {
  EXPECT_EQ(refusal("%x: input f32[4]", "aten.vsplit.int(%x, 2)", "[%a, %b]"),
            "torch.vsplit requires a tensor with at least 2 dimensions, but got a tensor with 1 "
            "dimensions!");
  EXPECT_EQ(refusal("%x: input f32[4, 5]", "aten.hsplit.int(%x, 2)", "[%a, %b]"),
            "torch.hsplit attempted to split along dimension 1, but the size of the dimension 5 is "
            "not divisible by the split_size 2!");
  EXPECT_EQ(refusal("%x: input f32[4]", "aten.hsplit.int(%x, 0)", "[%a, %b]"),
            "number of sections must be larger than 0, got 0");
}

}  // namespace
}  // namespace winze
