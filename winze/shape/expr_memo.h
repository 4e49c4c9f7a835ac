// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace winze {

/// Remembers what came of the last questions about two expressions. A table of fixed size in which
/// a newer answer takes the place of an older one, so that it neither grows nor has to be cleared.
class ExprMemo {
 public:
  struct Key {
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    std::uint32_t epoch = 0;  ///< of the ranges that the answer holds for
    std::uint32_t question = 0;
    bool operator==(const Key&) const = default;
  };

  /// Null where it is not known. Valid until the next `put`.
  [[nodiscard]] const std::uint64_t* find(const Key& key) const {
    if (entries_.empty()) return nullptr;
    const Entry& entry = entries_[slot(key)];
    return entry.is_set && entry.key == key ? &entry.answer : nullptr;
  }
  void put(const Key& key, std::uint64_t answer) {
    if (entries_.empty()) entries_.resize(capacity);
    entries_[slot(key)] = {key, answer, true};
  }

 private:
  static constexpr std::size_t capacity = 2048;
  struct Entry {
    Key key;
    std::uint64_t answer = 0;
    bool is_set = false;
  };
  [[nodiscard]] static std::size_t slot(const Key& key) {
    constexpr std::uint64_t odd = 0x9E3779B97F4A7C15;  // the golden ratio: spreads small numbers
    std::uint64_t hash = (key.a * odd ^ key.b) * odd + key.question;
    hash *= odd;
    return hash >> 53U;
  }

  std::vector<Entry> entries_;  ///< empty until first needed
};

}  // namespace winze
