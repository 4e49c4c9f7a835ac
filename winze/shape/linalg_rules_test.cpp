// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "winze/shape/shape_test.h"

namespace winze {
namespace {

TEST(LinalgRules, FactorsLieColumnByColumn) {
  EXPECT_EQ(inferred("%a: input f32[2, 3, 4]", "aten.linalg_qr.default(%a)", "%q, %r"),
            "f32[2, 3, 3] strides [9, 1, 3], f32[2, 3, 4] strides [12, 1, 3]");
  EXPECT_EQ(inferred("%a: input f32[s0, 4]", "aten.linalg_svd.default(%a, False)", "%u, %s, %v"),
            "f32[s0, Min(4, s0)] strides [1, s0], f32[Min(4, s0)], f32[Min(4, s0), 4] strides [1, "
            "Min(4, s0)]");
}

TEST(LinalgRules, EigenvaluesAreComplexOrReal) {
  EXPECT_EQ(inferred("%a: input f32[3, 3]", "aten.linalg_eig.default(%a)", "%l, %v"),
            "c64[3], c64[3, 3] strides [1, 3]");
  EXPECT_EQ(inferred("%a: input c64[3, 3]", "aten.linalg_eigh.default(%a)", "%l, %v"),
            "f32[3], c64[3, 3] strides [1, 3]");
}

TEST(LinalgRules, SolutionsBroadcastTheBatch) {
  EXPECT_EQ(
      inferred("%a: input f32[2, 3, 3], %b: input f32[3, 5]", "aten.linalg_solve.default(%a, %b)"),
      "f32[2, 3, 5] strides [15, 1, 3]");
  EXPECT_EQ(
      inferred("%a: input f32[2, 3, 3], %b: input f32[2, 3]", "aten.linalg_solve.default(%a, %b)"),
      "f32[2, 3] strides [1, 2]");
}

TEST(LinalgRules, MatricesHaveToBeSquareAndOfFloats) {
  EXPECT_EQ(refusal("%a: input f32[3, 4]", "aten.linalg_det.default(%a)"),
            "linalg_det: A must be batches of square matrices, but they are 3 by 4 matrices");
  EXPECT_EQ(refusal("%a: input f32[3]", "aten.linalg_det.default(%a)"),
            "linalg_det: The input tensor must have at least 2 dimensions, got 1");
  EXPECT_EQ(refusal("%a: input i64[3, 3]", "aten.linalg_inv.default(%a)"),
            "linalg_inv: Expected a floating point or complex tensor as input. Got int64");
  EXPECT_EQ(refusal("%a: input bf16[3, 3]", "aten.linalg_inv.default(%a)"),
            "linalg_inv: Low precision dtypes not supported. Got bfloat16");
  EXPECT_EQ(
      refusal("%a: input f32[3, 3], %b: input f64[3, 5]", "aten.linalg_solve.default(%a, %b)"),
      "linalg_solve: Expected A and B to have the same dtype, but found A of type float32 and B of "
      "type float64");
  EXPECT_EQ(
      refusal("%a: input f32[3, 3], %b: input f32[4, 5]", "aten.linalg_solve.default(%a, %b)"),
      "linalg_solve: Incompatible shapes of A and B for the equation AX = B (3 and 4)");
}

TEST(LinalgRules, SymbolicMatricesAreRequiredToBeSquare) {
  EXPECT_EQ(infer("%a: input f32[s0, s1]", "aten.linalg_det.default(%a)").constraints,
            std::vector<std::string>{"Eq(s0, s1)"});
}

}  // namespace
}  // namespace winze
