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

TEST(SortingRules, DifferentSlicesAreCountedByData) {
  const std::string matrix = "%x: input f32[s0, 4] strides [1, s0]";
  EXPECT_EQ(inferred(matrix, "aten.unique_dim.default(%x, 0)", "%v, %i, %c"),
            "f32[u4, 4], i64[s0], i64[u4]");
  EXPECT_EQ(inferred(matrix, "aten.unique_dim_consecutive.default(%x, 1)", "%v, %i, %c"),
            "f32[s0, u4], i64[4], i64[u4]");
  EXPECT_EQ(inferred(matrix, "aten.unique_consecutive.default(%x, True, False, 0)", "%v, %i, %c"),
            "f32[u4, 4], i64[s0], i64[u4]");
  EXPECT_EQ(
      inferred("%x: input f32[3, 4] device cuda:0", "aten.unique_dim.default(%x, 0)", "%v, %i, %c"),
      "f32[u4, 4] device cuda:0, i64[0] device cuda:0, i64[0] device cuda:0");
  EXPECT_EQ(refusal("%x: input f32[]", "aten.unique_dim.default(%x, 0)", "%v, %i, %c"),
            "Dimension specified as 0 but tensor has no dimensions");
  EXPECT_EQ(inferred(matrix, "aten._unique.default(%x, True, True)", "%v, %i"),
            "f32[u4], i64[s0, 4]");
}

}  // namespace
}  // namespace winze
