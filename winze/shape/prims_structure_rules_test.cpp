// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/shape/shape_test.h"

namespace winze {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(PrimsStructureRules, BroadcastsIntoGivenDimensions) {
  EXPECT_EQ(inferred("%x: input f32[s0, 1], %n: input int = s0, %m: input int = s1",
                     "prims.broadcast_in_dim.default(%x, [2, %n, %m], [1, 2])"),
            "f32[2, s0, s1] strides [0, 1, 0]");
  EXPECT_EQ(refusal("%x: input f32[3]", "prims.broadcast_in_dim.default(%x, [2, 4], [1])"),
            "non-broadcasting semantics require 3 == 4");
  EXPECT_EQ(refusal("%x: input f32[3, 2]", "prims.broadcast_in_dim.default(%x, [2, 3], [1, 0])"),
            "broadcast_in_dim expects an ascending place for each dimension");
}

TEST(PrimsStructureRules, CollapsesWhatLiesAsOneDimension) {
  EXPECT_EQ(inferred("%x: input f32[2, s0, 4] strides [8*s0, 8, 2]",
                     "prims.collapse_view.default(%x, 1, 2)"),
            "f32[2, 4*s0] strides [8*s0, 2]");
  EXPECT_EQ(refusal("%x: input f32[2, 3] strides [1, 2]", "prims.collapse_view.default(%x, 0, 1)"),
            "Attempting to view a collapsed tensor, but no such view exists!");
  EXPECT_EQ(inferred("%x: input f32[2, 3] strides [1, 2]", "prims.collapse.default(%x, 0, 1)"),
            "f32[6]");
}

TEST(PrimsStructureRules, SplitsADimension) {
  EXPECT_EQ(inferred("%x: input f32[6, 2] strides [4, 1]", "prims.split_dim.default(%x, 0, 3)"),
            "f32[3, 2, 2] strides [8, 4, 1]");
  EXPECT_THAT(refusal("%x: input f32[6]", "prims.split_dim.default(%x, 0, 4)"),
              HasSubstr("outer length of 4 divides it with a remainder!"));
}

TEST(PrimsStructureRules, ReductionsDropTheirDimensions) {
  EXPECT_EQ(inferred("%x: input f32[2, s0, 4] strides [1, 2, 2*s0]",
                     "prims.sum.default(%x, [0, 2], output_dtype=f64)"),
            "f64[s0]");
  EXPECT_EQ(inferred("%x: input c64[2, 3]", "prims.var.default(%x, [1])"), "f32[2]");
  EXPECT_EQ(refusal("%x: input f32[2, 3]", "prims.amax.default(%x, [1, 1])"),
            "amax is given the dimension 1 more than once");
}

TEST(PrimsStructureRules, CopiesKeepOrGiveStrides) {
  EXPECT_EQ(inferred("%x: input f32[2, 3] strides [1, 2]", "prims.clone.default(%x)"),
            "f32[2, 3] strides [1, 2]");
  EXPECT_EQ(inferred("%x: input f32[2, 3] strides [1, 2]", "prims.reshape.default(%x, [3, 2])"),
            "f32[3, 2]");
  EXPECT_EQ(inferred("%x: input f32[2, 3] offset [7]", "prims.copy_strided.default(%x, [1, 2])"),
            "f32[2, 3] strides [1, 2]");
}

TEST(PrimsStructureRules, JoiningAddsSizes) {
  const Inferred result =
      infer("%x: input f32[s0, 2], %y: input f32[3, 2]", "prims.cat.default([%x, %y], 0)");
  EXPECT_EQ(result.text, "f32[s0 + 3, 2]");
  EXPECT_THAT(infer("%x: input f32[2, s0], %y: input f32[3, s1]", "prims.cat.default([%x, %y], 0)")
                  .constraints,
              ElementsAre("Eq(s0, s1)"));
}

TEST(PrimsStructureRules, FactoriesMakeWhatTheyAreTold) {
  EXPECT_EQ(inferred("%n: input int = s0",
                     "prims.empty_permuted.default([2, %n, 4], [0, 2, 1], dtype=bf16, "
                     "device=cpu, requires_grad=False)"),
            "bf16[2, s0, 4] strides [4*s0, 1, s0]");
  EXPECT_EQ(inferred("", "prims.scalar_tensor.default(1.5)"), "f32[]");
}

TEST(PrimsStructureRules, InductorsRandomNumbersComeOfSeeds) {
  EXPECT_EQ(inferred("%s: input i64[], %n: input int = s0",
                     "prims.inductor_random.default([%n, 2], %s, \"rand\")"),
            "f32[s0, 2]");
  EXPECT_EQ(inferred("", "prims.inductor_seeds.default(3, cpu)"), "i64[3]");
}

}  // namespace
}  // namespace winze
