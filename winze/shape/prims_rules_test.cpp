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

}  // namespace
}  // namespace winze
