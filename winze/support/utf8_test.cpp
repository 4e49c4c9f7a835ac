// SPDX-License-Identifier: Apache-2.0
#include "winze/support/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace winze {
namespace {

TEST(Utf8, ReadsWhatItWrites) {
  for (char32_t code = 0; code <= 0x10ffff; ++code) {
    std::string text;
    append_utf8(text, code);
    const Utf8Char character = decode_utf8(text + "x");
    if (code >= 0xd800 && code < 0xe000) {
      EXPECT_EQ(character.size, 0U);
      continue;
    }
    ASSERT_EQ(character.size, text.size());
    ASSERT_EQ(character.code, code);
    ASSERT_EQ(valid_utf8_size(text), text.size());
  }
}

TEST(Utf8, RefusesWhatIsNotUtf8) {
  for (const std::string text : {"", "\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80",
                                 "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff",
                                 "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xc3x", "\xe2\x82x"}) {
    EXPECT_EQ(decode_utf8(text).size, 0U) << text;
    EXPECT_EQ(valid_utf8_size("ab" + text), 2U) << text;
  }
}

}  // namespace
}  // namespace winze
