// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/shape/shape_test.h"

namespace winze {
namespace {

TEST(PackedMatmulRules, TilesOfFourBitsHoldEightColumns) {
  EXPECT_EQ(inferred("%x: input bf16[s0, 64], %w: input i32[2, 2, 32, 1], %s: input bf16[2, 16, 2]",
                     "aten._weight_int4pack_mm.default(%x, %w, 32, %s)"),
            "bf16[s0, 16]");
}

TEST(PackedMatmulRules, ScaledProductsHaveTheDtypeThatIsAskedFor) {
  EXPECT_EQ(inferred("%a: input f8e4m3fn[s0, 64], %b: input f8e4m3fn[64, 32] strides [1, 64], "
                     "%s: input f32[1]",
                     "aten._scaled_mm.default(%a, %b, %s, %s, None, None, bf16)"),
            "bf16[s0, 32]");
}

TEST(PackedMatmulRules, OtherDtypesAreRefused) {
  EXPECT_EQ(refusal("%a: input f32[4, 4]", "aten._convert_weight_to_int4pack.default(%a, 2)"),
            "_convert_weight_to_int4pack: expected uint8, got float32");
}

TEST(PackedMatmulRules, GroupsOfAMatrixNeedOffsets) {
  EXPECT_EQ(refusal("%a: input bf16[4, 16], %b: input bf16[2, 16, 8]",
                    "aten._grouped_mm.default(%a, %b)"),
            "Offsets tensor not provided, but is needed for 2D/3D multiplicand layouts.");
  EXPECT_EQ(inferred("%a: input bf16[s0, 16], %b: input bf16[2, 16, 8], %o: input i32[2]",
                     "aten._grouped_mm.default(%a, %b, %o)"),
            "bf16[s0, 8]");
}

TEST(PackedMatmulRules, RowsOfGroupsOnDevicesBeginAtSixteenBytes) {
  EXPECT_EQ(inferred("%a: input bf16[4, 16] device cuda:0, %b: input bf16[2, 16, 12] strides [256, "
                     "16, 1] device cuda:0, %o: input i32[2] device cuda:0",
                     "aten._grouped_mm.default(%a, %b, %o)"),
            "bf16[4, 12] strides [16, 1] device cuda:0");
}

}  // namespace
}  // namespace winze
