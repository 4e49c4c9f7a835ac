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

TEST(RecurrentRules, KernelsOfDevicesYieldStepsStatesAndWhatTheyKeep) {
  EXPECT_EQ(
      inferred("%x: input f32[s0, 2, 3], %w: input f32[96], %h: input f32[2, 2, 3]",
               "aten._cudnn_rnn.default(%x, [%w], 4, %w, %h, %h, 2, 3, 0, 1, False, 0.0, True, "
               "True, [], None)",
               "%y, %hy, %cy, %r, %b"),
      "f32[s0, 2, 6], f32[2, 2, 3], f32[2, 2, 3], u8[0], f32[96]");
  EXPECT_EQ(
      inferred("%x: input f32[5, 2, 3], %w: input f32[9, 3], %h: input f32[1, 2, 3]",
               "aten.miopen_rnn.default(%x, [%w, %w], 2, %h, None, 3, 3, 1, False, 0.0, True, "
               "False, [], None)",
               "%y, %hy, %cy, %r, %b"),
      "f32[5, 2, 3], f32[1, 2, 3], f32[0], u8[0], f32[54]");
}

TEST(RecurrentRules, GradientsOfCells) {
  EXPECT_EQ(inferred("%g: input f32[s0, 3], %w: input f32[s0, 12]",
                     "aten._thnn_fused_lstm_cell_backward.default(%g, None, %g, %g, %w, False)",
                     "%a, %b, %c, %d, %e"),
            "f32[s0, 12], f32[s0, 12], f32[s0, 3], None, None");
  EXPECT_EQ(inferred("%g: input f32[s0, 3], %w: input f32[s0, 9], %b: input f32[9]",
                     "aten._thnn_differentiable_gru_cell_backward.default(%g, %w, %w, %g, %b, %b)",
                     "%a, %c, %d, %e, %f"),
            "f32[s0, 9], f32[s0, 9], f32[s0, 3], f32[9], f32[9]");
}

}  // namespace
}  // namespace winze
