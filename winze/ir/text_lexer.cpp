// SPDX-License-Identifier: Apache-2.0
#include "winze/ir/text_lexer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include "winze/support/quote.h"

namespace winze {
namespace {

enum CharacterClass : std::uint8_t {
  other_class = 0,
  word_start = 1,
  digit = 2,
  dot = 4,
  blank = 8
};
constexpr std::uint8_t word_class = word_start | digit | dot;

constexpr std::array<std::uint8_t, 256> character_classes = [] {
  std::array<std::uint8_t, 256> classes{};
  for (int c = 'a'; c <= 'z'; ++c) classes[static_cast<std::size_t>(c)] = word_start;
  for (int c = 'A'; c <= 'Z'; ++c) classes[static_cast<std::size_t>(c)] = word_start;
  for (int c = '0'; c <= '9'; ++c) classes[static_cast<std::size_t>(c)] = digit;
  classes['_'] = word_start;
  classes['.'] = dot;
  for (const unsigned char c : {' ', '\t', '\n', '\r'}) classes[c] = blank;
  return classes;
}();

bool is_class(char c, std::uint8_t wanted) {
  return (character_classes[static_cast<unsigned char>(c)] & wanted) != 0;
}

/// End of the word that starts at `at`; `at` where there is none.
std::size_t word_end(std::string_view text, std::size_t at) {
  if (at >= text.size() || !is_class(text[at], word_start)) return at;
  while (at < text.size() && is_class(text[at], word_class)) ++at;
  return at;
}

}  // namespace

bool is_text_word(std::string_view text) {
  return !text.empty() && word_end(text, 0) == text.size();
}

void append_text_name(std::string& out, std::string_view name) {
  if (is_text_word(name)) {
    out += name;
  } else {
    append_quoted(out, name);
  }
}

void TextLexer::skip_blanks() {
  while (at_ < text_.size()) {
    if (is_class(text_[at_], blank)) {
      ++at_;
    } else if (text_[at_] == '/' && peek_raw(1) == '/') {
      const std::size_t end = text_.find('\n', at_);
      at_ = end == std::string_view::npos ? text_.size() : end + 1;
    } else {
      return;
    }
  }
}

char TextLexer::peek() {
  skip_blanks();
  return at_ < text_.size() ? text_[at_] : '\0';
}

void TextLexer::expect(char c, std::string_view after) {
  if (!accept(c)) fail_expected(fmt::format("'{}' {}", c, after));
}

bool TextLexer::accept_arrow() {
  if (peek() != '-' || peek_raw(1) != '>') return false;
  at_ += 2;
  return true;
}

std::string_view TextLexer::peek_word() {
  skip_blanks();
  return text_.substr(at_, word_end(text_, at_) - at_);
}

bool TextLexer::accept_word(std::string_view word) {
  if (peek_word() != word) return false;
  at_ += word.size();
  return true;
}

void TextLexer::expect_word(std::string_view word, std::string_view after) {
  if (!accept_word(word)) fail_expected(fmt::format("'{}' {}", word, after));
}

std::string_view TextLexer::word(std::string_view what) {
  const std::string_view found = peek_word();
  if (found.empty()) fail_expected(what);
  at_ += found.size();
  return found;
}

void TextLexer::append_string() {
  const std::size_t size = quoted_size(text_.substr(at_));
  if (size == 0) fail_at(at_, "a string does not end in its line", "close it with '\"'");
  if (const auto wrong = unquote(text_.substr(at_, size), scratch_)) {
    fail_at(at_ + wrong->offset, wrong->message);
  }
  at_ += size;
}

std::string_view TextLexer::string(std::string_view what) {
  if (!next_is_quote()) fail_expected(what);
  scratch_.clear();
  append_string();
  return scratch_;
}

std::string_view TextLexer::long_string(std::string_view what) {
  string(what);
  while (next_is_quote()) append_string();
  return scratch_;
}

std::string_view TextLexer::name(std::string_view what) {
  return next_is_quote() ? string(what) : word(what);
}

bool TextLexer::next_is_number() {
  std::size_t at = peek() == '-' ? at_ + 1 : at_;
  if (at >= text_.size()) return false;
  if (is_class(text_[at], digit)) return true;
  const std::string_view found = text_.substr(at, word_end(text_, at) - at);
  return found == "inf" || found == "nan" || found == "infj" || found == "nanj";
}

std::size_t TextLexer::number_end() const {
  std::size_t end = at_;
  while (end < text_.size()) {
    const char c = text_[end];
    const bool sign =
        (c == '-' || c == '+') && end > at_ && (text_[end - 1] == 'e' || text_[end - 1] == 'E');
    if (!is_class(c, word_class) && !sign) break;
    ++end;
  }
  return end;
}

TextNumber TextLexer::number() {
  if (!next_is_number()) fail_expected("a number");
  const std::size_t begin = at_;
  TextNumber number;
  const bool negative = text_[at_] == '-';
  if (negative) ++at_;
  std::size_t end = number_end();
  std::string_view digits = text_.substr(at_, end - at_);
  if (digits.ends_with('j')) {
    number.is_imaginary = true;
    digits.remove_suffix(1);
  }
  number.is_float =
      number.is_imaginary || digits.find_first_not_of("0123456789") != std::string_view::npos;
  const std::string_view whole = text_.substr(begin, end - begin);
  const char* first = digits.data();
  const char* last = first + digits.size();
  if (!number.is_float) {
    // The sign is read along, for -2^63.
    const auto [rest, error] = std::from_chars(first - (negative ? 1 : 0), last, number.integer);
    if (error != std::errc() || rest != last)
      fail_at(begin, fmt::format("{} does not fit 64 bits", whole));
  } else if (digits == "inf") {
    number.floating = std::numeric_limits<double>::infinity();
  } else if (digits == "nan") {
    number.floating = std::numeric_limits<double>::quiet_NaN();
  } else {
    const auto [rest, error] = std::from_chars(first, last, number.floating);
    if (rest != last || error == std::errc::invalid_argument)
      fail_at(begin, fmt::format("\"{}\" is not a number", whole));
    if (error != std::errc())
      fail_at(begin, fmt::format("{} is out of the range of a float", whole));
  }
  if (number.is_float && negative) number.floating = -number.floating;
  at_ = end;
  return number;
}

std::int64_t TextLexer::integer(std::string_view what) {
  if (!next_is_number()) fail_expected(what);
  const std::size_t begin = at_;
  const TextNumber found = number();
  if (found.is_float) fail_at(begin, fmt::format("expected {}, found {}", what, since(begin)));
  return found.integer;
}

std::uint64_t TextLexer::unsigned_integer(std::string_view what) {
  const char c = peek();
  if (at_ >= text_.size() || !is_class(c, digit)) fail_expected(what);
  const char* last = text_.data() + text_.size();
  std::uint64_t value = 0;
  const auto [rest, error] = std::from_chars(text_.data() + at_, last, value);
  if (error != std::errc()) fail_at(at_, fmt::format("{} does not fit 64 bits", what));
  at_ = static_cast<std::size_t>(rest - text_.data());
  return value;
}

std::string_view TextLexer::value_name(bool& is_number) {
  expect('%', "before the name of a value");
  is_number = false;
  const char c = peek_raw(0);
  if (c == '"') return string("the name of a value");
  const std::size_t begin = at_;
  if (is_class(c, digit) && at_ < text_.size()) {
    is_number = true;
    while (at_ < text_.size() && is_class(text_[at_], digit)) ++at_;
    if (at_ - begin > 9 || (at_ < text_.size() && is_class(text_[at_], word_class))) {
      fail_at(begin, "a name that begins with a digit needs quotes", "write %\"...\"");
    }
  } else {
    at_ = word_end(text_, at_);
    if (at_ == begin) fail_expected("the name of a value after '%'");
  }
  return since(begin);
}

Where TextLexer::where(std::size_t offset) const {
  offset = std::min(offset, text_.size());
  const std::string_view before = text_.substr(0, offset);
  const std::size_t newline = before.rfind('\n');
  const std::size_t line_begin = newline == std::string_view::npos ? 0 : newline + 1;
  Where where;
  where.file = file_;
  where.line = 1 + static_cast<int>(std::ranges::count(before, '\n'));
  where.column = 1 + static_cast<int>(offset - line_begin);
  // A line of any length is told by its number; it is shown only where it helps.
  constexpr std::size_t longest_line = 500;
  const std::size_t line_end = std::min(text_.find('\n', offset), text_.size());
  if (offset - line_begin <= longest_line) {
    where.source_text = text_.substr(line_begin, std::min(line_end - line_begin, longest_line));
    for (char& c : where.source_text) {
      if (static_cast<unsigned char>(c) < ' ') c = ' ';
    }
  }
  return where;
}

void TextLexer::fail_at(std::size_t offset, std::string message, std::string hint) const {
  Diagnostic diagnostic;
  diagnostic.message = std::move(message);
  diagnostic.where = where(offset);
  diagnostic.hint = std::move(hint);
  throw Error(std::move(diagnostic));
}

std::string TextLexer::next_piece() {
  const char c = peek();
  if (at_ >= text_.size()) return "the end of the text";
  std::size_t end = word_end(text_, at_);
  if (end == at_ && is_class(c, digit)) end = number_end();
  if (end == at_) end = at_ + 1;
  constexpr std::size_t longest = 60;
  return quote(text_.substr(at_, std::min(end - at_, longest)));
}

void TextLexer::fail_expected(std::string_view what) {
  const std::string found = next_piece();
  fail_at(at_, fmt::format("expected {}, found {}", what, found));
}

void TextLexer::rethrow_at(std::size_t offset, const Error& error) const {
  Diagnostic diagnostic = error.diagnostic();
  if (diagnostic.where.line == 0) diagnostic.where = where(offset);
  throw Error(std::move(diagnostic));
}

}  // namespace winze
