// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "winze/shape/shape_test.h"

namespace winze {
namespace {

TEST(CollectiveRules, TheFirstDimensionIsGatheredAndScattered) {
  EXPECT_EQ(inferred("%a: input f32[s0, 3]",
                     "_c10d_functional.all_gather_into_tensor.default(%a, 4, \"0\")"),
            "f32[4*s0, 3]");
  EXPECT_EQ(inferred("%a: input f32[8, 3]",
                     "_c10d_functional.reduce_scatter_tensor.default(%a, \"sum\", 4, \"0\")"),
            "f32[2, 3]");
  EXPECT_EQ(inferred("%a: input f32[8, 3]",
                     "_c10d_functional.all_to_all_single.default(%a, [1, 2], [4, 4], \"0\")"),
            "f32[3, 3]");
  EXPECT_EQ(
      inferred("%a: input f32[2, 3] strides [1, 2]", "_c10d_functional.wait_tensor.default(%a)"),
      "f32[2, 3] strides [1, 2]");
}

TEST(CollectiveRules, ThereHasToBeADimension) {
  EXPECT_EQ(
      refusal("%a: input f32[]", "_c10d_functional.all_gather_into_tensor.default(%a, 4, \"0\")"),
      "all_gather_into_tensor expects a dimension to gather along");
}

TEST(CollectiveRules, WhatIsReceivedHasTheSizesOfItsBuffer) {
  EXPECT_EQ(inferred("%a: input f32[s0, 3] strides [1, s0]",
                     "_c10d_functional.irecv.default(%a, 1, 0, \"0\")"),
            "f32[s0, 3] strides [1, s0]");
  EXPECT_EQ(inferred("%a: input f32[s0, 3]", "_c10d_functional.isend.default(%a, 1, 0, \"0\")"),
            "f32[0]");
  EXPECT_EQ(
      inferred("%a: input f32[s0, 3], %b: input f64[2]",
               "_c10d_functional.batch_p2p_ops.default([\"isend\", \"irecv\"], [1, 1], [0, 0], "
               "[%a, %b], \"0\")",
               "[%x, %y]"),
      "f32[0], f64[2]");
}

}  // namespace
}  // namespace winze
