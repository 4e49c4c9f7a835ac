// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "winze/ir/dtype.h"
#include "winze/shape/promotion.h"

namespace winze {

/// Spacing of the numbers of a dtype near 1 (torch.finfo(dtype).eps), of the parts for complex
/// dtypes; 0 for integers and bool.
[[nodiscard]] double epsilon_of(ScalarType dtype);

/// Distance of neighbouring numbers of a floating-point dtype around `value` (the unit in the last
/// place); that of the smallest normal numbers below these.
[[nodiscard]] double ulp_of(ScalarType dtype, double value);

/// Largest finite number of a floating-point dtype.
[[nodiscard]] double largest_of(ScalarType dtype);

/// Reads as many elements as `to` holds as numbers: of complex dtypes the real and imaginary parts
/// in turn, of bool 0 and 1. Integers beyond 2^53 are rounded. Exact for everything else. `from`
/// may be unaligned.
void read_numbers(ScalarType dtype, const std::byte* from, std::span<double> to);

/// An integer or bool, in the range of int64; uint64 beyond it wraps.
[[nodiscard]] std::int64_t read_integer(ScalarType dtype, const std::byte* from);

/// Writes numbers as elements of any dtype, rounded to nearest, ties to even; beyond the largest
/// number of a floating-point dtype its largest. Integers are cut to whole numbers.
void write_numbers(ScalarType dtype, std::span<const double> from, std::byte* to);
void write_integer(ScalarType dtype, std::int64_t value, std::byte* to);

}  // namespace winze
