// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/tolerance.h"

#include <algorithm>
#include <cmath>

#include "winze/torch/element.h"

namespace winze {
namespace {

constexpr double margin = 4;
constexpr double coarsest = 1.0 / 32;

}  // namespace

Tolerance default_tolerance(ScalarType dtype, double depth, double scale) {
  const double epsilon = epsilon_of(dtype);
  const double relative =
      std::min(margin * epsilon * std::sqrt(std::max(depth, 1.0)), std::max(coarsest, 2 * epsilon));
  return {relative, relative * scale};
}

}  // namespace winze
