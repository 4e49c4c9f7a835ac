// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "winze/support/diagnostic.h"

namespace winze {

/// True where `text` may stand in the text form without quotes: letters, digits, `_` and `.`, not
/// beginning with a digit or a dot.
[[nodiscard]] bool is_text_word(std::string_view text);
/// Appends the name as it is where it is a word, else in quotes.
void append_text_name(std::string& out, std::string_view name);

/// A number of the text form.
struct TextNumber {
  bool is_float = false;
  bool is_imaginary = false;  ///< `2j`; the value is then in `floating`
  std::int64_t integer = 0;
  double floating = 0;
};

/// Reads the text form piece by piece. Blanks, line ends and `//` comments may stand between any
/// two pieces. Everything that is wrong throws Error with file, line, column and the line itself.
///
/// No piece is ever read twice by more than a constant number of characters, so that all of it is
/// linear. Line and column are worked out only for an error.
class TextLexer {
 public:
  /// `text` must outlive the lexer; `file` is what errors call it.
  TextLexer(std::string_view text, std::string_view file) : text_(text), file_(file) {
    if (text.starts_with("\xef\xbb\xbf")) at_ = 3;  // the mark that some editors put first
  }

  [[nodiscard]] std::size_t offset() const { return at_; }
  [[nodiscard]] std::string_view text() const { return text_; }
  /// The bytes from `begin` up to here.
  [[nodiscard]] std::string_view since(std::size_t begin) const {
    return text_.substr(begin, at_ - begin);
  }

  /// Skips blanks and comments, then gives the next character, 0 at the end.
  char peek();
  /// The character `ahead` after the next one without skipping anything, 0 behind the end.
  [[nodiscard]] char peek_raw(std::size_t ahead) const {
    return ahead < text_.size() - at_ ? text_[at_ + ahead] : '\0';
  }
  [[nodiscard]] bool at_end() {
    peek();
    return at_ >= text_.size();
  }
  /// Takes the character if it is the next one.
  bool accept(char c) {
    if (peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  /// Takes the character. `after` completes "expected ')' after ...".
  void expect(char c, std::string_view after);
  /// Takes `->`.
  bool accept_arrow();

  /// The word that comes next, without taking it; empty where there is none.
  [[nodiscard]] std::string_view peek_word();
  /// Takes this very word.
  bool accept_word(std::string_view word);
  void expect_word(std::string_view word, std::string_view after);
  /// Takes a word; `what` says what is wanted ("the name of an operator").
  std::string_view word(std::string_view what);
  /// Steps over `size` bytes that were looked at.
  void skip(std::size_t size) { at_ += size; }
  /// Goes back to a place seen before.
  void go_back(std::size_t offset) { at_ = offset; }

  [[nodiscard]] bool next_is_quote() { return peek() == '"'; }
  /// Takes a quoted string. The view is valid until the next call.
  std::string_view string(std::string_view what);
  /// Takes one or more quoted strings, which are put together.
  std::string_view long_string(std::string_view what);
  /// A word or a quoted string; `what` says what is wanted. The view is valid until the next call.
  std::string_view name(std::string_view what);

  [[nodiscard]] bool next_is_number();
  TextNumber number();
  std::int64_t integer(std::string_view what);
  std::uint64_t unsigned_integer(std::string_view what);

  /// The value's name behind `%`: bare, quoted, or digits. `is_number` tells the digits of an
  /// unnamed value from a name. The view is valid until the next call.
  std::string_view value_name(bool& is_number);

  /// Throws an Error at `offset`.
  [[noreturn]] void fail_at(std::size_t offset, std::string message, std::string hint = {}) const;
  /// Throws "expected WHAT, found ..." at the next piece.
  [[noreturn]] void fail_expected(std::string_view what);
  /// Line, column and text of the line at `offset`. O(offset).
  [[nodiscard]] Where where(std::size_t offset) const;
  /// Throws `error` again with this place, unless it names one already.
  [[noreturn]] void rethrow_at(std::size_t offset, const Error& error) const;

 private:
  void skip_blanks();
  void append_string();
  [[nodiscard]] std::string next_piece();
  [[nodiscard]] std::size_t number_end() const;

  std::string_view text_;
  std::string file_;
  std::size_t at_ = 0;
  std::string scratch_;
};

}  // namespace winze
