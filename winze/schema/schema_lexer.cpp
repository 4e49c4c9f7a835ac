// SPDX-License-Identifier: Apache-2.0
#include "winze/schema/schema_lexer.h"

#include <algorithm>
#include <charconv>

namespace winze {

std::size_t SchemaLexer::end_of_word(std::size_t start) const {
  std::size_t end = start;
  while (end < text_.size() && is_word_part(text_[end])) ++end;
  return end;
}

std::string_view SchemaLexer::word(std::string_view what) {
  if (!at_word()) fail_here(fmt::format("expected {}", what));
  std::size_t start = position_;
  position_ = end_of_word(start);
  return text_.substr(start, position_ - start);
}

std::string_view SchemaLexer::dotted_word(std::string_view what) {
  std::string_view first = word(what);
  std::size_t start = position_ - first.size();
  while (position_ + 1 < text_.size() && text_[position_] == '.' &&
         is_word_start(text_[position_ + 1])) {
    position_ = end_of_word(position_ + 1);
  }
  return text_.substr(start, position_ - start);
}

std::int64_t SchemaLexer::integer(std::string_view what) {
  std::size_t start = skip_space();
  std::int64_t value = 0;
  const char* last = text_.data() + text_.size();
  auto [end, error] = std::from_chars(text_.data() + start, last, value);
  if (error == std::errc::result_out_of_range) fail_here("integer is out of range");
  if (error != std::errc()) fail_here(fmt::format("expected {}", what));
  position_ = static_cast<std::size_t>(end - text_.data());
  return value;
}

std::string_view SchemaLexer::number() {
  std::size_t start = skip_space();
  std::size_t end = start;
  if (end < text_.size() && (text_[end] == '-' || text_[end] == '+')) ++end;
  while (end < text_.size()) {
    char c = text_[end];
    bool is_exponent_sign =
        (c == '-' || c == '+') && (text_[end - 1] == 'e' || text_[end - 1] == 'E');
    if (!is_word_part(c) && c != '.' && !is_exponent_sign) break;
    ++end;
  }
  position_ = end;
  return text_.substr(start, end - start);
}

std::string SchemaLexer::quoted() {
  std::size_t start = skip_space();
  char quote = peek();
  if (quote != '"' && quote != '\'') fail_here("expected a string");
  std::string out;
  for (++position_; position_ < text_.size(); ++position_) {
    char c = text_[position_];
    if (c == quote) {
      ++position_;
      return out;
    }
    if (c != '\\') {
      out += c;
      continue;
    }
    if (++position_ == text_.size()) break;
    static constexpr std::string_view escapes = "abfnrtv\\\"'";
    static constexpr std::string_view meanings = "\a\b\f\n\r\t\v\\\"'";
    std::size_t which = escapes.find(text_[position_]);
    if (which == std::string_view::npos) fail_here("unknown escape in a string");
    out += meanings[which];
  }
  fail_at(start, "string is not closed");
}

std::size_t SchemaLexer::count_before_end(char character) const {
  return static_cast<std::size_t>(
      std::count(text_.begin() + static_cast<std::ptrdiff_t>(position_), text_.end(), character));
}

void SchemaLexer::fail_here(std::string message) {
  fail_at(skip_space(), std::move(message));
}

void SchemaLexer::fail_at(std::size_t position, std::string message) const {
  Diagnostic diagnostic;
  diagnostic.message = fmt::format("schema does not parse: {}", message);
  diagnostic.where.line = 1;
  diagnostic.where.column = static_cast<int>(position) + 1;
  diagnostic.where.source_text = std::string(text_);
  throw Error(std::move(diagnostic));
}

}  // namespace winze
