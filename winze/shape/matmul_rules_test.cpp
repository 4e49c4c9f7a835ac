// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/shape/shape_test.h"

namespace winze {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(MatmulRules, ProductOfMatrices) {
  EXPECT_EQ(inferred("%x: input f32[s0, 3], %y: input f32[3, 4]", "aten.mm.default(%x, %y)"),
            "f32[s0, 4]");
  EXPECT_THAT(refusal("%x: input f32[2, 3], %y: input f32[4, 5]", "aten.mm.default(%x, %y)"),
              HasSubstr("mm: sizes 3 and 4 of the operands do not match"));
}

TEST(MatmulRules, DtypesAreNotPromoted) {
  EXPECT_THAT(refusal("%x: input f32[2, 3], %y: input f16[3, 5]", "aten.mm.default(%x, %y)"),
              HasSubstr("same dtype, but got: float32 != float16"));
}

TEST(MatmulRules, SizesThatMayDifferAreRequiredToMatch) {
  EXPECT_THAT(
      infer("%x: input f32[2, s0], %y: input f32[s1, 4]", "aten.mm.default(%x, %y)").constraints,
      ElementsAre("Eq(s0, s1)"));
}

TEST(MatmulRules, ProductOfBytesIsInInt32) {
  EXPECT_EQ(inferred("%x: input u8[s0, 3], %y: input i8[3, 4]", "aten._int_mm.default(%x, %y)"),
            "i32[s0, 4]");
  EXPECT_THAT(refusal("%x: input i8[2, 3], %y: input i8[4, 5]", "aten._int_mm.default(%x, %y)"),
              HasSubstr("_int_mm: sizes 3 and 4 of the operands do not match"));
  EXPECT_EQ(refusal("%x: input f32[2, 3], %y: input i8[3, 5]", "aten._int_mm.default(%x, %y)"),
            "expected self to be int8 or uint8, got float32");
  EXPECT_EQ(refusal("%x: input i8[2, 3], %y: input u8[3, 5]", "aten._int_mm.default(%x, %y)"),
            "expected mat2 to be int8, got uint8");
}

TEST(MatmulRules, MatmulBroadcastsBatches) {
  EXPECT_EQ(
      inferred("%x: input f32[s0, 1, 2, 3], %y: input f32[5, 3, 4]", "aten.matmul.default(%x, %y)"),
      "f32[s0, 5, 2, 4]");
  EXPECT_EQ(inferred("%x: input f32[3], %y: input f32[5, 3, 4]", "aten.matmul.default(%x, %y)"),
            "f32[5, 4]");
  EXPECT_EQ(inferred("%x: input f32[3], %y: input f32[3]", "aten.matmul.default(%x, %y)"), "f32[]");
}

TEST(MatmulRules, LinearKeepsAllButTheLastDimension) {
  EXPECT_EQ(inferred("%x: input f32[s0, s1, 8], %w: input f32[4, 8], %b: input f32[4]",
                     "aten.linear.default(%x, %w, %b)"),
            "f32[s0, s1, 4]");
}

TEST(MatmulRules, AddendHasToBroadcast) {
  EXPECT_THAT(refusal("%b: input f32[3], %x: input f32[2, 3], %y: input f32[3, 4]",
                      "aten.addmm.default(%b, %x, %y)"),
              HasSubstr("The expanded size of the tensor (4) must match the existing size (3)"));
}

TEST(MatmulRules, SumOfProducts) {
  EXPECT_EQ(inferred("%b: input f32[4], %x: input f32[5, 2, 3], %y: input f32[5, 3, 4]",
                     "aten.addbmm.default(%b, %x, %y)"),
            "f32[2, 4]");
}

TEST(MatmulRules, OuterProductTakesTheLayoutOfItsAddend) {
  EXPECT_EQ(inferred("%b: input f32[2, 3] strides [1, 2], %x: input f32[2], %y: input f32[3]",
                     "aten.addr.default(%b, %x, %y)"),
            "f32[2, 3] strides [1, 2]");
}

}  // namespace
}  // namespace winze
