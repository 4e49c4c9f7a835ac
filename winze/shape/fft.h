// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "winze/shape/shape_call.h"
#include "winze/shape/sizes.h"

// Fourier transforms as functions, for the rules of what is made of them. Layouts are those of
// builds with MKL; on other devices NotInferable.
namespace winze {

/// Complex to complex over `dims`, the last innermost (aten::_fft_c2c).
[[nodiscard]] FakeTensor fft_c2c(const ShapeCall& call, const TensorMeta& input,
                                 std::vector<std::size_t> dims);
/// Real to complex; half of the last of `dims` where `onesided` (aten::_fft_r2c).
[[nodiscard]] FakeTensor fft_r2c(const ShapeCall& call, const TensorMeta& input,
                                 std::vector<std::size_t> dims, bool onesided);

}  // namespace winze
