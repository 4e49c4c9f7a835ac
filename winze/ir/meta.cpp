// SPDX-License-Identifier: Apache-2.0
#include "winze/ir/meta.h"

#include <algorithm>

namespace winze {

bool TensorMeta::is_static() const {
  const auto constant = [](SymInt size) { return size.is_constant(); };
  return storage_offset.is_constant() && std::ranges::all_of(sizes, constant) &&
         std::ranges::all_of(strides, constant);
}

}  // namespace winze
