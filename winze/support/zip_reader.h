// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "winze/support/bytes.h"
#include "winze/support/diagnostic.h"
#include "winze/support/string_map.h"

namespace winze {

/// Bounds on what an archive may ask for.
struct ZipLimits {
  std::uint64_t max_entries = 4'000'000;
  std::uint64_t max_name_size = 4096;
  /// Most bytes that one deflated record may inflate to.
  std::uint64_t max_inflated_size = std::uint64_t{1} << 30U;
  /// How many times as large as its compressed form a deflated record may be, unless it is small.
  std::uint64_t max_inflation = 200;
  std::uint64_t small_inflated_size = std::uint64_t{16} << 20U;
};

enum class ZipMethod : std::uint8_t { stored, deflate };

/// One record of an archive.
struct ZipEntry {
  std::string_view name;              ///< inside the archive; lives as long as the reader's bytes
  std::uint64_t size = 0;             ///< bytes of the content
  std::uint64_t compressed_size = 0;  ///< bytes in the archive; equals `size` when stored
  std::uint64_t header_offset = 0;    ///< of the local header, from the start of the archive
  std::uint64_t data_offset = 0;      ///< of the first byte of the (compressed) content
  std::uint32_t crc32 = 0;            ///< of the content
  ZipMethod method = ZipMethod::stored;
};

/// Reads a zip archive (zip64 too) that may be hostile. Only the central directory is trusted, and
/// only after it was checked; local headers serve to find, and must agree on, where content starts.
///
/// Written here rather than taken from a library because records are mapped, not read: that needs
/// checked offsets of the content, which the usual libraries do not give.
///
/// Everything that is wrong throws Error naming the file and the record. Records are checked for
/// overlap, and names for what could escape a folder: absolute paths, `..`, backslashes, NUL, empty
/// parts, invalid UTF-8, duplicates.
class ZipReader {
 public:
  /// Opens the archive: O(n log n) in the records at worst, O(n) when they are in file order.
  ZipReader(Bytes archive, std::string file_name, ZipLimits limits = {});

  /// Whether the bytes begin as a zip archive does.
  [[nodiscard]] static bool looks_like_zip(std::string_view bytes);

  [[nodiscard]] const std::string& file_name() const { return file_name_; }
  [[nodiscard]] const Bytes& bytes() const { return archive_; }

  /// All records, in the order of the central directory.
  [[nodiscard]] const std::vector<ZipEntry>& entries() const { return entries_; }
  /// The record of that name, or nullptr. O(1).
  [[nodiscard]] const ZipEntry* find(std::string_view name) const;
  /// The record of that name; throws Error when there is none.
  [[nodiscard]] const ZipEntry& get(std::string_view name) const;

  /// The content of a stored record as a part of the archive: no copy, no check of the CRC. Throws
  /// Error for a compressed record.
  [[nodiscard]] Bytes stored_range(const ZipEntry& entry) const;
  /// The content of any record, inflated when compressed, its CRC checked.
  [[nodiscard]] Bytes read(const ZipEntry& entry) const;
  /// Reads the whole content and throws Error when its CRC is not the recorded one.
  void check_crc(const ZipEntry& entry) const;

  /// The identity of the archive, as 32 hexadecimal digits: XXH3-128 over name, size and CRC of
  /// every record in order of name. Does not read any content.
  [[nodiscard]] std::string digest() const;

  /// An Error about one record; `message` says what is wrong.
  [[nodiscard]] Error error(std::string_view record, std::string message,
                            std::string hint = {}) const;

 private:
  struct Directory {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::uint64_t count = 0;
  };
  [[nodiscard]] Directory find_directory() const;
  void read_zip64_end(std::uint64_t locator_offset, Directory& directory) const;
  void read_entries(const Directory& directory);
  std::uint64_t read_entry(std::uint64_t offset, const Directory& directory);
  void read_zip64_sizes(std::string_view extra, ZipEntry& entry, std::uint32_t disk) const;
  void check_size(const ZipEntry& entry) const;
  void locate_content(ZipEntry& entry, const Directory& directory) const;
  void check_local_header(const ZipEntry& entry, std::string_view header) const;
  void check_overlaps() const;
  [[nodiscard]] Bytes inflate(const ZipEntry& entry) const;

  Bytes archive_;
  std::string file_name_;
  ZipLimits limits_;
  std::vector<ZipEntry> entries_;
  StringViewMap<std::uint32_t> by_name_;
};

}  // namespace winze
