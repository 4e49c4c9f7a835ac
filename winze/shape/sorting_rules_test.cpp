// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "winze/shape/shape_test.h"

namespace winze {
namespace {

TEST(SortingRules, SearchesYieldIndices) {
  EXPECT_EQ(inferred("%x: input f32[s0, 4] strides [1, s0], %b: input f32[8]",
                     "aten.bucketize.Tensor(%x, %b, out_int32=True)"),
            "i32[s0, 4]");
}

}  // namespace
}  // namespace winze
