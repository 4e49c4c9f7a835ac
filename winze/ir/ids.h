// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

namespace winze {

/// A 32-bit index that cannot be mixed up with one of another kind.
template <typename Tag>
struct Id {
  static constexpr std::uint32_t none_value = 0xFFFFFFFFu;
  std::uint32_t index = none_value;

  [[nodiscard]] constexpr bool valid() const { return index != none_value; }
  constexpr explicit operator bool() const { return valid(); }
  constexpr bool operator==(const Id&) const = default;
  constexpr auto operator<=>(const Id&) const = default;
};

using NodeId = Id<struct NodeTag>;
using ValueId = Id<struct ValueTag>;
using SlotId = Id<struct SlotTag>;
using MetaId = Id<struct MetaTag>;            ///< interned Meta of a Context
using StringId = Id<struct StringTag>;        ///< interned string of a Context
using SourceId = Id<struct SourceTag>;        ///< interned SourceInfo of a Context
using AttributeId = Id<struct AttributeTag>;  ///< interned constant list or record of a Context
using GraphId = Id<struct GraphTag>;          ///< nested graph, by its owner's index

}  // namespace winze

template <typename Tag>
struct std::hash<winze::Id<Tag>> {
  std::size_t operator()(winze::Id<Tag> id) const noexcept {
    return id.index * 0x9E3779B97F4A7C15ull;
  }
};
