// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "winze/shape/shape_test.h"

namespace winze {
namespace {

TEST(LossRules, ReductionLeavesOneNumber) {
  EXPECT_EQ(inferred("%x: input f32[3, 4], %y: input f32[3, 4]", "aten.mse_loss.default(%x, %y)"),
            "f32[]");
  EXPECT_EQ(inferred("%x: input f32[3, 4], %y: input f32[4]", "aten.mse_loss.default(%x, %y, 0)"),
            "f32[3, 4]");
}

TEST(LossRules, ClassesAreOneDimensionLess) {
  EXPECT_EQ(inferred("%x: input f32[s0, 5, 7], %y: input i64[s0, 7]",
                     "aten.cross_entropy_loss.default(%x, %y, None, 0)"),
            "f32[s0, 7]");
  EXPECT_EQ(inferred("%x: input f32[3, 5], %y: input f32[3, 5]",
                     "aten.cross_entropy_loss.default(%x, %y, None, 0)"),
            "f32[3]");
  EXPECT_EQ(inferred("%x: input f32[3, 5], %y: input i64[3]",
                     "aten.nll_loss_forward.default(%x, %y, None, 1, -100)", "%a, %b"),
            "f32[], f32[]");
}

TEST(LossRules, TargetsHaveToFit) {
  EXPECT_EQ(refusal("%x: input f32[3, 5], %y: input i64[4]", "aten.nll_loss.default(%x, %y)"),
            "size mismatch (got input: 3, target: 4)");
  EXPECT_EQ(refusal("%x: input f32[3, 5], %y: input i64[3], %w: input f32[4]",
                    "aten.nll_loss.default(%x, %y, %w)"),
            "weight tensor should be defined either for all 5 classes or no classes but got weight "
            "tensor of 4 elements");
  EXPECT_EQ(refusal("%x: input i64[3], %y: input i64[3]", "aten.mse_loss.default(%x, %y)"),
            "mean(): could not infer output dtype. Input dtype must be either a floating point or "
            "complex dtype. Got: int64");
  EXPECT_EQ(
      refusal("%x: input f32[3], %y: input f32[3]", "aten.huber_loss.default(%x, %y, 1, 0.0)"),
      "huber_loss does not support non-positive values for delta.");
  EXPECT_EQ(
      refusal("%x: input f32[3, 0], %y: input i64[3]", "aten.multi_margin_loss.default(%x, %y)"),
      "Expected non-empty vector or matrix with optional 0-dim batch size");
}

TEST(LossRules, CtcLossKeepsAProbabilityForEachLabelAndBlank) {
  const std::string inputs = "%p: input f32[s0, 2, 5], %t: input i64[2, 3], %n: input i64[2]";
  EXPECT_EQ(inferred(inputs, "aten._ctc_loss.default(%p, %t, [7, 7], [3, 2])", "%l, %a"),
            "f32[2], f32[2, s0, 7]");
  EXPECT_EQ(inferred(inputs, "aten._ctc_loss.Tensor(%p, %t, %n, %n)", "%l, %a"),
            "f32[2], f32[2, s0, u4]");
  EXPECT_EQ(refusal(inputs, "aten._ctc_loss.default(%p, %t, [7], [3])", "%l, %a"),
            "target_lengths must be of size batch_size");
  EXPECT_EQ(inferred(inputs, "aten.ctc_loss.Tensor(%p, %t, %n, %n, 0, 0)"), "f32[2]");
  EXPECT_EQ(inferred(inputs, "aten.ctc_loss.IntList(%p, %t, [7, 7], [3, 3])"), "f32[]");
}

}  // namespace
}  // namespace winze
