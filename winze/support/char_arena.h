// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace winze {

/// Memory for many short texts, given back all at once. What it gave out never moves.
class CharArena {
 public:
  /// Uninitialized memory of that size.
  char* allocate(std::size_t size) {
    if (size > left_) add_block(size);
    char* at = at_;
    at_ += size;
    left_ -= size;
    return at;
  }
  /// Gives back the last `size` bytes of the last allocation.
  void shrink(std::size_t size) {
    at_ -= size;
    left_ += size;
  }
  std::string_view store(std::string_view text) {
    if (text.empty()) return {};
    char* at = allocate(text.size());
    std::memcpy(at, text.data(), text.size());
    return {at, text.size()};
  }
  /// Bytes held.
  [[nodiscard]] std::size_t memory() const { return held_; }

 private:
  static constexpr std::size_t block_size = std::size_t{1} << 16U;

  void add_block(std::size_t size) {
    const std::size_t bytes = std::max(size, block_size);
    blocks_.emplace_back(new char[bytes]);
    held_ += bytes;
    at_ = blocks_.back().get();
    left_ = bytes;
  }

  std::vector<std::unique_ptr<char[]>> blocks_;
  char* at_ = nullptr;
  std::size_t left_ = 0;
  std::size_t held_ = 0;
};

}  // namespace winze
