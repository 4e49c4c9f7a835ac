// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/shape/shape_test.h"

namespace winze {
namespace {

using testing::HasSubstr;

TEST(PoolingRules, SizesFollowTheWindows) {
  EXPECT_EQ(inferred("%x: input f32[s0, 3, 8, 9]", "aten.max_pool2d.default(%x, [2, 2])"),
            "f32[s0, 3, 4, 4]");
  EXPECT_EQ(inferred("%x: input f32[2, 3, 8, 9]",
                     "aten.max_pool2d.default(%x, [2, 2], [2, 2], [0, 0], [1, 1], True)"),
            "f32[2, 3, 4, 5]");
}

TEST(PoolingRules, RefusesTooMuchPadding) {
  EXPECT_THAT(
      refusal("%x: input f32[2, 3, 8, 8]", "aten.avg_pool2d.default(%x, [2, 2], [2, 2], [2, 2])"),
      HasSubstr("pad should be at most half of effective kernel size"));
}

}  // namespace
}  // namespace winze
