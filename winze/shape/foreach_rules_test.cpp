// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "winze/shape/shape_test.h"

namespace winze {
namespace {

TEST(ForeachRules, EachTensorIsOneCall) {
  EXPECT_EQ(inferred("%a: input f32[2, 3], %b: input i64[4]",
                     "aten._foreach_add.Scalar([%a, %b], 1.5)", "[%c, %d]"),
            "f32[2, 3], f32[4]");
  EXPECT_EQ(inferred("%a: input f32[2], %b: input i64[4]", "aten._foreach_sqrt.default([%a, %b])",
                     "[%c, %d]"),
            "f32[2], f32[4]");
  EXPECT_EQ(inferred("%a: input f32[2], %b: input f64[4]", "aten._foreach_norm.Scalar([%a, %b])",
                     "[%c, %d]"),
            "f32[], f64[]");
}

TEST(ForeachRules, ListsHaveToBeOfOneLength) {
  EXPECT_EQ(refusal("%a: input f32[2]", "aten._foreach_abs.default([])", "[%b]"),
            "Tensor list must have at least one tensor.");
  EXPECT_EQ(refusal("%a: input f32[2]", "aten._foreach_add.List([%a, %a], [%a])", "[%c, %d]"),
            "Tensor lists must have the same number of tensors, got 2 and 1");
}

}  // namespace
}  // namespace winze
