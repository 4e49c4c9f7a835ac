// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "winze/support/byte_sink.h"
#include "winze/support/bytes.h"
#include "winze/support/string_map.h"

namespace winze {

/// Writes a zip archive of stored records whose content starts at multiples of 64 bytes, as
/// PyTorch's own writer lays them out (padding in an extra field with id `FB`), so that records can
/// be mapped.
///
/// Local headers hold real sizes and CRCs. The bytes depend on names and contents alone: no time,
/// no permissions. Zip64 structures are used where sizes or counts need them.
///
/// Written here rather than taken from a library because the usual ones cannot align content.
class ZipWriter {
 public:
  /// Content starts at a multiple of this.
  static constexpr std::uint64_t alignment = 64;

  /// Writes onto `sink`, which outlives the writer.
  explicit ZipWriter(ByteSink& sink) : sink_(sink) {}

  /// Appends a record. Throws Error for a name that was already added or that a reader would
  /// refuse.
  void add(std::string_view name, const Bytes& content);
  void add(std::string_view name, std::string_view content);
  /// Appends a record whose CRC is known, such as one taken from another archive, without computing
  /// it: where the other archive was damaged, the copy shows the same damage.
  void add_unchanged(std::string_view name, const Bytes& content, std::uint32_t crc32);
  /// Writes the central directory. No record can be added afterwards; a writer that is destroyed
  /// before leaves an unreadable archive.
  void finish();

  /// Bytes written so far.
  [[nodiscard]] std::uint64_t size() const { return offset_; }

 private:
  struct Record {
    std::string name;
    std::uint64_t size;
    std::uint64_t header_offset;
    std::uint32_t crc32;
  };
  /// All of a record but its content, which must follow.
  void add_header(std::string_view name, std::uint64_t size, std::uint32_t crc32);
  void append_central(const Record& record);
  void append_zip64_end(std::uint64_t start, std::uint64_t size);
  void write(std::string_view bytes);
  /// The content in memory of its own; valid until the next call.
  [[nodiscard]] std::string_view copied(const Bytes& content);

  ByteSink& sink_;
  std::vector<Record> records_;
  StringSet names_;
  std::string scratch_;
  std::string copy_;
  std::uint64_t offset_ = 0;
  bool finished_ = false;
};

}  // namespace winze
