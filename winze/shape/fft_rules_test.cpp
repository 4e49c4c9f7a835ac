// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "winze/shape/shape_test.h"

namespace winze {
namespace {

TEST(FftRules, RealTransformsHalveTheLastDimension) {
  EXPECT_EQ(inferred("%x: input f32[3, 8]", "aten.fft_rfft.default(%x)"), "c64[3, 5]");
  EXPECT_EQ(inferred("%x: input c64[3, 5]", "aten.fft_irfft.default(%x)"), "f32[3, 8]");
  EXPECT_EQ(inferred("%x: input f32[3, s0]", "aten.fft_rfft.default(%x)"), "c64[3, s0//2 + 1]");
}

TEST(FftRules, TransformedDimensionsLieInnermost) {
  EXPECT_EQ(inferred("%x: input c64[3, 4]", "aten._fft_c2c.default(%x, [0], 0, True)"),
            "c64[3, 4] strides [1, 3]");
}

TEST(FftRules, LayoutsOfCompositesOfSymbolicSizes) {
  EXPECT_EQ(inferred("%x: input c64[2, 3, 4] strides [12, 1, 3]", "aten.fft_fft2.default(%x)"),
            "c64[2, 3, 4] strides [12, 1, 3]");
  EXPECT_EQ(inferred("%x: input c64[s0, 3, 4] strides [12, 1, 3]", "aten.fft_fft2.default(%x)"),
            "<the layout of a transform of symbolic sizes depends on how it was exported>");
  EXPECT_EQ(inferred("%x: input c64[s0, 3, 4]", "aten.fft_fft2.default(%x)"), "c64[s0, 3, 4]");
}

TEST(FftRules, InputsAreCutAndPadded) {
  EXPECT_EQ(inferred("%x: input f32[3, 8]", "aten.fft_fft.default(%x, 5)"), "c64[3, 5]");
  EXPECT_EQ(inferred("%x: input f32[3, s0]", "aten.fft_fft.default(%x, 5)"), "c64[3, 5]");
  EXPECT_EQ(inferred("%x: input f32[2, 3, s0] strides [3*s0, 1, 3]", "aten.fft_fft.default(%x, 5)"),
            "<whether s0 or 5 is larger is not known>");
}

TEST(FftRules, TransformsRefuseWhatTheyCannotTake) {
  EXPECT_EQ(refusal("%x: input c64[3]", "aten.fft_rfft.default(%x)"),
            "fft_rfft expects a real input tensor, but got complex64");
  EXPECT_EQ(refusal("%x: input f16[3]", "aten.fft_fft.default(%x)"), "Unsupported dtype float16");
  EXPECT_EQ(refusal("%x: input f32[3, 4]", "aten.fft_fftn.default(%x, None, [0, 0])"),
            "FFT dims must be unique");
  EXPECT_EQ(refusal("%x: input f32[3, 4]", "aten.fft_fftn.default(%x, [2, 2], [0])"),
            "When given, dim and shape arguments must have the same length");
  EXPECT_EQ(refusal("%x: input f32[3]", "aten.fft_fft.default(%x, 0)"),
            "Invalid number of data points (0) specified");
}

}  // namespace
}  // namespace winze
