// SPDX-License-Identifier: Apache-2.0
#include "winze/support/utf8.h"

#include <simdjson.h>

namespace winze {
namespace {

constexpr bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xc0U) == 0x80;
}
constexpr char32_t low_bits(char c) {
  return static_cast<unsigned char>(c) & 0x3fU;
}

}  // namespace

Utf8Char decode_utf8(std::string_view text) {
  if (text.empty()) return {};
  const char32_t lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {lead, 1};
  if (lead < 0xc2 || lead > 0xf4) return {};
  const std::size_t size = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (text.size() < size) return {};
  char32_t code = lead & (0x7fU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if (!is_continuation(text[i])) return {};
    code = code << 6U | low_bits(text[i]);
  }
  if (size == 3 && (code < 0x800 || (code >= 0xd800 && code < 0xe000))) return {};
  if (size == 4 && (code < 0x10000 || code > 0x10ffff)) return {};
  return {code, size};
}

void append_utf8(std::string& out, char32_t code) {
  const auto add = [&out](char32_t byte) {
    out += static_cast<char>(static_cast<unsigned char>(byte));
  };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xc0 | code >> 6U);
    add(0x80 | (code & 0x3fU));
  } else if (code < 0x10000) {
    add(0xe0 | code >> 12U);
    add(0x80 | (code >> 6U & 0x3fU));
    add(0x80 | (code & 0x3fU));
  } else {
    add(0xf0 | code >> 18U);
    add(0x80 | (code >> 12U & 0x3fU));
    add(0x80 | (code >> 6U & 0x3fU));
    add(0x80 | (code & 0x3fU));
  }
}

std::size_t valid_utf8_size(std::string_view text) {
  if (simdjson::validate_utf8(text.data(), text.size())) return text.size();
  std::size_t at = 0;
  while (at < text.size()) {
    const Utf8Char character = decode_utf8(text.substr(at));
    if (character.size == 0) break;
    at += character.size;
  }
  return at;
}

}  // namespace winze
