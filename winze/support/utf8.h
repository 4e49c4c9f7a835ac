// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace winze {

/// One decoded character: its code point and how many bytes it took. `size` is 0 for invalid UTF-8
/// (overlong forms, surrogates and values above U+10FFFF included) and at the end of the text.
struct Utf8Char {
  char32_t code = 0;
  std::size_t size = 0;
};

/// Decodes the character at the beginning of `text`.
[[nodiscard]] Utf8Char decode_utf8(std::string_view text);

/// Appends a code point as UTF-8; surrogates come out as three bytes, which are not valid UTF-8.
void append_utf8(std::string& out, char32_t code);

/// The offset of the first byte that is not part of valid UTF-8, or the size of the text. O(n),
/// fast.
[[nodiscard]] std::size_t valid_utf8_size(std::string_view text);

}  // namespace winze
