// SPDX-License-Identifier: Apache-2.0
#include "winze/shape/promotion.h"

#include <gtest/gtest.h>

#include "winze/shape/shape_test.h"

namespace winze {
namespace {

using enum ScalarType;

TEST(Promotion, TypesWithoutACommonOne) {
  EXPECT_EQ(promote_types(float8_e5m2, float32), std::nullopt);
  EXPECT_EQ(promote_types(uint32, int64), std::nullopt);
}

TEST(Promotion, UnsignedBytesGoWithTheNextSignedType) {
  EXPECT_EQ(promote_types(uint8, int8), int16);
  EXPECT_EQ(promote_types(uint8, int32), int32);
}

TEST(Promotion, HalvesMeetInFloat) {
  EXPECT_EQ(promote_types(float16, bfloat16), float32);
  EXPECT_EQ(promote_types(float16, complex64), complex64);
  EXPECT_EQ(promote_types(float64, complex64), complex128);
}

TEST(Promotion, TensorWithoutDimensionsGivesWayWithinItsCategory) {
  EXPECT_EQ(inferred("%x: input f16[2], %y: input f64[]", "aten.add.Tensor(%x, %y)"), "f16[2]");
  EXPECT_EQ(inferred("%x: input i64[2], %y: input f64[]", "aten.add.Tensor(%x, %y)"), "f64[2]");
}

TEST(Promotion, PythonNumberGivesWayWithinItsCategory) {
  EXPECT_EQ(inferred("%x: input i8[2]", "aten.add.Tensor(%x, 1000)"), "i8[2]");
  EXPECT_EQ(inferred("%x: input i8[2]", "aten.add.Tensor(%x, 1.5)"), "f32[2]");
  EXPECT_EQ(inferred("%x: input bf16[2]", "aten.mul.Scalar(%x, 1.5)"), "bf16[2]");
}

TEST(Promotion, IntegersBecomeFloats) {
  EXPECT_EQ(inferred("%x: input i64[2]", "aten.sin.default(%x)"), "f32[2]");
  EXPECT_EQ(inferred("%x: input i64[2], %y: input i64[2]", "aten.div.Tensor(%x, %y)"), "f32[2]");
}

TEST(Promotion, ComplexBecomesReal) {
  EXPECT_EQ(inferred("%x: input c128[2]", "aten.abs.default(%x)"), "f64[2]");
}

TEST(Promotion, ComparisonsYieldBools) {
  EXPECT_EQ(inferred("%x: input i64[2]", "aten.eq.Scalar(%x, 1)"), "b8[2]");
}

TEST(Promotion, RefusesPairsWithoutCommonType) {
  EXPECT_EQ(refusal("%x: input f8e5m2[2], %y: input f32[2]", "aten.add.Tensor(%x, %y)"),
            "Promotion for float8_e5m2 and float32 is not supported; convert one of the operands");
}

}  // namespace
}  // namespace winze
