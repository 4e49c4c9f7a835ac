// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <vector>

#include "winze/symbolic/sym_expr.h"

namespace winze {

/// Sizes, strides or dimensions, named as c10::DimVector: up to eight without the heap.
class DimVector {
 public:
  static constexpr std::size_t inline_capacity = 8;

  DimVector() = default;
  DimVector(std::initializer_list<SymInt> values) { append({values.begin(), values.size()}); }
  explicit DimVector(std::span<const SymInt> values) { append(values); }
  DimVector(std::size_t count, SymInt value) { resize(count, value); }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] SymInt* data() { return spilled_.empty() ? inline_.data() : spilled_.data(); }
  [[nodiscard]] const SymInt* data() const {
    return spilled_.empty() ? inline_.data() : spilled_.data();
  }
  [[nodiscard]] SymInt& operator[](std::size_t index) { return data()[index]; }
  [[nodiscard]] SymInt operator[](std::size_t index) const { return data()[index]; }
  [[nodiscard]] SymInt back() const { return data()[size_ - 1]; }
  [[nodiscard]] SymInt* begin() { return data(); }
  [[nodiscard]] SymInt* end() { return data() + size_; }
  [[nodiscard]] const SymInt* begin() const { return data(); }
  [[nodiscard]] const SymInt* end() const { return data() + size_; }
  // As c10::DimVector becomes an IntArrayRef.
  operator std::span<const SymInt>() const {  // NOLINT(google-explicit-constructor): see above
    return {data(), size_};
  }

  void push_back(SymInt value) { resize(size_ + 1, value); }
  void append(std::span<const SymInt> values) {
    const std::size_t before = size_;
    resize(size_ + values.size());
    std::copy(values.begin(), values.end(), data() + before);
  }
  void insert(std::size_t index, SymInt value) {
    push_back(value);
    std::rotate(begin() + index, end() - 1, end());
  }
  void erase(std::size_t index) {
    std::copy(begin() + index + 1, end(), begin() + index);
    resize(size_ - 1);
  }
  void resize(std::size_t count, SymInt value = 0) {
    if (count > inline_capacity) {
      if (spilled_.empty()) spilled_.assign(inline_.begin(), inline_.begin() + size_);
      spilled_.resize(count, value);
    } else {
      if (!spilled_.empty()) {
        std::copy_n(spilled_.begin(), std::min(count, size_), inline_.begin());
        spilled_.clear();
      }
      for (std::size_t index = size_; index < count; ++index) inline_[index] = value;
    }
    size_ = count;
  }
  friend bool operator==(const DimVector& a, const DimVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  std::array<SymInt, inline_capacity> inline_;
  std::vector<SymInt> spilled_;  ///< all of them where there are more than fit; else empty
  std::size_t size_ = 0;
};

}  // namespace winze
