// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace winze {

/// Gives equal records equal dense ids; records keep their address. The caller hashes and compares,
/// so that a record can be looked up without being made.
template <typename Record>
class InternTable {
 public:
  /// The id of the record with this hash for which `equals` holds; else of the one that `make`
  /// returns.
  template <typename Equals, typename Make>
  std::uint32_t intern(std::uint64_t hash, Equals equals, Make make) {
    if ((records_.size() + 1) * 2 > table_.size()) grow();
    std::size_t at = hash & (table_.size() - 1);
    while (table_[at] != 0) {
      const std::uint32_t id = table_[at] - 1;
      if (hashes_[id] == hash && equals(records_[id])) return id;
      at = (at + 1) & (table_.size() - 1);
    }
    const auto id = static_cast<std::uint32_t>(records_.size());
    records_.push_back(make());
    hashes_.push_back(hash);
    table_[at] = id + 1;
    return id;
  }

  [[nodiscard]] const Record& operator[](std::uint32_t id) const { return records_[id]; }
  [[nodiscard]] std::size_t size() const { return records_.size(); }

 private:
  void grow() {
    table_.assign(table_.empty() ? 64 : table_.size() * 2, 0);
    for (std::uint32_t id = 0; id < records_.size(); ++id) {
      std::size_t at = hashes_[id] & (table_.size() - 1);
      while (table_[at] != 0) at = (at + 1) & (table_.size() - 1);
      table_[at] = id + 1;
    }
  }

  std::deque<Record> records_;
  std::vector<std::uint64_t> hashes_;
  std::vector<std::uint32_t> table_;  ///< open addressing, linear probing; id + 1, 0 is free
};

/// Copies of spans that live as long as the pool.
template <typename T>
class SpanPool {
 public:
  std::span<const T> copy(std::span<const T> values) {
    if (values.empty()) return {};
    if (blocks_.empty() || used_ + values.size() > block_size_) {
      block_size_ = std::max<std::size_t>(values.size(), block_size_ < 4096 ? 4096 : block_size_);
      blocks_.push_back(std::make_unique<T[]>(block_size_));
      used_ = 0;
    }
    T* at = blocks_.back().get() + used_;
    std::copy(values.begin(), values.end(), at);
    used_ += values.size();
    return {at, values.size()};
  }

 private:
  std::vector<std::unique_ptr<T[]>> blocks_;
  std::size_t block_size_ = 0;
  std::size_t used_ = 0;
};

}  // namespace winze
