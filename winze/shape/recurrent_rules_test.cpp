// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "winze/shape/shape_test.h"

namespace winze {
namespace {

TEST(RecurrentRules, BatchFirstIsTransposed) {
  EXPECT_EQ(
      inferred("%x: input f32[2, 5, 6], %h: input f32[1, 2, 7], %w: input f32[21, 6], "
               "%v: input f32[21, 7]",
               "aten.gru.input(%x, %h, [%w, %v], False, 1, 0.0, False, False, True)", "%a, %b"),
      "f32[2, 5, 7] strides [7, 14, 1], f32[1, 2, 7]");
}

}  // namespace
}  // namespace winze
