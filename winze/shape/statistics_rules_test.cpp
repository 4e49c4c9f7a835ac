// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "winze/shape/shape_test.h"

namespace winze {
namespace {

TEST(StatisticsRules, DistancesOfRows) {
  EXPECT_EQ(inferred("%a: input f32[s0, 3], %b: input f32[5, 3]", "aten.cdist.default(%a, %b)"),
            "f32[s0, 5]");
  EXPECT_EQ(inferred("%a: input f32[4, 3]", "aten.pdist.default(%a)"), "f32[6]");
  EXPECT_EQ(refusal("%a: input f32[4, 3], %b: input f32[5, 2]", "aten.cdist.default(%a, %b)"),
            "X1 and X2 must have the same number of columns. X1: 3 X2: 2");
}

TEST(StatisticsRules, QuantilesStandInFront) {
  EXPECT_EQ(inferred("%a: input f32[3, 4], %q: input f32[2]", "aten.quantile.default(%a, %q, 1)"),
            "f32[2, 3] strides [1, 2]");
  EXPECT_EQ(inferred("%a: input f32[3, 4]", "aten.quantile.scalar(%a, 0.5)"), "f32[]");
  EXPECT_EQ(refusal("%a: input i64[3]", "aten.quantile.scalar(%a, 0.5)"),
            "quantile() input tensor must be either float or double dtype");
}

TEST(StatisticsRules, HistogramsHaveAsManyBinsAsAskedFor) {
  EXPECT_EQ(inferred("%a: input f32[7]", "aten.histc.default(%a, 10)"), "f32[10]");
  EXPECT_EQ(inferred("%a: input f32[7]", "aten.histogram.bin_ct(%a, 10)", "%h, %e"),
            "f32[10], f32[11]");
  EXPECT_EQ(refusal("%a: input f32[7]", "aten.histc.default(%a, 0)"), "bins must be > 0");
}

}  // namespace
}  // namespace winze
