// SPDX-License-Identifier: Apache-2.0
#include "winze/support/zip_writer.h"

#include <libdeflate.h>

#include <algorithm>

#include "winze/support/diagnostic.h"
#include "winze/support/quote.h"
#include "winze/support/zip_format.h"
#include "winze/support/zip_reader.h"

namespace winze {
namespace {

using zip::append_number;

constexpr std::uint16_t dos_date = 0x0021;  // 1980-01-01, the first day there is
constexpr std::uint16_t version_plain = 20;
/// What is mapped and copied at a time.
constexpr std::size_t part_size = std::size_t{4} << 20U;
/// Less than this is read from its file rather than mapped: should the file have been shortened
/// meanwhile, reading is an error, and touching a page of it would end the process. Larger parts
/// are handed to the system as they are, which refuses such pages itself.
constexpr std::size_t small_size = std::size_t{256} << 10U;
constexpr std::uint16_t version_zip64 = 45;

bool is_wide(std::uint64_t value) {
  return value >= zip::saturated32;
}
std::uint32_t narrow(std::uint64_t value) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, zip::saturated32));
}

}  // namespace

void ZipWriter::write(std::string_view bytes) {
  sink_.write(bytes);
  offset_ += bytes.size();
}

void ZipWriter::add(std::string_view name, const Bytes& content) {
  add(name, content.size() < small_size ? copied(content) : content.string_view());
}

void ZipWriter::add(std::string_view name, std::string_view content) {
  add_header(name, content.size(), libdeflate_crc32(0, content.data(), content.size()));
  write(content);
}

void ZipWriter::add_unchanged(std::string_view name, const Bytes& content, std::uint32_t crc32) {
  add_header(name, content.size(), crc32);
  for (std::size_t at = 0; at < content.size(); at += part_size) {
    const Bytes part = content.slice(at, std::min(part_size, content.size() - at));
    if (part.size() < small_size) {
      write(copied(part));
      continue;
    }
    part.map_pages();
    write(part.string_view());
  }
}

std::string_view ZipWriter::copied(const Bytes& content) {
  if (copy_.size() < content.size()) copy_.resize(content.size());
  const std::span<char> copy(copy_.data(), content.size());
  content.copy_to(copy, 0);
  return {copy.data(), copy.size()};
}

void ZipWriter::add_header(std::string_view name, std::uint64_t size, std::uint32_t crc32) {
  WINZE_CHECK(!finished_, "record \"{}\" is added after finish()", name);
  if (const auto fault = zip::name_fault(name)) {
    fail("the archive cannot hold a record named {}: {}", quote(name), *fault);
  }
  if (name.size() > ZipLimits{}.max_name_size) {
    fail("the name of a record has {} bytes, more than {}", name.size(), ZipLimits{}.max_name_size);
  }
  if (!names_.emplace(name).second) fail("the archive has a record \"{}\" already", name);

  const bool wide = is_wide(size);
  const std::size_t wide_size = wide ? 20 : 0;
  const std::uint64_t unpadded = offset_ + zip::local_size + name.size() + wide_size + 4;
  const auto padding = static_cast<std::uint16_t>((alignment - unpadded % alignment) % alignment);
  records_.push_back({std::string(name), size, offset_, crc32});

  scratch_.clear();
  append_number(scratch_, zip::local_signature);
  append_number(scratch_, wide ? version_zip64 : version_plain);
  append_number(scratch_, zip::flag_utf8);
  append_number(scratch_, zip::method_stored);
  append_number(scratch_, std::uint16_t{0});  // time
  append_number(scratch_, dos_date);
  append_number(scratch_, crc32);
  append_number(scratch_, wide ? zip::saturated32 : narrow(size));
  append_number(scratch_, wide ? zip::saturated32 : narrow(size));
  append_number(scratch_, static_cast<std::uint16_t>(name.size()));
  append_number(scratch_, static_cast<std::uint16_t>(wide_size + 4 + padding));
  scratch_ += name;
  if (wide) {
    append_number(scratch_, zip::zip64_extra_id);
    append_number(scratch_, std::uint16_t{16});
    append_number(scratch_, size);
    append_number(scratch_, size);
  }
  scratch_ += "FB";
  append_number(scratch_, padding);
  scratch_.append(padding, 'Z');
  write(scratch_);
}

