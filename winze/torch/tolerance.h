// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "winze/ir/dtype.h"

namespace winze {

/// `|actual - expected| <= absolute + relative * |expected|`.
struct Tolerance {
  double relative = 0;
  double absolute = 0;
};

/// The tolerance for values of `dtype` at a depth of `depth` roundings (`RoundingDepths`) whose
/// elements have the typical magnitude `scale`:
///
///     relative = min(4 * eps * sqrt(depth), max(1/32, 2 * eps))
///     absolute = relative * scale
///
/// where eps is torch.finfo(dtype).eps. Roundings are independent errors of up to half a unit in
/// the last place, so they add up in quadrature (Higham and Mary, A new approach to probabilistic
/// rounding error analysis, 2019); 4 is the margin. Where a low precision makes that coarse, the
/// direct comparison stays at 1/32, and what fails it is judged by a run in float64. Zero for
/// integers and bool.
[[nodiscard]] Tolerance default_tolerance(ScalarType dtype, double depth, double scale);

}  // namespace winze
