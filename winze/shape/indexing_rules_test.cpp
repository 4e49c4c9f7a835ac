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

TEST(IndexingRules, WhereOfAConditionAloneGivesTheColumnsOfNonzero) {
  EXPECT_EQ(inferred("%x: input b8[5, 6]", "aten.where.default(%x)"),
            "i64[u4], i64[u4] offset [u4]");
  EXPECT_EQ(inferred("%x: input b8[]", "aten.where.default(%x)"), "i64[u4]");
}

TEST(IndexingRules, OneHot) {
  EXPECT_EQ(inferred("%x: input i64[s0, 3]", "aten.one_hot.default(%x, 7)"), "i64[s0, 3, 7]");
  EXPECT_EQ(inferred("%x: input i64[4, 3] strides [1, 4]", "aten.one_hot.default(%x, 7)"),
            "i64[4, 3, 7] strides [7, 28, 1]");
  EXPECT_EQ(inferred("%x: input i64[3]", "aten.one_hot.default(%x)"), "i64[3, u4]");
  EXPECT_THAT(refusal("%x: input i32[3]", "aten.one_hot.default(%x, 7)"),
              ::testing::HasSubstr("LongTensor"));
  EXPECT_THAT(refusal("%x: input i64[3]", "aten.one_hot.default(%x, -2)"),
              ::testing::HasSubstr("num_classes is -2"));
}

TEST(IndexingRules, IsAllTrueIsABool) {
  EXPECT_EQ(inferred("%x: input b8[5, 6]", "aten._is_all_true.default(%x)"), "b8[]");
  EXPECT_THAT(refusal("%x: input f32[5]", "aten._is_all_true.default(%x)"),
              ::testing::HasSubstr("bools"));
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

TEST(IndexingRules, EachIndexHasASliceOfTheSource) {
  const std::string call = "aten.index_copy.default(%x, 1, %i, %s)";
  EXPECT_EQ(infer("%x: input f32[2, 9], %i: input i64[3], %s: input f32[2, s0]", call).constraints,
            std::vector<std::string>{"Eq(s0, 3)"});
  EXPECT_EQ(refusal("%x: input f32[2, 9], %i: input i64[3], %s: input f32[2, 4]", call),
            "Number of indices (3) should be equal to source.size(dim) (4)");
}

TEST(IndexingRules, StridesOfSizeOneStayInClonesAlone) {
  EXPECT_EQ(inferred("%x: input f32[1] strides [2], %i: input i64[1]",
                     "aten.index_fill.int_Scalar(%x, 0, %i, 1.0)"),
            "f32[1] strides [2]");
  EXPECT_EQ(inferred("%x: input f32[1] strides [2], %i: input i64[1], %v: input f32[1]",
                     "aten.index_put.default(%x, [%i], %v)"),
            "f32[1]");
}

}  // namespace
}  // namespace winze
