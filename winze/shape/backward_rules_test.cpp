// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "winze/shape/shape_test.h"

namespace winze {
namespace {

TEST(BackwardRules, GradientsAreYieldedAsFarAsTheyAreWanted) {
  EXPECT_EQ(
      inferred("%g: input f32[2, 3], %x: input f32[2, 3], %m: input f32[2, 1], %w: input f32[3]",
               "aten.native_layer_norm_backward.default(%g, %x, [3], %m, %m, %w, %w, [True, True, "
               "False])",
               "%a, %b, %c"),
      "f32[2, 3], f32[3], None");
  EXPECT_EQ(
      inferred("%g: input f32[s0, 4], %x: input f32[s0, 4], %m: input f32[s0, 2], %w: input f32[4]",
               "aten.native_group_norm_backward.default(%g, %x, %m, %m, %w, 3, 4, 1, 2, [True, "
               "False, True])",
               "%a, %b, %c"),
      "f32[s0, 4], None, f32[4]");
}

TEST(BackwardRules, GradientsOfViewsAreZerosOutsideOfThem) {
  EXPECT_EQ(inferred("%g: input f32[3]", "aten.select_backward.default(%g, [2, 3], 0, 1)"),
            "f32[2, 3]");
  EXPECT_EQ(inferred("%g: input f32[2, 3, 2]", "aten.unfold_backward.default(%g, [2, 4], 1, 2, 1)"),
            "f32[2, 4]");
  EXPECT_EQ(refusal("%g: input f32[2, 2, 2]", "aten.unfold_backward.default(%g, [2, 4], 1, 2, 1)"),
            "unfold_backward: the gradient has the size 2 at dimension 1, not 3");
}

TEST(BackwardRules, GluHalvesADimension) {
  EXPECT_EQ(inferred("%x: input f32[3, 8]", "aten.glu.default(%x)"), "f32[3, 4]");
  EXPECT_EQ(refusal("%x: input f32[3, 7]", "aten.glu.default(%x)"),
            "Halving dimension must be even, but dimension 1 is size 7");
}

TEST(BackwardRules, ProductsOfOneFactorPassTheGradientOn) {
  EXPECT_EQ(inferred("%g: input f32[1, 4] strides [9, 2]",
                     "aten.cumprod_backward.default(%g, %g, 0, %g)"),
            "f32[1, 4] strides [9, 2]");
  EXPECT_EQ(inferred("%g: input f32[3, 4] strides [1, 3]",
                     "aten.cumprod_backward.default(%g, %g, 1, %g)"),
            "f32[3, 4]");
}

TEST(BackwardRules, BatchNormsOfDevicesHaveTheInputFirst) {
  EXPECT_EQ(inferred("%x: input f32[s0, 3, 4, 5] strides [60, 1, 15, 3], %w: input f32[3]",
                     "aten.miopen_batch_norm_backward.default(%x, %x, %w, %w, %w, %w, %w, 1e-05)",
                     "%a, %b, %c"),
            "f32[s0, 3, 4, 5] strides [60, 1, 15, 3], f32[3], f32[3]");
}

TEST(BackwardRules, GradientsOfLinearAreContiguous) {
  const std::string inputs =
      "%x: input f32[s0, 4] strides [1, s0], %g: input f64[s0, 5], %w: input f32[5, 4]";
  EXPECT_EQ(inferred(inputs, "aten.linear_backward.default(%x, %g, %w, [True, False, True])",
                     "%a, %b, %c"),
            "f64[s0, 4], f64[5, 4], f64[5]");
  EXPECT_EQ(inferred(inputs, "aten.linear_backward.default(%x, %g, %w, [True, False, False])",
                     "%a, %b, %c"),
            "f64[s0, 4], None, None");
}

TEST(BackwardRules, DerivativeOfGluInADirection) {
  EXPECT_EQ(inferred("%g: input f32[2, s0], %x: input f32[2, s0*2], %d: input f32[2, s0*2]",
                     "aten.glu_jvp.default(%g, %x, %d, 1)"),
            "f32[2, s0]");
}

}  // namespace
}  // namespace winze
