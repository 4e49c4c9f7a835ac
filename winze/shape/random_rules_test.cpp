// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "winze/shape/shape_test.h"

namespace winze {
namespace {

TEST(RandomRules, SamplesFillATensor) {
  EXPECT_EQ(inferred("%a: input f32[2, 3] strides [1, 2]", "aten.normal_.default(%a)"),
            "f32[2, 3] strides [1, 2]");
  EXPECT_EQ(inferred("%a: input f32[s0, 3]", "aten.multinomial.default(%a, 2)"), "i64[s0, 2]");
  EXPECT_EQ(inferred("%a: input f32[s0], %b: input f32[3, 1]", "aten.normal.Tensor_Tensor(%a, %b)"),
            "f32[3, s0]");
}

TEST(RandomRules, NewSamplesAreLaidOutByTheOperator) {
  EXPECT_EQ(inferred("%a: input f32[3, 4] strides [8, 1]", "aten.uniform.default(%a)"),
            "f32[3, 4] strides [8, 1]");
  EXPECT_EQ(inferred("%a: input f32[3, 4] strides [8, 1]", "aten.normal_functional.default(%a)"),
            "f32[3, 4]");
  EXPECT_EQ(inferred("%a: input f32[3, 4] strides [1, 3]", "aten.normal_functional.default(%a)"),
            "f32[3, 4] strides [1, 3]");
  EXPECT_EQ(inferred("%a: input f32[3, 4] strides [1, 3]", "aten.bernoulli.p(%a, 0.5)"),
            "f32[3, 4]");
}

TEST(RandomRules, ParametersHaveToBeInRange) {
  EXPECT_EQ(refusal("%a: input f32[2]", "aten.exponential_.default(%a, 0.0)"),
            "exponential_ expects a parameter > 0.0, but found 0");
  EXPECT_EQ(refusal("%a: input f32[2]", "aten.normal_.default(%a, 0.0, -1.0)"),
            "normal_ expects std >= 0.0, but found std -1");
  EXPECT_EQ(refusal("%a: input f32[2]", "aten.geometric_.default(%a, 2.0)"),
            "geometric_ expects p to be in (0, 1), but got p=2");
  EXPECT_EQ(refusal("%a: input i64[2]", "aten.cauchy_.default(%a)"),
            "cauchy_ does not support the dtype int64");
  EXPECT_EQ(refusal("%a: input f32[2]", "aten.rrelu.default(%a, 0.3, 0.1)"),
            "Lower bound should be less than or equal to the upper bound, got 0.3 and 0.1");
}

TEST(RandomRules, KeysAreSplit) {
  EXPECT_EQ(
      inferred("%k: input u64[2], %n: input int = s0", "aten._philox_key_split.default(%k, %n)"),
      "u64[s0, 2]");
  EXPECT_EQ(refusal("%k: input i64[2]", "aten._philox_key_split.default(%k, 3)"),
            "_philox_key_split: key must have dtype uint64, got int64");
}

}  // namespace
}  // namespace winze
