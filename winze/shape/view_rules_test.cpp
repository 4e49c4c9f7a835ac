// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/shape/shape_test.h"

namespace winze {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ViewRules, DimensionsOfSizeOneJoinNothing) {
  EXPECT_EQ(inferred("%x: input f32[5, 1, 3, 5] strides [5, 5, 0, 1]",
                     "aten.reshape.default(%x, [3, 5, 5, 1])"),
            "f32[3, 5, 5, 1]");
  EXPECT_EQ(inferred("%x: input f32[s0, 1, 3, 4] strides [12, 7, 4, 1]",
                     "aten.reshape.default(%x, [-1, 4])"),
            "f32[3*s0, 4]");
}

TEST(ViewRules, ViewMergesWhatIsContiguous) {
  EXPECT_EQ(inferred("%x: input f32[2, 3, 4] strides [24, 4, 1]", "aten.view.default(%x, [2, 12])"),
            "f32[2, 12] strides [24, 1]");
}

TEST(ViewRules, ViewInfersOneSize) {
  EXPECT_EQ(inferred("%x: input f32[s0, 6]", "aten.view.default(%x, [-1, 3])"), "f32[2*s0, 3]");
}

TEST(ViewRules, ViewRefusesToCopy) {
  EXPECT_THAT(refusal("%x: input f32[2, 3] strides [1, 2]", "aten.view.default(%x, [6])"),
              HasSubstr("Cannot view a tensor with shape [2, 3] and strides [1, 2]"));
}

TEST(ViewRules, ReshapeCopiesWhereItHasTo) {
  EXPECT_EQ(
      inferred("%x: input f32[2, 3] strides [1, 2] offset [5]", "aten.reshape.default(%x, [6])"),
      "f32[6]");
}

TEST(ViewRules, SymbolicSizesAreMergedAndSplit) {
  EXPECT_EQ(inferred("%x: input f32[s0, s1, 64]", "aten.reshape.default(%x, [-1, 64])"),
            "f32[s0*s1, 64]");
  EXPECT_EQ(inferred("%x: input f32[s0, s1, 64]", "aten.unflatten.int(%x, -1, [8, -1])"),
            "f32[s0, s1, 8, 8]");
}

TEST(ViewRules, ASliceThatStartsWhereDataTellsHasAnUnknownOffset) {
  EXPECT_EQ(
      inferred("%x: input f32[8, 3], %n: input int = (u0 - 5)", "aten.slice.Tensor(%x, 0, %n)"),
      "f32[u5, 3] offset [u4]");
}

TEST(ViewRules, ExpandGivesStrideZero) {
  EXPECT_EQ(inferred("%x: input f32[]", "aten.expand.default(%x, [5, 1])"),
            "f32[5, 1] strides [0, 1]");
  EXPECT_EQ(inferred("%x: input f32[], %n: input int = s0", "aten.expand.default(%x, [%n, 1])"),
            "f32[s0, 1] strides [0, 1]");
  EXPECT_EQ(inferred("%x: input f32[3, 1]", "aten.expand.default(%x, [2, -1, 4])"),
            "f32[2, 3, 4] strides [0, 1, 0]");
}

TEST(ViewRules, ExpandOfASizeThatMayBeOneRequiresItToFit) {
  EXPECT_THAT(infer("%x: input f32[s0]", "aten.expand.default(%x, [5])").constraints,
              ElementsAre("Eq(s0, 5)"));
}

TEST(ViewRules, SliceClampsItsEnds) {
  EXPECT_EQ(inferred("%x: input f32[10, 4]", "aten.slice.Tensor(%x, 0, -3, 99)"),
            "f32[3, 4] offset [28]");
  EXPECT_EQ(inferred("%x: input f32[10]", "aten.slice.Tensor(%x, 0, 1, 10, 2)"),
            "f32[5] strides [2] offset [1]");
}

TEST(ViewRules, SliceOfSymbolicSize) {
  EXPECT_EQ(inferred("%x: input f32[s0]", "aten.slice.Tensor(%x, 0, 1)"), "f32[s0 - 1] offset [1]");
  EXPECT_EQ(inferred("%x: input f32[s0]", "aten.slice.Tensor(%x, 0, 0, 5)"), "f32[Min(5, s0)]");
}

TEST(ViewRules, PermuteTakesNegativeDimensions) {
  EXPECT_EQ(inferred("%x: input f32[2, 3, 4]", "aten.permute.default(%x, [0, -1, 1])"),
            "f32[2, 4, 3] strides [12, 1, 4]");
}

TEST(ViewRules, SqueezeKeepsWhatMayBeOne) {
  EXPECT_EQ(inferred("%x: input f32[1, s0, 1]", "aten.squeeze.default(%x)"), "f32[s0]");
  EXPECT_EQ(inferred("%x: input f32[1, u0]", "aten.squeeze.dim(%x, 1)"), "f32[1, u0]");
}

TEST(ViewRules, SelectMovesTheOffset) {
  EXPECT_EQ(inferred("%x: input f32[2, 3]", "aten.select.int(%x, 1, -1)"),
            "f32[2] strides [3] offset [2]");
  EXPECT_THAT(refusal("%x: input f32[2, 3]", "aten.select.int(%x, 1, 3)"),
              HasSubstr("index 3 out of range for tensor of size [2, 3] at dimension 1"));
}

TEST(ViewRules, SplitLeavesTheRestToTheLast) {
  EXPECT_EQ(inferred("%x: input f32[5]", "aten.split.Tensor(%x, 2)", "[%a, %b, %c]"),
            "f32[2], f32[2] offset [2], f32[1] offset [4]");
}

TEST(ViewRules, SplitIntoAnUnknownNumberCannotBeInferred) {
  EXPECT_EQ(inferred("%x: input f32[s0]", "aten.split.Tensor(%x, 2)", "[%a]"),
            "<the number of parts is not known>");
}

TEST(ViewRules, DimensionOutOfRange) {
  EXPECT_EQ(refusal("%x: input f32[2]", "aten.unsqueeze.default(%x, 2)"),
            "Dimension out of range (expected to be in range of [-2, 1], but got 2)");
}

TEST(ViewRules, ViewCopyNeedsNoView) {
  EXPECT_EQ(inferred("%x: input f32[2, 3] strides [1, 2]", "aten.view_copy.default(%x, [6])"),
            "f32[6]");
}

TEST(ViewRules, LargerElementsNeedWholeNumbersOfTheSmaller) {
  EXPECT_EQ(refusal("%x: input u8[2, 6]", "aten.view.dtype(%x, i32)"),
            "self.size(-1) must be divisible by 4 to view a tensor with another element size, but "
            "got 6");
  EXPECT_EQ(refusal("%x: input u8[2, 4] strides [6, 1]", "aten.view.dtype(%x, i32)"),
            "self.stride() must be divisible by 4 to view a tensor with another element size, but "
            "got 6");
  EXPECT_EQ(refusal("%x: input f32[3, 2] strides [3, 1]", "aten.view_as_complex.default(%x)"),
            "Tensor must have a stride divisible by 2 for all but last dimension");
  EXPECT_EQ(refusal("%x: input f32[3, 2] offset [1]", "aten.view_as_complex.default(%x)"),
            "Tensor must have a storage_offset divisible by 2");
}

}  // namespace
}  // namespace winze
