// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/shape/shape_test.h"

namespace winze {
namespace {

using testing::HasSubstr;

TEST(ResizingRules, UpsamplesByWholeFactors) {
  EXPECT_EQ(
      inferred("%x: input f32[1, 4, s0, 6]", "aten.upsample_nearest2d.vec(%x, None, [2.0, 2.0])"),
      "f32[1, 4, 2*s0, 12]");
}

TEST(ResizingRules, PadAddsOnBothSides) {
  EXPECT_EQ(inferred("%x: input f32[2, 5]", "aten.pad.default(%x, [1, 2])"), "f32[2, 8]");
  EXPECT_THAT(refusal("%x: input f32[2, 5]", "aten.pad.default(%x, [5, 0], \"reflect\")"),
              HasSubstr("Padding size should be less than the corresponding input dimension"));
}

}  // namespace
}  // namespace winze
