// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

namespace winze {

/// Names one operator overload within a context.
///
/// Operators of the compiled-in table have the same index in every context; their constants are in
/// `winze/schema/op_ids.h`. Operators added at run time follow after them.
struct OpId {
  std::uint32_t index = std::numeric_limits<std::uint32_t>::max();

  [[nodiscard]] constexpr bool is_valid() const {
    return index != std::numeric_limits<std::uint32_t>::max();
  }
  friend constexpr bool operator==(OpId, OpId) = default;
  friend constexpr auto operator<=>(OpId, OpId) = default;
};

}  // namespace winze

template <>
struct std::hash<winze::OpId> {
  std::size_t operator()(winze::OpId id) const noexcept {
    return std::size_t{id.index} * 0x9E3779B97F4A7C15U;
  }
};
