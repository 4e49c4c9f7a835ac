// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "winze/torch/counted_random.h"
#include "winze/torch/host_value.h"
#include "winze/torch/input_use.h"

namespace winze {

/// What the elements of a generated tensor are to be.
struct FillRequest {
  std::string name;  ///< of the input
  InputUse use;
  std::uint32_t draw = 0;
  std::int64_t offsets_end = 0;  ///< `InputUse::offsets_end` as a number

  bool is_bounded = false;
  std::int64_t low = 0;   ///< least and
  std::int64_t high = 0;  ///< largest element; where `is_bounded`

  /// Keeps elements within a bound whose ends have these values.
  void narrow(const ElementBound& bound, std::int64_t bound_low, std::int64_t bound_high);
};

/// Gives a tensor of known dtype, sizes and strides its storage and elements.
void fill_tensor(HostTensor& tensor, const FillRequest& request, CountedRandom random);

}  // namespace winze
