// SPDX-License-Identifier: Apache-2.0
#include "winze/support/quote.h"

#include <fmt/format.h>

#include "winze/support/utf8.h"

namespace winze {
namespace {

constexpr bool is_plain(char c) {
  return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

constexpr int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// The number of `count` hexadecimal digits at the beginning, or -1.
int hex_number(std::string_view text, std::size_t count) {
  if (text.size() < count) return -1;
  int value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const int digit = hex_value(text[i]);
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

constexpr char simple_escape(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case '"':
    case '\'':
    case '\\':
    case '/':
      return c;
    default:
      return '\0';
  }
}

void append_byte_escape(std::string& out, char c) {
  constexpr std::string_view digits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  out += "\\x";
  out += digits[byte >> 4U];
  out += digits[byte & 15U];
}

/// C1 controls and the separators that some editors show as line ends would break a line apart.
constexpr bool breaks_lines(char32_t code) {
  return (code >= 0x80 && code < 0xa0) || code == 0x2028 || code == 0x2029 || code == 0xfeff;
}

/// Appends the escape that stands for the character at the beginning; returns how many bytes it
/// took.
std::size_t append_special(std::string& out, std::string_view text) {
  switch (text[0]) {
    case '\n':
      out += "\\n";
      return 1;
    case '\t':
      out += "\\t";
      return 1;
    case '\r':
      out += "\\r";
      return 1;
    case '"':
      out += "\\\"";
      return 1;
    case '\\':
      out += "\\\\";
      return 1;
    default:
      break;
  }
  const Utf8Char character = decode_utf8(text);
  if (character.size < 2) {
    append_byte_escape(out, text[0]);
    return 1;
  }
  const std::string_view bytes = text.substr(0, character.size);
  if (!breaks_lines(character.code)) {
    out += bytes;
  } else {
    for (const char c : bytes) append_byte_escape(out, c);
  }
  return character.size;
}

/// Appends what the escape at the beginning of `text` stands for; returns its size, 0 when it is
/// none.
std::size_t append_unescaped(std::string& out, std::string_view text) {
  if (text.size() < 2) return 0;
  if (const char simple = simple_escape(text[1]); simple != '\0') {
    out += simple;
    return 2;
  }
  if (text[1] == '0') {
    out += '\0';
    return 2;
  }
  if (text[1] == 'x') {
    const int byte = hex_number(text.substr(2), 2);
    if (byte < 0) return 0;
    out += static_cast<char>(static_cast<unsigned char>(byte));
    return 4;
  }
  if (text[1] != 'u') return 0;
  const int code = hex_number(text.substr(2), 4);
  if (code < 0 || (code >= 0xdc00 && code < 0xe000)) return 0;
  if (code < 0xd800 || code >= 0xdc00) {
    append_utf8(out, static_cast<char32_t>(code));
    return 6;
  }
  if (!text.substr(6).starts_with("\\u")) return 0;
  const int low = hex_number(text.substr(8), 4);
  if (low < 0xdc00 || low >= 0xe000) return 0;
  append_utf8(out, static_cast<char32_t>(0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00)));
  return 12;
}

}  // namespace

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    std::size_t plain = 0;
    while (plain < text.size() && is_plain(text[plain])) ++plain;
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (!text.empty()) text.remove_prefix(append_special(out, text));
  }
  out += '"';
}

std::string quote(std::string_view text) {
  std::string out;
  append_quoted(out, text);
  return out;
}

std::size_t quoted_size(std::string_view text) {
  if (!text.starts_with('"')) return 0;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') return i + 1;
    if (text[i] == '\\') ++i;
    if (i < text.size() && text[i] == '\n') return 0;
  }
  return 0;
}

std::optional<UnquoteError> unquote(std::string_view literal, std::string& out) {
  if (literal.size() < 2 || literal.front() != '"' || literal.back() != '"') {
    return UnquoteError{0, "a string in double quotes is wanted"};
  }
  const std::string_view body = literal.substr(0, literal.size() - 1);
  std::size_t at = 1;
  while (at < body.size()) {
    std::size_t stop = at;
    while (stop < body.size() && body[stop] != '\\' && body[stop] != '"') ++stop;
    out += body.substr(at, stop - at);
    at = stop;
    if (at == body.size()) break;
    if (body[at] == '"') return UnquoteError{at, "a quote inside of a string needs a backslash"};
    const std::size_t size = append_unescaped(out, body.substr(at));
    if (size == 0) {
      return UnquoteError{at, fmt::format("unknown escape \"{}\"", body.substr(at, 2))};
    }
    at += size;
  }
  return std::nullopt;
}

}  // namespace winze
