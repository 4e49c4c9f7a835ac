// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/shape/shape_test.h"

namespace winze {
namespace {

using testing::HasSubstr;

TEST(ReductionRules, SumOfIntegersIsLong) {
  EXPECT_EQ(inferred("%x: input i32[2, 3]", "aten.sum.default(%x)"), "i64[]");
  EXPECT_EQ(inferred("%x: input b8[2, 3]", "aten.sum.dim_IntList(%x, [-1], True)"), "i64[2, 1]");
}

TEST(ReductionRules, NoDimensionsMeansAll) {
  EXPECT_EQ(inferred("%x: input f32[2, s0]", "aten.amax.default(%x, [], True)"), "f32[1, 1]");
}

TEST(ReductionRules, MeanRefusesIntegers) {
  EXPECT_THAT(refusal("%x: input i64[2]", "aten.mean.default(%x)"),
              HasSubstr("could not infer output dtype"));
}

TEST(ReductionRules, DimensionsAreNamedOnce) {
  EXPECT_EQ(refusal("%x: input f32[2, 3]", "aten.sum.dim_IntList(%x, [0, -2])"),
            "dim 0 appears multiple times in the list of dims");
}

TEST(ReductionRules, MaximumComesWithItsIndices) {
  EXPECT_EQ(inferred("%x: input f32[2, s0]", "aten.max.dim(%x, 1)", "%a, %b"), "f32[2], i64[2]");
}

TEST(ReductionRules, VarianceOfComplexIsReal) {
  EXPECT_EQ(inferred("%x: input c64[2, 3]", "aten.var.correction(%x, [1])"), "f32[2]");
}

TEST(ReductionRules, TopkOfTooMany) {
  EXPECT_EQ(refusal("%x: input f32[2, 3]", "aten.topk.default(%x, 4)", "%a, %b"),
            "selected index k out of range");
}

TEST(ReductionRules, SoftmaxIsContiguous) {
  EXPECT_EQ(inferred("%x: input f16[2, 3] strides [1, 2]", "aten._softmax.default(%x, 1, True)"),
            "f32[2, 3]");
}

TEST(ReductionRules, AnEmptyListOfDimensionsMayReduceNone) {
  EXPECT_EQ(inferred("%x: input f32[s0, 3]", "aten.any.dims(%x, [])"), "b8[s0, 3]");
  EXPECT_EQ(inferred("%x: input f32[s0, 3]", "aten.nansum.default(%x, [])"), "f32[s0, 3]");
  EXPECT_EQ(inferred("%x: input f32[s0, 3]", "aten.any.dims(%x)"), "b8[]");
  EXPECT_EQ(inferred("%x: input f32[s0, 3]", "aten.sum.dim_IntList(%x, [])"), "f32[]");
}

}  // namespace
}  // namespace winze
