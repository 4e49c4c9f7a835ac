// SPDX-License-Identifier: Apache-2.0
#include "winze/shape/families.h"

#include <array>

namespace winze {

std::span<const ShapeFamily> shape_families() {
  static const std::array families = {
      ShapeFamily{"pointwise", pointwise_rows()},
      ShapeFamily{"views", view_rows()},
  };
  return families;
}

}  // namespace winze
