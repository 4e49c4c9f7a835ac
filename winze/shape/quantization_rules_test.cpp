// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "winze/shape/shape_test.h"

namespace winze {
namespace {

TEST(QuantizationRules, QuantizedNumbersKeepTheLayout) {
  EXPECT_EQ(inferred("%x: input f32[2, 3] strides [1, 2]",
                     "quantized_decomposed.quantize_per_tensor.default(%x, 0.5, 0, -128, 127, i8)"),
            "i8[2, 3] strides [1, 2]");
  EXPECT_EQ(
      inferred("%x: input i8[2, 3]",
               "quantized_decomposed.dequantize_per_tensor.default(%x, 0.5, 0, -128, 127, i8)"),
      "f32[2, 3]");
  EXPECT_EQ(inferred("%x: input i8[2, 3]",
                     "quantized_decomposed.dequantize_per_tensor.default(%x, 0.5, 0, -128, 127, "
                     "i8, out_dtype=bf16)"),
            "bf16[2, 3]");
}

TEST(QuantizationRules, ParametersAreChosenForTensorsAndTokens) {
  EXPECT_EQ(
      inferred("%x: input f32[s0, 3]",
               "quantized_decomposed.choose_qparams.tensor(%x, -128, 127, 1e-5, i8)", "%s, %z"),
      "f64[1], i64[1]");
  EXPECT_EQ(inferred("%x: input f32[s0, 3]",
                     "quantized_decomposed.choose_qparams_per_token.default(%x, i8)", "%s, %z"),
            "f64[s0, 1], i64[s0, 1]");
}

TEST(QuantizationRules, DtypesHaveToFit) {
  EXPECT_EQ(refusal("%x: input f64[2]",
                    "quantized_decomposed.quantize_per_tensor.default(%x, 0.5, 0, -128, 127, i8)"),
            "Expecting input to have dtype torch.float32, but got dtype: float64");
  EXPECT_EQ(refusal("%x: input i8[2]",
                    "quantized_decomposed.dequantize_per_tensor.default(%x, 0.5, 0, 0, 255, u8)"),
            "Expecting input to have dtype: uint8, but got int8");
}

}  // namespace
}  // namespace winze
