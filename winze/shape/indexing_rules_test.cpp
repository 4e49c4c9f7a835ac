// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/shape/shape_test.h"

namespace winze {
namespace {

TEST(IndexingRules, IndicesTakeThePlaceOfTheirDimension) {
  EXPECT_EQ(
      inferred("%x: input f32[5, 6, 7], %i: input i64[2, 3]", "aten.index.Tensor(%x, [None, %i])"),
      "f32[5, 2, 3, 7]");
}

TEST(IndexingRules, IndicesApartGoToTheFront) {
  EXPECT_EQ(
      inferred("%x: input f32[5, 6, 7], %i: input i64[2]", "aten.index.Tensor(%x, [%i, None, %i])"),
      "f32[2, 6]");
}

TEST(IndexingRules, MaskYieldsAsManyAsThereAre) {
  EXPECT_EQ(inferred("%x: input f32[5, 6], %m: input b8[5]", "aten.index.Tensor(%x, [%m])"),
            "f32[u4, 6]");
}

TEST(IndexingRules, TooManyIndices) {
  EXPECT_EQ(refusal("%x: input f32[5], %i: input i64[2]", "aten.index.Tensor(%x, [%i, %i])"),
            "too many indices for tensor of dimension 1");
}

TEST(IndexingRules, EmbeddingAddsItsWidth) {
  EXPECT_EQ(
      inferred("%w: input f32[100, 8], %i: input i64[s0, s1]", "aten.embedding.default(%w, %i)"),
      "f32[s0, s1, 8]");
}

TEST(IndexingRules, GatherHasTheSizesOfItsIndex) {
  EXPECT_EQ(inferred("%x: input f32[5, 6], %i: input i64[5, 2]", "aten.gather.default(%x, 1, %i)"),
            "f32[5, 2]");
}

TEST(IndexingRules, NonzeroIsLaidOutByColumns) {
  EXPECT_EQ(inferred("%x: input b8[5, 6]", "aten.nonzero.default(%x)"),
            "i64[u4, 2] strides [1, u4]");
}

TEST(IndexingRules, ScatterIntoAViewKeepsStrides) {
  EXPECT_EQ(inferred("%x: input f32[4, 2] strides [8, 2], %s: input f32[1, 2]",
                     "aten.slice_scatter.default(%x, %s, 0, 0, 1)"),
            "f32[4, 2] strides [8, 2]");
  EXPECT_THAT(inferred("%x: input f32[4, 2] strides [8, 2] offset [3], %s: input f32[1, 2]",
                       "aten.slice_scatter.default(%x, %s, 0, 0, 1)"),
              testing::HasSubstr("whether the storage offset is kept depends on the storage"));
  EXPECT_EQ(inferred("%x: input f32[4, 2] strides [0, 1], %s: input f32[1, 2]",
                     "aten.slice_scatter.default(%x, %s, 0, 0, 1)"),
            "f32[4, 2]");
}

}  // namespace
}  // namespace winze
