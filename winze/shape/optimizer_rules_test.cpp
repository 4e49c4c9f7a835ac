// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/shape/shape_test.h"

namespace winze {
namespace {

TEST(OptimizerRules, FusedAdamYieldsWhatItUpdates) {
  EXPECT_EQ(
      inferred("%p: input f32[2, 3] strides [1, 2], %s: input f32[]",
               "aten._fused_adam.default([%p], [%p], [%p], [%p], [], [%s], lr=0.1, beta1=0.9, "
               "beta2=0.9, weight_decay=0.0, eps=0.0, amsgrad=False, maximize=False)",
               "[%a], [%b], [%c], [%d], []"),
      "f32[2, 3] strides [1, 2], f32[2, 3] strides [1, 2], f32[2, 3] strides [1, 2], f32[2, 3] "
      "strides [1, 2]");
}

TEST(OptimizerRules, WhatIsNotReturnedInPlaceIsLeftOut) {
  EXPECT_EQ(inferred("%s: input f32[1], %t: input i32[1]",
                     "aten._amp_update_scale_.default(%s, %t, %s, 2.0, 0.5, 10)"),
            "f32[1]");
}

}  // namespace
}  // namespace winze
