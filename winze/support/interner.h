// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "winze/support/char_arena.h"

namespace winze {

/// Gives equal strings equal ids. Ids are dense, in order of first use; id 0 is the empty string.
/// Views stay valid as long as the interner lives.
class StringInterner {
 public:
  StringInterner();

  /// The id of the string, a new one when it was not seen before. O(length).
  std::uint32_t intern(std::string_view text);
  /// The id of a string that was interned, or `not_found`.
  [[nodiscard]] std::uint32_t find(std::string_view text) const;
  [[nodiscard]] std::string_view view(std::uint32_t id) const { return views_[id]; }
  /// How many different strings there are, the empty one included.
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(views_.size()); }
  /// Bytes held.
  [[nodiscard]] std::size_t memory() const;

  static constexpr std::uint32_t not_found = ~std::uint32_t{0};

 private:
  struct Slot {
    std::uint32_t tag = 0;  ///< the upper half of the hash
    std::uint32_t id = not_found;
  };
  [[nodiscard]] std::size_t slot_of(std::string_view text, std::uint64_t hash) const;
  void grow();

  std::vector<Slot> slots_;  ///< open addressing; a power of two, at most half full
  std::vector<std::string_view> views_;
  CharArena texts_;
  std::uint64_t seed_;  ///< random, so that hostile strings cannot collide; ids do not depend on it
};

}  // namespace winze
