// SPDX-License-Identifier: Apache-2.0
#include "winze/support/json_writer.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

#include "winze/support/diagnostic.h"
#include "winze/support/python_repr.h"
#include "winze/support/quote.h"
#include "winze/support/utf8.h"

namespace winze {
namespace {

constexpr std::uint32_t max_depth = 512;

/// Whether a byte stands for itself in a string literal.
constexpr std::array<bool, 256> plain_bytes = [] {
  std::array<bool, 256> plain{};
  for (std::size_t c = 0x20; c < 0x7f; ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}();

/// How many bytes at the beginning stand for themselves. Most texts are plain: eight bytes at once.
std::size_t plain_size(std::string_view text) {
  constexpr std::uint64_t ones = 0x0101010101010101;
  constexpr std::uint64_t highs = 0x8080808080808080;
  const auto zeros = [](std::uint64_t word) { return (word - ones) & ~word & highs; };
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, sizeof word);
    const std::uint64_t control = (word - ones * 0x20) & ~word;
    const std::uint64_t special = control | word | zeros(word ^ ones * '"') |
                                  zeros(word ^ ones * '\\') | zeros(word ^ ones * 0x7f);
    if ((special & highs) != 0) break;
  }
  while (at < text.size() && plain_bytes[static_cast<unsigned char>(text[at])]) ++at;
  return at;
}

void append_unit(std::string& out, std::uint32_t unit) {
  constexpr std::string_view digits = "0123456789abcdef";
  const char text[] = {'\\',
                       'u',
                       digits[unit >> 12U & 15U],
                       digits[unit >> 8U & 15U],
                       digits[unit >> 4U & 15U],
                       digits[unit & 15U]};
  out.append(text, sizeof text);
}

/// Appends the escape of the character at the beginning; returns its size.
std::size_t append_escape(std::string& out, std::string_view text) {
  const char c = text[0];
  constexpr std::string_view named = "\"\\\n\r\t\b\f";
  constexpr std::string_view letters = "\"\\nrtbf";
  if (const std::size_t i = named.find(c); i != std::string_view::npos) {
    out += '\\';
    out += letters[i];
    return 1;
  }
  const Utf8Char character = decode_utf8(text);
  if (character.size == 0) {
    fail("a string is not valid UTF-8 and cannot be written as JSON: {}",
         quote(text.substr(0, 20)));
  }
  if (character.code < 0x10000) {
    append_unit(out, character.code);
  } else {
    append_unit(out, 0xd800 + ((character.code - 0x10000) >> 10U));
    append_unit(out, 0xdc00 + ((character.code - 0x10000) & 0x3ffU));
  }
  return character.size;
}

template <typename Integer>
void append_integer(std::string& out, Integer value) {
  char text[24];
  const auto result = std::to_chars(text, text + sizeof text, value);
  out.append(text, static_cast<std::size_t>(result.ptr - text));
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t plain = plain_size(text.substr(at));
    out.append(text.data() + at, plain);
    at += plain;
    if (at < text.size()) at += append_escape(out, text.substr(at));
  }
  out += '"';
}

void JsonWriter::separate() {
  if (after_key_ || first_) {
    after_key_ = false;
    first_ = false;
    return;
  }
  out_.append(", ", compact_ ? 1 : 2);
}

void JsonWriter::open(char bracket) {
  WINZE_CHECK(depth_ < max_depth, "JSON is nested more than {} deep", max_depth);
  separate();
  out_ += bracket;
  first_ = true;
  ++depth_;
}

void JsonWriter::close(char bracket) {
  WINZE_CHECK(depth_ > 0 && !after_key_, "\"{}\" closes nothing, or a key without value", bracket);
  out_ += bracket;
  first_ = false;
  --depth_;
}

void JsonWriter::begin_object() {
  open('{');
}
void JsonWriter::end_object() {
  close('}');
}
void JsonWriter::begin_array() {
  open('[');
}
void JsonWriter::end_array() {
  close(']');
}

void JsonWriter::key(std::string_view name) {
  separate();
  append_json_string(out_, name);
  out_.append(": ", compact_ ? 1 : 2);
  after_key_ = true;
}

void JsonWriter::plain_key(std::string_view name) {
  separate();
  out_ += '"';
  out_ += name;
  out_.append("\": ", compact_ ? 2 : 3);
  after_key_ = true;
}

void JsonWriter::string(std::string_view text) {
  separate();
  append_json_string(out_, text);
}

void JsonWriter::integer(std::int64_t value) {
  separate();
  append_integer(out_, value);
}

void JsonWriter::unsigned_integer(std::uint64_t value) {
  separate();
  append_integer(out_, value);
}

void JsonWriter::real(double value) {
  separate();
  if (std::isnan(value)) {
    out_ += "\"NaN\"";
  } else if (std::isinf(value)) {
    out_ += value < 0 ? "\"-Infinity\"" : "\"Infinity\"";
  } else {
    append_python_float(out_, value);
  }
}

void JsonWriter::boolean(bool value) {
  separate();
  out_ += value ? "true" : "false";
}

void JsonWriter::null() {
  separate();
  out_ += "null";
}

void JsonWriter::raw(std::string_view json) {
  separate();
  out_ += json;
}

}  // namespace winze
