// SPDX-License-Identifier: Apache-2.0
#include "winze/support/python_repr.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

#include "winze/support/python_unprintable.h"
#include "winze/support/utf8.h"

namespace winze {
namespace {

/// Python writes an exponent below 1e-4 and from 1e16 on (float_repr_style `short`, format `r`).
constexpr int least_fixed = -4;
constexpr int first_exponent = 16;

/// Digits and exponent as fixed notation with at least one digit behind the point.
void append_fixed(std::string& out, std::string_view digits, int exponent) {
  if (exponent < 0) {
    out += "0.";
    out.append(static_cast<std::size_t>(-exponent - 1), '0');
    out += digits;
    return;
  }
  const auto whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() <= whole) {
    out += digits;
    out.append(whole - digits.size(), '0');
    out += ".0";
    return;
  }
  out += digits.substr(0, whole);
  out += '.';
  out += digits.substr(whole);
}

bool is_printable(char32_t code) {
  if (code < 0x7f) return code >= 0x20;
  const auto* range =
      std::lower_bound(std::begin(python::unprintable), std::end(python::unprintable), code,
                       [](const python::CodeRange& r, char32_t c) { return r.last < c; });
  return range == std::end(python::unprintable) || code < range->first;
}

void append_code(std::string& out, char32_t code) {
  const auto number = static_cast<std::uint32_t>(code);
  if (number < 0x100) {
    fmt::format_to(std::back_inserter(out), "\\x{:02x}", number);
  } else if (number < 0x10000) {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", number);
  } else {
    fmt::format_to(std::back_inserter(out), "\\U{:08x}", number);
  }
}

/// Appends the character at the beginning; returns its size.
std::size_t append_character(std::string& out, std::string_view text, char quote) {
  const char c = text[0];
  if (c == quote || c == '\\') {
    out += '\\';
    out += c;
    return 1;
  }
  if (c == '\n' || c == '\r' || c == '\t') {
    out += c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t";
    return 1;
  }
  const Utf8Char character = decode_utf8(text);
  if (character.size == 0) {
    append_code(out, 0xdc00 + static_cast<unsigned char>(c));
    return 1;
  }
  if (is_printable(character.code)) {
    out += text.substr(0, character.size);
  } else {
    append_code(out, character.code);
  }
  return character.size;
}

}  // namespace

void append_python_float(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "nan";
    return;
  }
  if (std::isinf(value)) {
    out += value < 0 ? "-inf" : "inf";
    return;
  }
  if (std::signbit(value)) out += '-';
  char text[32];
  const auto result =
      std::to_chars(text, text + sizeof text, std::fabs(value), std::chars_format::scientific);
  // `d.ddde+XX`: the shortest digits, an exponent of at least two digits, as Python writes them
  // too.
  const std::string_view shortest(text, static_cast<std::size_t>(result.ptr - text));
  const std::size_t e = shortest.find('e');
  int exponent = 0;
  const std::size_t sign = shortest[e + 1] == '+' ? 1 : 0;
  std::from_chars(shortest.data() + e + 1 + sign, shortest.data() + shortest.size(), exponent);
  if (exponent < least_fixed || exponent >= first_exponent) {
    out += shortest;
    return;
  }
  char digits[32];
  std::size_t count = 0;
  for (const char c : shortest.substr(0, e)) {
    if (c != '.') digits[count++] = c;
  }
  append_fixed(out, {digits, count}, exponent);
}

std::string python_float(double value) {
  std::string out;
  append_python_float(out, value);
  return out;
}

void append_python_string(std::string& out, std::string_view text) {
  const bool double_quotes =
      text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos;
  const char quote = double_quotes ? '"' : '\'';
  out += quote;
  while (!text.empty()) text.remove_prefix(append_character(out, text, quote));
  out += quote;
}

std::string python_string(std::string_view text) {
  std::string out;
  append_python_string(out, text);
  return out;
}

}  // namespace winze
