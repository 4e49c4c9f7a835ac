// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace winze {

/// Blocks of memory for arrays of plain records. Blocks of 4 MiB and more are mapped from the
/// system on their own, in huge pages where it has them: the first touch of a page is then several
/// times cheaper, translating addresses takes far fewer entries, and growing moves page tables
/// instead of bytes.
namespace record_memory {

/// A block of `new_bytes` with the content of the block of `old_bytes`, which is given back. Null
/// and 0 stand for no block. Throws std::bad_alloc.
[[nodiscard]] void* resize(void* block, std::size_t old_bytes, std::size_t new_bytes);
/// A block whose bytes are all zero.
[[nodiscard]] void* allocate_zeroed(std::size_t bytes);
void release(void* block, std::size_t bytes) noexcept;

}  // namespace record_memory

/// What std::vector is, for records that may be moved as bytes, in memory as above. Records beyond
/// the size are not constructed, and growing the capacity touches none of them.
template <typename Record>
class RecordArray {
  static_assert(std::is_trivially_copyable_v<Record>);

 public:
  RecordArray() = default;
  RecordArray(const RecordArray&) = delete;
  RecordArray& operator=(const RecordArray&) = delete;
  ~RecordArray() { record_memory::release(data_, bytes(capacity_)); }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] Record* data() { return data_; }
  [[nodiscard]] const Record* data() const { return data_; }
  [[nodiscard]] Record& operator[](std::size_t index) { return data_[index]; }
  [[nodiscard]] const Record& operator[](std::size_t index) const { return data_[index]; }

  /// Asks the memory for a record that is wanted soon. Any index is allowed.
  void prefetch(std::size_t index) const {
    // An integer, since a pointer may not leave its array.
    const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(data_) + bytes(index);
    __builtin_prefetch(
        reinterpret_cast<const void*>(address));  // NOLINT(performance-no-int-to-ptr)
  }

  void reserve(std::size_t capacity) {
    if (capacity > capacity_) set_capacity(capacity);
  }
  /// New records are made where they lie: copies of one on the stack would wait for its stores.
  void resize(std::size_t size) {
    if (size > capacity_) grow(size);
    if (size > size_) std::uninitialized_value_construct(data_ + size_, data_ + size);
    size_ = size;
  }
  /// New records are copies of `record`.
  void resize(std::size_t size, Record record) {
    if (size > capacity_) grow(size);
    if (size > size_) std::uninitialized_fill(data_ + size_, data_ + size, record);
    size_ = size;
  }
  void push_back(Record record) { resize(size_ + 1, record); }
  void pop_back() { --size_; }
  /// Forgets the content; `size` records of zero bytes take its place.
  void assign_zeroed(std::size_t size) {
    record_memory::release(std::exchange(data_, nullptr), bytes(std::exchange(capacity_, 0)));
    size_ = 0;
    data_ = static_cast<Record*>(record_memory::allocate_zeroed(bytes(size)));
    size_ = capacity_ = size;
  }

 private:
  static constexpr std::size_t bytes(std::size_t records) { return records * sizeof(Record); }

  void grow(std::size_t size) {
    set_capacity(std::max({size, capacity_ + capacity_ / 2, std::size_t{16}}));
  }
  void set_capacity(std::size_t capacity) {
    data_ = static_cast<Record*>(record_memory::resize(data_, bytes(capacity_), bytes(capacity)));
    capacity_ = capacity;
  }

  Record* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace winze
