// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

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
    std::uint32_t hash = 0;
    std::uint32_t id = not_found;
  };
  [[nodiscard]] std::size_t slot_of(std::string_view text, std::uint64_t hash) const;
  [[nodiscard]] std::uint64_t hash(std::string_view text) const;
  std::string_view store(std::string_view text);
  void grow();

  std::vector<Slot> slots_;  ///< open addressing, a power of two
  std::vector<std::string_view> views_;
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::size_t block_left_ = 0;
  std::size_t block_bytes_ = 0;
  char* block_at_ = nullptr;
  std::uint64_t
      seed_;  ///< random, so that strings cannot be chosen to collide; ids do not depend on it
};

}  // namespace winze
