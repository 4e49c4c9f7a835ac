// SPDX-License-Identifier: Apache-2.0
#include "winze/support/quote.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <random>
#include <string>

namespace winze {
namespace {

std::string unquoted(std::string_view literal) {
  std::string out;
  const auto error = unquote(literal, out);
  EXPECT_FALSE(error.has_value()) << literal << ": " << error->message;
  return out;
}

TEST(Quote, LeavesPrintableTextAsItIs) {
  EXPECT_EQ(quote("a b'c/\u00e4\U0001F600"), "\"a b'c/\u00e4\U0001F600\"");
  EXPECT_EQ(quote(""), "\"\"");
}

TEST(Quote, EscapesWhatIsNotPrintable) {
  EXPECT_EQ(quote("\"\\\n\t\r"), R"("\"\\\n\t\r")");
  EXPECT_EQ(quote(std::string_view("\0\x1b\x7f", 3)), R"("\x00\x1b\x7f")");
  EXPECT_EQ(quote("a\xff\xc3"), R"("a\xff\xc3")");
  EXPECT_EQ(quote("\u2028\u0085\ufeff"), R"("\xe2\x80\xa8\xc2\x85\xef\xbb\xbf")");
}

TEST(Quote, IsLosslessForAnyBytes) {
  std::mt19937 random(3);
  for (int i = 0; i < 20'000; ++i) {
    std::string text(random() % 12, ' ');
    for (char& c : text) c = static_cast<char>(random());
    const std::string literal = quote(text);
    ASSERT_EQ(unquoted(literal), text);
    ASSERT_EQ(quoted_size(literal + " rest\""), literal.size());
  }
}

TEST(Unquote, ReadsOtherEscapes) {
  EXPECT_EQ(unquoted(R"("\/\'\b\f\0\x41\u00e4\u20ac\ud83d\ude00")"),
            std::string("/'\b\f\0A\u00e4\u20ac\U0001F600", 5 + 1 + 2 + 3 + 4));
}

TEST(Unquote, SaysWhatIsWrongAndWhere) {
  const auto error = [](std::string_view literal) {
    std::string out;
    const auto found = unquote(literal, out);
    return found ? fmt::format("{} {}", found->offset, found->message) : "";
  };
  EXPECT_EQ(error("abc"), "0 a string in double quotes is wanted");
  EXPECT_EQ(error("\""), "0 a string in double quotes is wanted");
  EXPECT_EQ(error("\"a\"b\""), "2 a quote inside of a string needs a backslash");
  EXPECT_EQ(error(R"("ab\q")"), R"(3 unknown escape "\q")");
  EXPECT_EQ(error(R"("\x4")"), R"(1 unknown escape "\x")");
  EXPECT_EQ(error(R"("\u12")"), R"(1 unknown escape "\u")");
  EXPECT_EQ(error(R"("\udc00")"), R"(1 unknown escape "\u")");
  EXPECT_EQ(error(R"("\ud800x")"), R"(1 unknown escape "\u")");
  EXPECT_EQ(error("\"a\\\""), R"(2 unknown escape "\")");
}

TEST(QuotedSize, FindsTheEndOfALiteral) {
  EXPECT_EQ(quoted_size(R"("a\"b" x)"), 6U);
  EXPECT_EQ(quoted_size("\"\""), 2U);
  EXPECT_EQ(quoted_size("\"a\nb\""), 0U);
  EXPECT_EQ(quoted_size("\"a"), 0U);
  EXPECT_EQ(quoted_size("\"a\\"), 0U);
  EXPECT_EQ(quoted_size("a\"b\""), 0U);
  EXPECT_EQ(quoted_size(""), 0U);
}

}  // namespace
}  // namespace winze
