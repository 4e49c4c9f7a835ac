// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "winze/ir/dtype.h"
#include "winze/ir/graph.h"

namespace winze {

/// `|actual - expected| <= absolute + relative * |expected|`.
struct Tolerance {
  double relative = 0;
  double absolute = 0;
};

/// Spacing of the numbers of a dtype near 1 (torch.finfo(dtype).eps), of the parts for complex
/// dtypes; 0 for integers and bool.
[[nodiscard]] double epsilon_of(ScalarType dtype);

/// The tolerance for values of `dtype` at a depth of `depth` roundings whose elements have the
/// typical magnitude `scale`:
///
///     relative = 4 * eps * sqrt(depth), but at most 1/32;   absolute = relative * scale
///
/// Roundings are independent errors of up to half a unit, so that they add up in quadrature
/// (Higham and Mary, A new approach to probabilistic rounding error analysis, 2019); 4 is the
/// margin. Where a low precision makes that more than 1/32, the direct comparison stays at 1/32,
/// and what fails it is judged by a run in float64.
[[nodiscard]] Tolerance default_tolerance(ScalarType dtype, double depth, double scale);

/// For each value of a graph the largest number of roundings on a path from the inputs to it: a
/// call adds 1, a reduction or a product of matrices as many as it sums terms.
class RoundingDepths {
 public:
  /// O(nodes). Symbolic sizes count as their hints; nested graphs are followed.
  explicit RoundingDepths(const Graph& graph);
  /// At least 1.
  [[nodiscard]] double depth(Value value) const;

 private:
  std::vector<double> depths_;
};

}  // namespace winze
