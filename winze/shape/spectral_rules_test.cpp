// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/shape/shape_test.h"

namespace winze {
namespace {

using ::testing::HasSubstr;

TEST(SpectralRules, FramesAreCountedSymbolically) {
  EXPECT_EQ(inferred("%x: input f32[2, s0]",
                     "aten.stft.default(%x, 16, 4, None, None, False, None, True)"),
            "c64[2, 9, s0//4 - 3] strides [9*(s0//4) - 27, 1, 9]");
}

TEST(SpectralRules, RealSignalsSayWhetherTheyWantComplexNumbers) {
  EXPECT_THAT(refusal("%x: input f32[64]", "aten.stft.default(%x, 16)"),
              HasSubstr("stft requires the return_complex parameter be given for real inputs"));
}

TEST(SpectralRules, InverseLeavesOutWhatWasPadded) {
  EXPECT_EQ(inferred("%x: input c64[9, 12]", "aten.istft.default(%x, 16)"), "f32[44]");
}

}  // namespace
}  // namespace winze
