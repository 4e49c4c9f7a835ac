// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "winze/support/diagnostic.h"

namespace winze {

/// Reads the schema language from left to right. White space between pieces is skipped.
class SchemaLexer {
 public:
  explicit SchemaLexer(std::string_view text) : text_(text) {}

  [[nodiscard]] std::string_view text() const { return text_; }
  [[nodiscard]] std::size_t position() const { return position_; }

  /// Goes to the next piece; gives its position.
  std::size_t skip_space() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\t'))
      ++position_;
    return position_;
  }
  [[nodiscard]] bool at_end() { return skip_space() == text_.size(); }
  /// The next character, or NUL at the end.
  [[nodiscard]] char peek() { return at_end() ? '\0' : text_[position_]; }
  [[nodiscard]] bool at_word() { return is_word_start(peek()); }

  /// Takes that piece if it is next.
  bool accept(std::string_view piece) {
    skip_space();
    if (text_.substr(position_, piece.size()) != piece) return false;
    position_ += piece.size();
    return true;
  }
  /// Takes that piece. \throws Error when something else is next.
  void expect(std::string_view piece) {
    if (!accept(piece)) fail_here(fmt::format("expected `{}`", piece));
  }

  /// An identifier. `what` names it in the error.
  std::string_view word(std::string_view what);
  /// Identifiers with dots between them.
  std::string_view dotted_word(std::string_view what);
  /// A decimal integer with an optional sign.
  std::int64_t integer(std::string_view what);
  /// The characters of a number, `inf` and `nan` included.
  std::string_view number();
  /// A string in single or double quotes, with its escapes resolved.
  std::string quoted();

  /// How often a character occurs in what is left.
  [[nodiscard]] std::size_t count_before_end(char character) const;

  [[noreturn]] void fail_here(std::string message);
  [[noreturn]] void fail_at(std::size_t position, std::string message) const;

  static bool is_word_start(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool is_word_part(char c) { return is_word_start(c) || is_digit(c); }

 private:
  [[nodiscard]] std::size_t end_of_word(std::size_t start) const;

  std::string_view text_;
  std::size_t position_ = 0;
};

}  // namespace winze
