// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/shape/shape_test.h"

namespace winze {
namespace {

TEST(QueryRules, SizesAreNumbers) {
  EXPECT_EQ(inferred("%x: input f32[s0, 3]", "aten.size.int(%x, -2)"), "int = s0");
  EXPECT_EQ(inferred("%x: input f32[s0, 3]", "aten.numel.default(%x)"), "int = 3*s0");
}

TEST(QueryRules, DtypesAnswerForThemselves) {
  EXPECT_EQ(inferred("%x: input f32[2]", "aten.is_floating_point.default(%x)"), "bool = True");
  EXPECT_EQ(inferred("%x: input u8[2]", "aten.is_signed.default(%x)"), "bool = False");
  EXPECT_EQ(inferred("", "aten.can_cast.default(f32, i64)"), "bool = False");
}

TEST(QueryRules, SizesThatMayBeEqualLeaveTheAnswerOpen) {
  EXPECT_EQ(inferred("%x: input f32[s0], %y: input f32[s1]", "aten.is_same_size.default(%x, %y)"),
            "<whether the sizes are the same depends on symbols>");
}

}  // namespace
}  // namespace winze
