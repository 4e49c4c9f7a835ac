// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/shape/shape_test.h"

namespace winze {
namespace {

TEST(PrimsRules, OperandsKeepTheirDtype) {
  EXPECT_EQ(inferred("%x: input i64[s0]", "prims.sqrt.default(%x)"), "i64[s0]");
  EXPECT_EQ(inferred("%x: input f32[s0]", "prims.lt.default(%x, %x)"), "b8[s0]");
}

TEST(PrimsRules, OperandsOfDifferentDtypesAreRefused) {
  EXPECT_EQ(refusal("%x: input f32[2], %y: input f64[2]", "prims.add.default(%x, %y)"),
            "Tensor with dtype float64 is not the expected dtype of float32!");
}

TEST(PrimsRules, OperandsDoNotBroadcast) {
  EXPECT_EQ(refusal("%x: input f32[2, 3], %y: input f32[1, 3]", "prims.add.default(%x, %y)"),
            "the operands of a prim have different shapes");
  EXPECT_EQ(inferred("%x: input f32[2, s0], %y: input f32[]", "prims.add.default(%y, %x)"),
            "f32[2, s0]");
}

TEST(PrimsRules, ThePredicateHasNoSayInTheDtype) {
  EXPECT_EQ(inferred("%p: input b8[s0], %x: input f16[s0]", "prims.where.default(%p, %x, %x)"),
            "f16[s0]");
}

}  // namespace
}  // namespace winze
