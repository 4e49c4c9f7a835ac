// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "winze/support/diagnostic.h"
#include "winze/symbolic/sym_expr.h"
#include "winze/symbolic/symbol_table.h"

namespace winze {

/// Reads the tokens of an expression text, and its leaves.
class TextReader {
 public:
  explicit TextReader(std::string_view text) : text_(text) {}

  /// The next character after white space; 0 at the end.
  char peek();
  /// Whether the text goes on with `token` here, after white space.
  bool at(std::string_view token);
  /// Skips `token` if it is next.
  bool take(std::string_view token);
  /// Skips `token`; an Error if something else is next.
  void expect(std::string_view token);
  [[nodiscard]] std::size_t position() const { return position_; }

  /// An identifier; empty if none is next.
  std::string_view take_name();
  /// Whether a digit, or a point and a digit, is next.
  bool at_number();

  /// An integer or a float.
  struct NumberToken {
    bool is_float = false;
    std::int64_t integer = 0;
    double real = 0;
  };
  /// An unsigned number, given the sign that was read before it.
  NumberToken take_number(bool negative);
  /// A signed integer.
  std::int64_t take_integer();
  /// A string in quotes.
  std::string take_string();

  struct SymbolToken {
    std::string name;
    SymbolAssumptions assumptions;
  };
  /// `'s0', positive=True)`: the rest of a call of Symbol.
  SymbolToken take_symbol_call();
  /// `'0.5', precision=53)`: the rest of a call of Float.
  double take_float_call();

  /// Throws Error that points at `position`, a place in the text.
  [[noreturn]] void fail_at(std::size_t position, std::string message, std::string hint = {}) const;
  /// The same for an error that was thrown by what the text asked for.
  [[noreturn]] void fail_at(std::size_t position, const Error& error) const;
  /// What stands at `position`, for a message.
  [[nodiscard]] std::string found_at(std::size_t position) const;

 private:
  void skip_space();
  std::size_t count_digits(std::size_t from) const;
  double to_double(std::string_view digits, std::size_t position, bool negative) const;

  std::string_view text_;
  std::size_t position_ = 0;
};

}  // namespace winze
