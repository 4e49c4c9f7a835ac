// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace winze {

/// Appends the text as a literal in double quotes. Printable UTF-8 stays as it is; `"` and `\` get
/// a backslash; newline, tab and carriage return become `\n`, `\t`, `\r`; other control characters
/// and every byte that is not part of valid UTF-8 become `\xHH`. Lossless for any bytes.
void append_quoted(std::string& out, std::string_view text);
[[nodiscard]] std::string quote(std::string_view text);

/// What is wrong with a literal, and at which byte of it.
struct UnquoteError {
  std::size_t offset = 0;
  std::string message;
};

/// How many bytes the literal at the beginning of `text` has, both quotes included; 0 when `text`
/// does not begin with a quote or the literal does not end in its line.
[[nodiscard]] std::size_t quoted_size(std::string_view text);

/// Appends the text of a literal, its quotes included in `literal`. Reads what append_quoted
/// writes, and also `\/`, `\b`, `\f`, `\0`, `\'` and `\uHHHH` with surrogate pairs. Returns what is
/// wrong, if anything is; `out` is then unspecified.
[[nodiscard]] std::optional<UnquoteError> unquote(std::string_view literal, std::string& out);

}  // namespace winze
