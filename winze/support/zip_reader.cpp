// SPDX-License-Identifier: Apache-2.0
#include "winze/support/zip_reader.h"

#include <libdeflate.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "winze/support/digest.h"
#include "winze/support/quote.h"
#include "winze/support/utf8.h"
#include "winze/support/zip_format.h"

namespace winze {
namespace {

using zip::u16;
using zip::u32;
using zip::u64;

/// The extra fields of a record: the content of the one with that id, if any.
std::optional<std::string_view> find_extra(std::string_view extra, std::uint16_t id) {
  while (extra.size() >= 4) {
    const std::size_t size = u16(extra, 2);
    if (size > extra.size() - 4) return std::nullopt;
    if (u16(extra, 0) == id) return extra.substr(4, size);
    extra.remove_prefix(4 + size);
  }
  return std::nullopt;
}

/// Where the end record begins: the last place from which its comment reaches exactly to the end of
/// the file.
std::optional<std::size_t> find_end(std::string_view bytes) {
  if (bytes.size() < zip::end_size) return std::nullopt;
  const std::size_t last = bytes.size() - zip::end_size;
  const std::size_t first = last > zip::saturated16 ? last - zip::saturated16 : 0;
  for (std::size_t at = last + 1; at-- > first;) {
    if (u32(bytes, at) == zip::end_signature && u16(bytes, at + 20) == last - at) return at;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string_view> zip::name_fault(std::string_view name) {
  if (name.empty()) return "it is empty";
  if (name.front() == '/') return "it is an absolute path";
  if (name.find('\0') != std::string_view::npos) return "it contains a NUL byte";
  if (name.find('\\') != std::string_view::npos) return "it contains a backslash";
  if (valid_utf8_size(name) != name.size()) return "it is not valid UTF-8";
  // A folder's own record ends in a slash.
  if (name.back() == '/') name.remove_suffix(1);
  while (true) {
    const std::size_t slash = name.find('/');
    const std::string_view part = name.substr(0, slash);
    if (part == "..") return "it contains \"..\"";
    if (part == ".") return "it contains \".\"";
    if (part.empty()) return "a part of the path is empty";
    if (slash == std::string_view::npos) return std::nullopt;
    name.remove_prefix(slash + 1);
  }
}

ZipReader::ZipReader(Bytes archive, std::string file_name, ZipLimits limits)
    : archive_(std::move(archive)), file_name_(std::move(file_name)), limits_(limits) {
  const Directory directory = find_directory();
  read_entries(directory);
  check_overlaps();
}

bool ZipReader::looks_like_zip(std::string_view bytes) {
  return bytes.starts_with("PK\x03\x04") || bytes.starts_with("PK\x05\x06");
}

Error ZipReader::error(std::string_view record, std::string message, std::string hint) const {
  Diagnostic diagnostic;
  diagnostic.message = std::move(message);
  diagnostic.where.file = file_name_;
  // A hostile name must not reach a terminal as it is.
  const std::string quoted = quote(record);
  const bool harmless = quoted.size() == record.size() + 2;
  diagnostic.where.record = harmless ? std::string(record) : quoted;
  diagnostic.hint = std::move(hint);
  return Error(std::move(diagnostic));
}

ZipReader::Directory ZipReader::find_directory() const {
  const std::string_view bytes = archive_.string_view();
  const std::optional<std::size_t> end = find_end(bytes);
  if (!end && looks_like_zip(bytes)) {
    throw error({}, "the archive is truncated: no end record", "copy or export the file again");
  }
  if (!end) throw error({}, "not a zip archive: no end record");
  const std::size_t at = *end;
  if (u16(bytes, at + 4) != u16(bytes, at + 6))
    throw error({}, "an archive of several disks is not supported");
  if (u16(bytes, at + 8) != u16(bytes, at + 10))
    throw error({}, "an archive of several disks is not supported");
  Directory directory{
      .offset = u32(bytes, at + 16), .size = u32(bytes, at + 12), .count = u16(bytes, at + 10)};
  std::uint64_t limit = at;
  if (at >= zip::zip64_locator_size &&
      u32(bytes, at - zip::zip64_locator_size) == zip::zip64_locator_signature) {
    read_zip64_end(at - zip::zip64_locator_size, directory);
    limit = at - zip::zip64_locator_size;
  } else if (u16(bytes, at + 4) != 0) {
    throw error({}, "an archive of several disks is not supported");
  }
  if (directory.offset > limit || directory.size > limit - directory.offset) {
    throw error(
        {},
        fmt::format("the central directory ({} bytes at {}) lies outside of the {} bytes before it",
                    directory.size, directory.offset, limit));
  }
  if (directory.count > limits_.max_entries) {
    throw error({}, fmt::format("the archive has {} records, more than the {} allowed",
                                directory.count, limits_.max_entries));
  }
  if (directory.count > directory.size / zip::central_size) {
    throw error({}, fmt::format("the central directory is too small ({} bytes) for {} records",
                                directory.size, directory.count));
  }
  return directory;
}

void ZipReader::read_zip64_end(std::uint64_t locator_offset, Directory& directory) const {
  const std::string_view bytes = archive_.string_view();
  const std::size_t locator = locator_offset;
  if (u32(bytes, locator + 4) != 0 || u32(bytes, locator + 16) > 1) {
    throw error({}, "an archive of several disks is not supported");
  }
  const std::uint64_t at = u64(bytes, locator + 8);
  if (at > locator || locator - at < zip::zip64_end_size ||
      u32(bytes, at) != zip::zip64_end_signature) {
    throw error({}, fmt::format("the zip64 end record is not at {}", at));
  }
  if (u32(bytes, at + 16) != 0 || u32(bytes, at + 20) != 0 ||
      u64(bytes, at + 24) != u64(bytes, at + 32)) {
    throw error({}, "an archive of several disks is not supported");
  }
  const Directory wide{
      .offset = u64(bytes, at + 48), .size = u64(bytes, at + 40), .count = u64(bytes, at + 32)};
  const bool agrees = (directory.offset == zip::saturated32 || directory.offset == wide.offset) &&
                      (directory.size == zip::saturated32 || directory.size == wide.size) &&
                      (directory.count == zip::saturated16 || directory.count == wide.count);
  if (!agrees) throw error({}, "the end record and the zip64 end record contradict each other");
  if (wide.offset > at || wide.size > at - wide.offset) {
    throw error(
        {},
        fmt::format("the central directory ({} bytes at {}) lies outside of the {} bytes before it",
                    wide.size, wide.offset, at));
  }
  directory = wide;
}

void ZipReader::read_entries(const Directory& directory) {
  entries_.reserve(directory.count);
  by_name_.reserve(directory.count);
  std::uint64_t at = directory.offset;
  for (std::uint64_t i = 0; i < directory.count; ++i) at = read_entry(at, directory);
  if (at != directory.offset + directory.size) {
    throw error({}, fmt::format("the central directory has {} bytes behind its {} records",
                                directory.offset + directory.size - at, directory.count));
  }
}

std::uint64_t ZipReader::read_entry(std::uint64_t offset, const Directory& directory) {
  const std::uint64_t end = directory.offset + directory.size;
  const auto number = entries_.size();
  if (end - offset < zip::central_size) {
    throw error({}, fmt::format("the central directory ends inside of record {}", number));
  }
  const std::string_view header = archive_.string_view().substr(offset, end - offset);
  if (u32(header, 0) != zip::central_signature) {
    throw error({}, fmt::format("the central directory is damaged at record {}", number));
  }
  const std::size_t name_size = u16(header, 28);
  const std::size_t extra_size = u16(header, 30);
  const std::size_t total = zip::central_size + name_size + extra_size + u16(header, 32);
  if (total > header.size()) {
    throw error({}, fmt::format("the central directory ends inside of record {}", number));
  }
  ZipEntry entry;
  entry.name = header.substr(zip::central_size, name_size);
  if (name_size > limits_.max_name_size) {
    throw error({}, fmt::format("the name of record {} has {} bytes, more than the {} allowed",
                                number, name_size, limits_.max_name_size));
  }
  if (const auto fault = zip::name_fault(entry.name)) {
    throw error(entry.name, fmt::format("record {} has an unsafe name: {}", number, *fault));
  }
  const std::uint16_t flags = u16(header, 8);
  constexpr std::uint16_t encrypted =
      zip::flag_encrypted | zip::flag_strong_encryption | zip::flag_masked_headers;
  if ((flags & encrypted) != 0) throw error(entry.name, "the record is encrypted");
  if ((flags & zip::flag_patch) != 0)
    throw error(entry.name, "the record is a patch of another file");
  const std::uint16_t method = u16(header, 10);
  if (method != zip::method_stored && method != zip::method_deflate) {
    throw error(entry.name, fmt::format("unknown compression method {}", method),
                "store the record, or compress it with deflate");
  }
  entry.method = method == zip::method_stored ? ZipMethod::stored : ZipMethod::deflate;
  entry.crc32 = u32(header, 16);
  entry.compressed_size = u32(header, 20);
  entry.size = u32(header, 24);
  entry.header_offset = u32(header, 42);
  read_zip64_sizes(header.substr(zip::central_size + name_size, extra_size), entry,
                   u16(header, 34));
  check_size(entry);
  locate_content(entry, directory);
  if (!by_name_.emplace(entry.name, static_cast<std::uint32_t>(number)).second) {
    throw error(entry.name, "two records have this name");
  }
  entries_.push_back(entry);
  return offset + total;
}

void ZipReader::read_zip64_sizes(std::string_view extra, ZipEntry& entry,
                                 std::uint32_t disk) const {
  const std::optional<std::string_view> wide = find_extra(extra, zip::zip64_extra_id);
  std::string_view left = wide.value_or(std::string_view{});
  const auto take = [&](std::uint64_t& value) {
    if (value != zip::saturated32 || !wide) return;
    if (left.size() < 8) throw error(entry.name, "the zip64 field of the record is too short");
    value = u64(left, 0);
    left.remove_prefix(8);
  };
  take(entry.size);
  take(entry.compressed_size);
  take(entry.header_offset);
  if (disk == zip::saturated16 && left.size() >= 4) disk = u32(left, 0);
  if (disk != 0) throw error(entry.name, "an archive of several disks is not supported");
}

void ZipReader::check_size(const ZipEntry& entry) const {
  if (entry.method == ZipMethod::stored) {
    if (entry.size == entry.compressed_size) return;
    throw error(entry.name, fmt::format("the stored record says {} bytes and {} bytes", entry.size,
                                        entry.compressed_size));
  }
  if (entry.size > limits_.max_inflated_size) {
    throw error(entry.name,
                fmt::format("the record would inflate to {} bytes, more than the {} allowed",
                            entry.size, limits_.max_inflated_size));
  }
  const bool small = entry.size <= limits_.small_inflated_size;
  if (!small && entry.size / limits_.max_inflation > entry.compressed_size) {
    throw error(
        entry.name,
        fmt::format("the record would inflate from {} bytes to {}, more than {} times as many",
                    entry.compressed_size, entry.size, limits_.max_inflation),
        "store the record without compression");
  }
}

void ZipReader::locate_content(ZipEntry& entry, const Directory& directory) const {
  const std::uint64_t limit = directory.offset;  // content lies before the central directory
  if (entry.header_offset > limit || limit - entry.header_offset < zip::local_size) {
    throw error(entry.name,
                fmt::format("the record begins at {}, outside of the archive's {} bytes of content",
                            entry.header_offset, limit));
  }
  const std::uint64_t available = limit - entry.header_offset;
  std::string header(std::min(available, zip::local_size + entry.name.size()), '\0');
  archive_.copy_to(header, entry.header_offset);
  if (u32(header, 0) != zip::local_signature) {
    throw error(entry.name, fmt::format("no local header at {}", entry.header_offset));
  }
  const std::uint64_t prefix = zip::local_size + u16(header, 26) + u16(header, 28);
  if (prefix > available || entry.compressed_size > available - prefix) {
    throw error(entry.name,
                fmt::format("the record's {} bytes at {} reach past the {} bytes of content",
                            entry.compressed_size, entry.header_offset, limit));
  }
  check_local_header(entry, header);
  entry.data_offset = entry.header_offset + prefix;
}

/// Whether two readers of the archive, one by the directory and one by local headers, see the same.
void ZipReader::check_local_header(const ZipEntry& entry, std::string_view header) const {
  if (u16(header, 26) != entry.name.size() || header.substr(zip::local_size) != entry.name) {
    throw error(entry.name, "the local header has another name than the central directory");
  }
  const std::uint16_t method =
      entry.method == ZipMethod::stored ? zip::method_stored : zip::method_deflate;
  if (u16(header, 8) != method) {
    throw error(entry.name,
                "the local header has another compression method than the central directory");
  }
  const bool sized = (u16(header, 6) & zip::flag_descriptor) == 0;
  const auto differs = [&](std::size_t at, std::uint64_t value) {
    const std::uint32_t local = u32(header, at);
    return sized && local != zip::saturated32 && local != value;
  };
  if (differs(14, entry.crc32) || differs(18, entry.compressed_size) || differs(22, entry.size)) {
    throw error(entry.name, "the local header has another size or CRC than the central directory");
  }
}

void ZipReader::check_overlaps() const {
  const auto before = [](const ZipEntry* a, const ZipEntry* b) {
    return a->header_offset < b->header_offset;
  };
  std::vector<const ZipEntry*> order;
  order.reserve(entries_.size());
  for (const ZipEntry& entry : entries_) order.push_back(&entry);
  if (!std::is_sorted(order.begin(), order.end(), before))
    std::sort(order.begin(), order.end(), before);
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (order[i - 1]->data_offset + order[i - 1]->compressed_size > order[i]->header_offset) {
      throw error(order[i]->name, fmt::format("the record overlaps {}", quote(order[i - 1]->name)));
    }
  }
}

const ZipEntry* ZipReader::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &entries_[found->second];
}

const ZipEntry& ZipReader::get(std::string_view name) const {
  const ZipEntry* entry = find(name);
  if (entry == nullptr) throw error(name, "the archive has no such record");
  return *entry;
}

Bytes ZipReader::stored_range(const ZipEntry& entry) const {
  if (entry.method != ZipMethod::stored) {
    throw error(entry.name, "the record is compressed and cannot be mapped",
                "store it without compression");
  }
  return archive_.slice(entry.data_offset, entry.size);
}

Bytes ZipReader::read(const ZipEntry& entry) const {
  Bytes content = entry.method == ZipMethod::stored ? stored_range(entry) : inflate(entry);
  const std::uint32_t crc32 = libdeflate_crc32(0, content.data(), content.size());
  if (crc32 != entry.crc32) {
    throw error(entry.name,
                fmt::format("the content is damaged: its CRC is {:08x}, recorded is {:08x}", crc32,
                            entry.crc32));
  }
  return content;
}

void ZipReader::check_crc(const ZipEntry& entry) const {
  static_cast<void>(read(entry));
}

Bytes ZipReader::inflate(const ZipEntry& entry) const {
  const std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)>
      decompressor(libdeflate_alloc_decompressor(), &libdeflate_free_decompressor);
  WINZE_CHECK(decompressor != nullptr, "libdeflate has no memory for a decompressor");
  // A size that was lied about is found out before its memory is touched: pages come with the
  // writing.
  std::shared_ptr<char[]> buffer(new char[entry.size + 1]);
  std::size_t inflated = 0;
  const libdeflate_result result =
      libdeflate_deflate_decompress(decompressor.get(), archive_.data() + entry.data_offset,
                                    entry.compressed_size, buffer.get(), entry.size, &inflated);
  if (result == LIBDEFLATE_INSUFFICIENT_SPACE ||
      (result == LIBDEFLATE_SUCCESS && inflated != entry.size)) {
    throw error(entry.name,
                fmt::format("the record does not inflate to the {} bytes it says", entry.size));
  }
  if (result != LIBDEFLATE_SUCCESS) throw error(entry.name, "the compressed content is damaged");
  const void* data = buffer.get();
  return Bytes::share(std::move(buffer), data, entry.size);
}

std::string ZipReader::digest() const {
  std::vector<const ZipEntry*> order;
  order.reserve(entries_.size());
  for (const ZipEntry& entry : entries_) order.push_back(&entry);
  std::sort(order.begin(), order.end(),
            [](const ZipEntry* a, const ZipEntry* b) { return a->name < b->name; });
  std::string text;
  for (const ZipEntry* entry : order) {
    text += entry->name;
    text += '\0';  // no name holds it
    zip::append_number(text, entry->size);
    zip::append_number(text, entry->crc32);
  }
  return winze::digest(text);
}

}  // namespace winze
