// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "winze/shape/shape_test.h"

namespace winze {
namespace {

TEST(IrregularPointwiseRules, DtypesOfTheirOwn) {
  EXPECT_EQ(inferred("%a: input f32[2]", "aten.float_power.Tensor_Scalar(%a, 2)"), "f64[2]");
  EXPECT_EQ(inferred("%a: input f32[2]", "aten.frexp.Tensor(%a)", "%m, %e"), "f32[2], i32[2]");
  EXPECT_EQ(inferred("%a: input i64[2], %b: input i64[3]", "aten.isin.Tensor_Tensor(%a, %b)"),
            "b8[2]");
}

TEST(IrregularPointwiseRules, ArgumentsHaveToBeInRange) {
  EXPECT_EQ(refusal("%a: input b8[2]", "aten.neg.default(%a)"),
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to "
            "invert a mask, use the `~` or `logical_not()` operator instead.");
  EXPECT_EQ(refusal("%a: input f32[2]", "aten.gelu.default(%a, approximate=\"exact\")"),
            "approximate argument must be either none or tanh.");
  EXPECT_EQ(refusal("%a: input f32[2]", "aten.softshrink.default(%a, -1.0)"),
            "lambda must be greater or equal to 0, but found to be -1.");
  EXPECT_EQ(refusal("%a: input f32[2], %b: input f32[2]", "aten.isclose.default(%a, %b, -1.0)"),
            "rtol must be greater than or equal to zero, but got -1");
  EXPECT_EQ(refusal("%a: input f32[2, 3], %w: input f32[2]", "aten.prelu.default(%a, %w)"),
            "Mismatch of parameter numbers and input channel size. Found parameter numbers = 2 and "
            "channel size = 3.");
  EXPECT_EQ(
      refusal("%a: input f32[2], %m: input b8[2]", "aten.masked_fill.Scalar(%a, %m, (0.0+1.0j))"),
      "value cannot be converted to type float32 without overflow");
}

TEST(IrregularPointwiseRules, WhatIsComputedFirstDecidesTheLayout) {
  const std::string inputs = "%a: input f32[2, 3] strides [1, 2], %b: input f32[2, 3]";
  const std::string rows = "f32[2, 3]";
  const std::string columns = "f32[2, 3] strides [1, 2]";
  for (const char* call :
       {"aten.rsub.Tensor(%a, %b)", "aten.copysign.Tensor(%a, %b)", "aten.xlogy.Tensor(%a, %b)",
        "aten.floor_divide.default(%a, %b)", "aten.threshold_backward.default(%a, %b, 0)",
        "aten.leaky_relu_backward.default(%a, %b, 0.1, False)",
        "aten.elu_backward.default(%a, 1, 1, 1, False, %b)",
        "aten.mse_loss_backward.default(%a, %b, %b, 1)",
        "aten.soft_margin_loss_backward.default(%a, %a, %b, 1)"})
    EXPECT_EQ(inferred(inputs, call), rows) << call;
  for (const char* call : {"aten.sub.Tensor(%a, %b)", "aten.gelu_backward.default(%a, %b)"})
    EXPECT_EQ(inferred(inputs, call), columns) << call;
  EXPECT_EQ(inferred("%a: input i64[2, 3] strides [1, 2], %b: input i64[2, 3]",
                     "aten.floor_divide.default(%a, %b)"),
            "i64[2, 3] strides [1, 2]");
}

TEST(IrregularPointwiseRules, TheGradientOfAThresholdHasTheDtypeOfWhatItIsOf) {
  EXPECT_EQ(
      inferred("%g: input bf16[3], %x: input f32[3]", "aten.threshold_backward.default(%g, %x, 0)"),
      "bf16[3]");
}

TEST(IrregularPointwiseRules, FloorDivisionIsLaidOutByItsDivisorAtAllSizes) {
  EXPECT_EQ(inferred("%a: input f32[3, 3, 2] strides [2, 6, 1], %b: input f32[1, 3, 1]",
                     "aten.floor_divide.default(%a, %b)"),
            "f32[3, 3, 2]");
  EXPECT_EQ(refusal("%a: input c64[3]", "aten.floor_divide.default(%a, %a)"),
            "floor_divide does not support complex numbers");
}

TEST(IrregularPointwiseRules, WhatIsConvertedFirstIsDenseWhereItIsChosen) {
  EXPECT_EQ(inferred("%c: input b8[], %a: input bf16[4, 3] strides [0, 1], "
                     "%b: input f32[4, 3] strides [1, 4]",
                     "aten.where.self(%c, %a, %b)"),
            "f32[4, 3]");
  EXPECT_EQ(inferred("%c: input b8[], %a: input f32[4, 3] strides [0, 1], "
                     "%b: input f32[4, 3] strides [1, 4]",
                     "aten.where.self(%c, %a, %b)"),
            "f32[4, 3] strides [1, 4]");
}

TEST(IrregularPointwiseRules, IntegersAreNotDividedInAddcdiv) {
  EXPECT_EQ(refusal("%a: input f32[3], %b: input i64[3]", "aten.addcdiv.default(%a, %b, %b)"),
            "Integer division with addcdiv is no longer supported");
}

TEST(IrregularPointwiseRules, InterpolationIsOfOneDtype) {
  EXPECT_EQ(inferred("%a: input bf16[3], %w: input f32[]", "aten.lerp.Tensor(%a, %a, %w)"),
            "bf16[3]");
  EXPECT_EQ(refusal("%a: input f32[3], %b: input f64[3]", "aten.lerp.Scalar(%a, %b, 0.5)"),
            "expected dtype float32 for `end`, but got dtype float64");
}

}  // namespace
}  // namespace winze
