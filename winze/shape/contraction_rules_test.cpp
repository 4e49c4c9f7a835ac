// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "winze/shape/shape_test.h"

namespace winze {
namespace {

TEST(ContractionRules, EinsumPutsLabelsWhereTheyAreAskedFor) {
  EXPECT_EQ(inferred("%a: input f32[s0, 4], %b: input f32[4, 5]",
                     "aten.einsum.default(\"ij,jk->ik\", [%a, %b])"),
            "f32[s0, 5]");
  EXPECT_EQ(inferred("%a: input f32[3, 4], %b: input f32[4, 5]",
                     "aten.einsum.default(\"ij,jk->ki\", [%a, %b])"),
            "f32[5, 3]");
  EXPECT_EQ(inferred("%a: input f32[3, 4, 6], %b: input f32[4, 5]",
                     "aten.einsum.default(\"ijl,jk->ikl\", [%a, %b])"),
            "f32[3, 5, 6] strides [30, 1, 5]");
  EXPECT_EQ(inferred("%a: input f32[3, 4] strides [1, 3], %b: input f32[3, 1]",
                     "aten.einsum.default(\"ab,ac->cab\", [%a, %b])"),
            "f32[1, 3, 4] strides [1, 1, 3]");
  EXPECT_EQ(inferred("%a: input f32[3, 3]", "aten.einsum.default(\"ii->i\", [%a])"),
            "f32[3] strides [4]");
  EXPECT_EQ(inferred("%a: input f32[2, 3, 4], %b: input f32[4, 5]",
                     "aten.einsum.default(\"...ij,jk\", [%a, %b])"),
            "f32[2, 3, 5]");
}

TEST(ContractionRules, EinsumRefusesWhatItCannotRead) {
  EXPECT_EQ(refusal("%a: input f32[3]", "aten.einsum.default(\"ij->i\", [%a])"),
            "einsum(): the number of subscripts in the equation (2) does not match the number of "
            "dimensions (1) for operand 0");
  EXPECT_EQ(refusal("%a: input f32[3]", "aten.einsum.default(\"i->k\", [%a])"),
            "einsum(): an output subscript does not appear in the equation for any input");
  EXPECT_EQ(refusal("%a: input f32[3]", "aten.einsum.default(\"i->ii\", [%a])"),
            "einsum(): an output subscript appears more than once in the output");
  EXPECT_EQ(refusal("%a: input f32[3]", "aten.einsum.default(\"i,i->\", [%a])"),
            "einsum(): fewer operands were provided than specified in the equation");
  EXPECT_EQ(refusal("%a: input f32[3]", "aten.einsum.default(\"1->\", [%a])"),
            "einsum(): invalid subscript given: 1, subscripts must be in [a-zA-Z]");
  EXPECT_EQ(refusal("%a: input f32[3]", "aten.einsum.default(\".i\", [%a])"),
            "einsum(): found '.' that is not part of any ellipsis");
}

TEST(ContractionRules, ProductsOverGivenDimensions) {
  EXPECT_EQ(inferred("%a: input f32[2, 3], %b: input f32[3, 4]",
                     "aten.tensordot.default(%a, %b, [1], [0])"),
            "f32[2, 4]");
  EXPECT_EQ(inferred("%a: input f32[2, 3], %b: input f32[4, 3]", "aten.inner.default(%a, %b)"),
            "f32[2, 4]");
  EXPECT_EQ(inferred("%a: input f32[2, 3], %b: input f32[4, 5]", "aten.kron.default(%a, %b)"),
            "f32[8, 15]");
  EXPECT_EQ(refusal("%a: input f32[2, 3], %b: input f32[4, 4]",
                    "aten.tensordot.default(%a, %b, [1], [0])"),
            "contracted dimensions need to match, but first has size 3 and second has size 4");
}

}  // namespace
}  // namespace winze
