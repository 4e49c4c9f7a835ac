// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/shape/shape_test.h"

namespace winze {
namespace {

TEST(StorageRules, SumToSizeYieldsWhatHasTheSizesAlready) {
  EXPECT_EQ(inferred("%x: input f32[2, 3] strides [1, 2]", "aten.sum_to_size.default(%x, [2, 3])"),
            "f32[2, 3] strides [1, 2]");
  EXPECT_EQ(inferred("%x: input i32[s0, 3]", "aten.sum_to_size.default(%x, [1, 3])"), "i64[1, 3]");
}

TEST(StorageRules, SizesThatWereNotExpandedAreRefused) {
  EXPECT_EQ(refusal("%x: input f32[4, 3]", "aten.sum_to_size.default(%x, [4, 2])"),
            "sum_to_size: the tensor is not one that was expanded from these sizes");
}

TEST(StorageRules, SetTakesSizesOfItsSource) {
  EXPECT_EQ(inferred("%x: input f32[2], %y: input f32[3, 4] strides [1, 3]",
                     "aten.set_.source_Tensor(%x, %y)"),
            "f32[3, 4] strides [1, 3]");
  EXPECT_EQ(refusal("%x: input f32[2], %y: input f64[3]", "aten.set_.source_Tensor(%x, %y)"),
            "Could not set tensor of type float64 to a tensor of type float32");
}

}  // namespace
}  // namespace winze
