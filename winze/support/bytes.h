// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace winze {

/// An immutable range of bytes that shares ownership of what backs it: a mapped file or a heap
/// buffer. Copying and slicing copy no bytes.
///
/// A mapped file shows what the file holds when a byte is first touched. If another process
/// shortens the file behind a mapping, touching the lost part raises SIGBUS; files that are in use
/// must be replaced by rename (as AtomicFile does), never truncated in place.
class Bytes {
 public:
  Bytes() = default;

  /// Takes over a string's buffer.
  static Bytes own(std::string text);
  /// Copies the text.
  static Bytes copy(std::string_view text);
  /// Refers to memory that the caller keeps alive for as long as any copy of the result is.
  static Bytes borrow(std::string_view text);
  /// Refers to memory that `owner` keeps alive.
  static Bytes share(std::shared_ptr<const void> owner, const void* data, std::size_t size);

  [[nodiscard]] const std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::span<const std::byte> span() const { return {data_, size_}; }
  [[nodiscard]] std::string_view string_view() const {
    return {reinterpret_cast<const char*>(data_), size_};
  }

  /// The `size` bytes from `offset` on. Throws InternalError when they are not all inside.
  [[nodiscard]] Bytes slice(std::size_t offset, std::size_t size) const;

  /// Maps those pages of a mapped file that are not mapped yet in one call to the system, which is
  /// cheaper than to touch them one after the other. For bytes that are about to be read; those
  /// that are not in memory are read from the disk. Nothing for other bytes.
  void map_pages() const;

  /// Copies the bytes from `offset` on that fit into `to`. Reads a mapped file by a call to the
  /// system, which for a few bytes here and there is several times cheaper than to map the pages
  /// they are on. Throws InternalError when they are not all inside, Error when the file was
  /// shortened meanwhile.
  void copy_to(std::span<char> to, std::size_t offset) const;

 private:
  friend Bytes map_file(const std::string& path, std::size_t limit);

  /// What keeps the bytes alive; of a mapped file also the file and where it begins.
  struct Backing {
    Backing(std::shared_ptr<const void> kept, int file, const std::byte* first)
        : memory(std::move(kept)), fd(file), begin(first) {}
    Backing(const Backing&) = delete;
    Backing& operator=(const Backing&) = delete;
    ~Backing();
    std::shared_ptr<const void> memory;
    int fd;
    const std::byte* begin;
  };

  std::shared_ptr<const Backing> backing_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// The most that is read of something that cannot be mapped, unless the caller says otherwise.
inline constexpr std::size_t default_read_limit = std::size_t{16} << 30U;

/// Maps a file read-only. What cannot be mapped, such as a pipe, is read up to `limit` bytes.
/// Throws Error naming the path and the reason when the file cannot be opened or read.
Bytes map_file(const std::string& path, std::size_t limit = default_read_limit);

/// Reads a stream such as standard input to its end. `name` is what errors call it. Throws Error
/// when the stream fails or holds more than `limit` bytes.
Bytes read_stream(std::FILE* stream, const std::string& name,
                  std::size_t limit = default_read_limit);
Bytes read_stream(std::istream& stream, const std::string& name,
                  std::size_t limit = default_read_limit);

}  // namespace winze
