// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

/// Layout of zip archives, from PKWARE's APPNOTE 6.3.
namespace winze::zip {

inline constexpr std::uint32_t local_signature = 0x04034b50;
inline constexpr std::uint32_t central_signature = 0x02014b50;
inline constexpr std::uint32_t end_signature = 0x06054b50;
inline constexpr std::uint32_t zip64_end_signature = 0x06064b50;
inline constexpr std::uint32_t zip64_locator_signature = 0x07064b50;

inline constexpr std::size_t local_size = 30;
inline constexpr std::size_t central_size = 46;
inline constexpr std::size_t end_size = 22;
inline constexpr std::size_t zip64_end_size = 56;
inline constexpr std::size_t zip64_locator_size = 20;

inline constexpr std::uint16_t zip64_extra_id = 0x0001;
inline constexpr std::uint32_t saturated32 = 0xffffffff;  ///< the value is in a zip64 structure
inline constexpr std::uint16_t saturated16 = 0xffff;

inline constexpr std::uint16_t flag_encrypted = 0x0001;
inline constexpr std::uint16_t flag_descriptor = 0x0008;
inline constexpr std::uint16_t flag_patch = 0x0020;
inline constexpr std::uint16_t flag_strong_encryption = 0x0040;
inline constexpr std::uint16_t flag_utf8 = 0x0800;
inline constexpr std::uint16_t flag_masked_headers = 0x2000;

inline constexpr std::uint16_t method_stored = 0;
inline constexpr std::uint16_t method_deflate = 8;

/// A little-endian number of the text; the caller has checked that it is inside.
template <typename Number>
Number read_number(std::string_view bytes, std::size_t offset) {
  Number value = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    value |= static_cast<Number>(static_cast<Number>(static_cast<unsigned char>(bytes[offset + i]))
                                 << (8 * i));
  }
  return value;
}
inline std::uint16_t u16(std::string_view bytes, std::size_t offset) {
  return read_number<std::uint16_t>(bytes, offset);
}
inline std::uint32_t u32(std::string_view bytes, std::size_t offset) {
  return read_number<std::uint32_t>(bytes, offset);
}
inline std::uint64_t u64(std::string_view bytes, std::size_t offset) {
  return read_number<std::uint64_t>(bytes, offset);
}

template <typename Number>
void append_number(std::string& out, Number value) {
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    out += static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
  }
}

/// What is wrong with a record's name, or nothing.
std::optional<std::string_view> name_fault(std::string_view name);

}  // namespace winze::zip
