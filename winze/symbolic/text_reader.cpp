// SPDX-License-Identifier: Apache-2.0
#include "winze/symbolic/text_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace winze {
namespace {

constexpr std::size_t longest_shown = 200;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

}  // namespace

void TextReader::skip_space() {
  while (position_ < text_.size() &&
         std::string_view(" \t\r\n").find(text_[position_]) != std::string_view::npos) {
    ++position_;
  }
}

char TextReader::peek() {
  skip_space();
  return position_ < text_.size() ? text_[position_] : '\0';
}

bool TextReader::at(std::string_view token) {
  skip_space();
  return text_.substr(position_).starts_with(token);
}

bool TextReader::take(std::string_view token) {
  if (!at(token)) return false;
  position_ += token.size();
  return true;
}

void TextReader::expect(std::string_view token) {
  if (take(token)) return;
  fail_at(position_, fmt::format("expected `{}`, but found {}", token, found_at(position_)));
}

std::string_view TextReader::take_name() {
  skip_space();
  std::size_t end = position_;
  if (end < text_.size() && is_letter(text_[end])) {
    while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
  }
  const std::string_view name = text_.substr(position_, end - position_);
  position_ = end;
  return name;
}

std::size_t TextReader::count_digits(std::size_t from) const {
  std::size_t end = from;
  while (end < text_.size() && is_digit(text_[end])) ++end;
  return end - from;
}

bool TextReader::at_number() {
  const char first = peek();
  return is_digit(first) || (first == '.' && count_digits(position_ + 1) > 0);
}

double TextReader::to_double(std::string_view digits, std::size_t position, bool negative) const {
  double value = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (status == std::errc::result_out_of_range) {
    fail_at(position, fmt::format("the number {} is out of the range of double",
                                  digits.substr(0, longest_shown)));
  }
  if (status != std::errc() || end != digits.data() + digits.size() || !std::isfinite(value)) {
    fail_at(position, fmt::format("`{}` is not a number", digits.substr(0, longest_shown)));
  }
  return negative ? -value : value;
}

TextReader::NumberToken TextReader::take_number(bool negative) {
  skip_space();
  const std::size_t start = position_;
  std::size_t end = start + count_digits(start);
  NumberToken token;
  if (end < text_.size() && text_[end] == '.') {
    token.is_float = true;
    end += 1 + count_digits(end + 1);
  }
  if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
    std::size_t exponent = end + 1;
    if (exponent < text_.size() && (text_[exponent] == '+' || text_[exponent] == '-')) ++exponent;
    if (count_digits(exponent) > 0) {
      token.is_float = true;
      end = exponent + count_digits(exponent);
    }
  }
  const std::string_view digits = text_.substr(start, end - start);
  position_ = end;
  if (token.is_float) {
    token.real = to_double(digits, start, negative);
    return token;
  }
  std::uint64_t size = 0;
  const auto status = std::from_chars(digits.data(), digits.data() + digits.size(), size).ec;
  const std::uint64_t most = (std::uint64_t{1} << 63) - (negative ? 0 : 1);
  if (status != std::errc() || size > most) {
    fail_at(start,
            fmt::format("the integer {}{}{} is out of the range of int64", negative ? "-" : "",
                        digits.substr(0, 40), digits.size() > 40 ? "…" : ""));
  }
  token.integer = static_cast<std::int64_t>(negative ? -size : size);
  return token;
}

std::int64_t TextReader::take_integer() {
  const bool negative = take("-");
  if (!at_number()) {
    fail_at(position_, fmt::format("expected an integer, but found {}", found_at(position_)));
  }
  const std::size_t start = position_;
  const NumberToken token = take_number(negative);
  if (token.is_float) fail_at(start, "expected an integer, but found a float");
  return token.integer;
}

std::string TextReader::take_string() {
  const char quote = peek();
  const std::size_t start = position_;
  if (quote != '\'' && quote != '"') {
    fail_at(start, fmt::format("expected a string in quotes, but found {}", found_at(start)));
  }
  std::string result;
  for (++position_; position_ < text_.size(); ++position_) {
    char c = text_[position_];
    if (c == quote) {
      ++position_;
      return result;
    }
    if (c == '\\') {
      if (++position_ == text_.size()) break;
      c = text_[position_];
      if (c != '\\' && c != '\'' && c != '"') {
        fail_at(position_ - 1, fmt::format("the escape `\\{}` is not supported in a name", c));
      }
    }
    result += c;
  }
  fail_at(start, "this string has no end", "add the closing quote");
}

TextReader::SymbolToken TextReader::take_symbol_call() {
  SymbolToken token;
  token.name = take_string();
  while (take(",")) {
    skip_space();
    const std::size_t start = position_;
    const std::string_view name = take_name();
    const auto assumption = find_assumption(name);
    if (!assumption) {
      fail_at(start, fmt::format("sympy has no assumption `{}`", name.substr(0, longest_shown)));
    }
    expect("=");
    const std::size_t at_value = position_;
    const std::string_view value = take_name();
    if (value != "True" && value != "False") {
      fail_at(at_value, fmt::format("the assumption `{}` is neither True nor False", name));
    }
    token.assumptions = token.assumptions.with(*assumption, value == "True");
  }
  expect(")");
  return token;
}

double TextReader::take_float_call() {
  constexpr std::int64_t bits_of_double = 53;
  double value = 0;
  if (const char first = peek(); first == '\'' || first == '"') {
    const std::size_t start = position_;
    const std::string text = take_string();
    const bool negative = text.starts_with('-');
    value = to_double(std::string_view(text).substr(negative ? 1 : 0), start, negative);
  } else {
    const bool negative = take("-");
    const NumberToken token = take_number(negative);
    value = token.is_float ? token.real : static_cast<double>(token.integer);
  }
  if (take(",")) {
    take("precision");
    take("=");
    const std::size_t start = position_;
    const std::int64_t precision = take_integer();
    if (precision != bits_of_double) {
      fail_at(start, fmt::format("a float of {} bits is not a double, which has 53", precision));
    }
  }
  expect(")");
  return value;
}

std::string TextReader::found_at(std::size_t position) const {
  if (position >= text_.size()) return "the end";
  const std::string_view rest = text_.substr(position);
  std::size_t size = 0;
  while (size < rest.size() && size < 40 && (is_letter(rest[size]) || is_digit(rest[size]))) ++size;
  if (size == 0) size = 1;
  // A character of several bytes is quoted whole.
  while (size < rest.size() && (static_cast<unsigned char>(rest[size]) & 0xc0U) == 0x80U) ++size;
  return fmt::format("`{}`", rest.substr(0, size));
}

void TextReader::fail_at(std::size_t position, std::string message, std::string hint) const {
  Diagnostic diagnostic;
  diagnostic.message = std::move(message);
  diagnostic.hint = std::move(hint);
  diagnostic.where.line = 1;
  diagnostic.where.column = static_cast<int>(std::min<std::size_t>(position, 1U << 30) + 1);
  if (text_.size() <= longest_shown && text_.find('\n') == std::string_view::npos) {
    diagnostic.where.source_text = text_;
  } else {
    const std::size_t start = position < 40 ? 0 : position - 40;
    diagnostic.notes.push_back(
        fmt::format("near `{}`", text_.substr(std::min(start, text_.size()), 80)));
  }
  throw Error(std::move(diagnostic));
}

void TextReader::fail_at(std::size_t position, const Error& error) const {
  fail_at(position, error.diagnostic().message, error.diagnostic().hint);
}

}  // namespace winze