void ZipWriter::append_central(const Record& record) {
  std::string wide;
  if (is_wide(record.size)) {
    append_number(wide, record.size);
    append_number(wide, record.size);
  }
  if (is_wide(record.header_offset)) append_number(wide, record.header_offset);
  append_number(scratch_, zip::central_signature);
  append_number(scratch_, wide.empty() ? version_plain : version_zip64);  // made by, on no system
  append_number(scratch_, wide.empty() ? version_plain : version_zip64);
  append_number(scratch_, zip::flag_utf8);
  append_number(scratch_, zip::method_stored);
  append_number(scratch_, std::uint16_t{0});  // time
  append_number(scratch_, dos_date);
  append_number(scratch_, record.crc32);
  append_number(scratch_, narrow(record.size));
  append_number(scratch_, narrow(record.size));
  append_number(scratch_, static_cast<std::uint16_t>(record.name.size()));
  append_number(scratch_, static_cast<std::uint16_t>(wide.empty() ? 0 : 4 + wide.size()));
  append_number(scratch_, std::uint16_t{0});  // comment
  append_number(scratch_, std::uint16_t{0});  // disk
  append_number(scratch_, std::uint16_t{0});  // internal attributes
  append_number(scratch_, std::uint32_t{0});  // external attributes
  append_number(scratch_, narrow(record.header_offset));
  scratch_ += record.name;
  if (wide.empty()) return;
  append_number(scratch_, zip::zip64_extra_id);
  append_number(scratch_, static_cast<std::uint16_t>(wide.size()));
  scratch_ += wide;
}

void ZipWriter::append_zip64_end(std::uint64_t start, std::uint64_t size) {
  const std::uint64_t at = offset_ + scratch_.size();
  const std::uint64_t count = records_.size();
  append_number(scratch_, zip::zip64_end_signature);
  append_number(scratch_, std::uint64_t{zip::zip64_end_size - 12});
  append_number(scratch_, version_zip64);
  append_number(scratch_, version_zip64);
  append_number(scratch_, std::uint32_t{0});  // this disk
  append_number(scratch_, std::uint32_t{0});  // the disk of the directory
  append_number(scratch_, count);
  append_number(scratch_, count);
  append_number(scratch_, size);
  append_number(scratch_, start);
  append_number(scratch_, zip::zip64_locator_signature);
  append_number(scratch_, std::uint32_t{0});
  append_number(scratch_, at);
  append_number(scratch_, std::uint32_t{1});  // disks
}

void ZipWriter::finish() {
  WINZE_CHECK(!finished_, "the archive is finished twice");
  finished_ = true;
  const std::uint64_t start = offset_;
  scratch_.clear();
  for (const Record& record : records_) append_central(record);
  const std::uint64_t size = scratch_.size();
  const bool many = records_.size() >= zip::saturated16;
  if (many || is_wide(start) || is_wide(size)) append_zip64_end(start, size);
  const auto count = many ? zip::saturated16 : static_cast<std::uint16_t>(records_.size());
  append_number(scratch_, zip::end_signature);
  append_number(scratch_, std::uint16_t{0});  // this disk
  append_number(scratch_, std::uint16_t{0});  // the disk of the directory
  append_number(scratch_, count);
  append_number(scratch_, count);
  append_number(scratch_, narrow(size));
  append_number(scratch_, narrow(start));
  append_number(scratch_, std::uint16_t{0});  // comment
  write(scratch_);
}

}  // namespace winze
