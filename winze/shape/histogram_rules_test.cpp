// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/shape/shape_test.h"

namespace winze {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(HistogramRules, EdgesAreOneMoreThanBins) {
  EXPECT_EQ(
      inferred("%x: input f32[s0, 2]", "aten.histogramdd.default(%x, [3, 4])", "%h, [%a, %b]"),
      "f32[3, 4], f32[4], f32[5]");
}

TEST(HistogramRules, CountsDependOnData) {
  EXPECT_THAT(inferred("%x: input i64[s0]", "aten.bincount.default(%x)"), HasSubstr("i64[u"));
}

TEST(HistogramRules, GradientsNeedNeighbours) {
  EXPECT_EQ(refusal("%x: input f32[1]", "aten.gradient.scalarint(%x)", "[%r]"),
            "torch.gradient expected each dimension size to be at least edge_order+1");
  const Inferred result = infer("%x: input f32[u0]", "aten.gradient.scalarint(%x)", "[%r]");
  EXPECT_THAT(result.constraints, ElementsAre("u0 >= 2"));
}

}  // namespace
}  // namespace winze
