// SPDX-License-Identifier: Apache-2.0
#include "winze/ir/text_lexer.h"

#include <cmath>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/support/error_of.h"

namespace winze {
namespace {

using ::testing::HasSubstr;

std::string error_of(const std::function<void(TextLexer&)>& read, std::string_view text) {
  TextLexer lexer(text, "t.wz");
  return winze::error_of([&] { read(lexer); });
}

TEST(TextLexer, SkipsBlanksAndComments) {
  TextLexer lexer("  // RUN: winze\n\t// CHECK: x\n a // b\n = c", "");
  EXPECT_EQ(lexer.word("a word"), "a");
  EXPECT_TRUE(lexer.accept('='));
  EXPECT_EQ(lexer.word("a word"), "c");
  EXPECT_TRUE(lexer.at_end());
}

TEST(TextLexer, WordsHoldDotsAndDigits) {
  TextLexer lexer("aten.add.Tensor(_x1", "");
  EXPECT_EQ(lexer.word("a word"), "aten.add.Tensor");
  lexer.expect('(', "");
  EXPECT_EQ(lexer.word("a word"), "_x1");
}

TEST(TextLexer, ReadsIntegersAndFloats) {
  TextLexer lexer("-9223372036854775808 1.5 -0.0 1e-05 inf -inf nan 7", "");
  EXPECT_EQ(lexer.number().integer, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(lexer.number().floating, 1.5);
  const TextNumber negative_zero = lexer.number();
  EXPECT_TRUE(negative_zero.is_float);
  EXPECT_TRUE(std::signbit(negative_zero.floating));
  EXPECT_EQ(lexer.number().floating, 1e-05);
  EXPECT_EQ(lexer.number().floating, HUGE_VAL);
  EXPECT_EQ(lexer.number().floating, -HUGE_VAL);
  EXPECT_TRUE(std::isnan(lexer.number().floating));
  const TextNumber seven = lexer.number();
  EXPECT_FALSE(seven.is_float);
  EXPECT_EQ(seven.integer, 7);
}

TEST(TextLexer, PutsNeighbouringStringsTogether) {
  TextLexer lexer("\"a\\n\"\n  \"b\" c", "");
  EXPECT_EQ(lexer.long_string("a string"), "a\nb");
  EXPECT_EQ(lexer.word("a word"), "c");
}

TEST(TextLexer, TellsLineColumnAndShowsTheLine) {
  const std::string message = error_of(
      [](TextLexer& lexer) { lexer.word("x"), lexer.word("x"), lexer.expect(')', "after it"); },
      "a\n  b ]");
  EXPECT_EQ(message, "t.wz:2:5: error: expected ')' after it, found \"]\"\n      b ]\n        ^");
}

TEST(TextLexer, NamesTheEndOfTheText) {
  EXPECT_THAT(error_of([](TextLexer& lexer) { lexer.word("a graph"); }, "  "),
              HasSubstr("expected a graph, found the end of the text"));
}

TEST(TextLexer, RefusesNumbersOutOfRange) {
  const auto number = [](TextLexer& lexer) { lexer.number(); };
  EXPECT_THAT(error_of(number, "9223372036854775808"),
              HasSubstr("9223372036854775808 does not fit 64 bits"));
  EXPECT_THAT(error_of(number, "1e999"), HasSubstr("1e999 is out of the range of a float"));
  EXPECT_THAT(error_of(number, "12ab"), HasSubstr("\"12ab\" is not a number"));
}

TEST(TextLexer, RefusesOpenStrings) {
  const auto string = [](TextLexer& lexer) { lexer.string("a string"); };
  EXPECT_THAT(error_of(string, "\"abc\n\""), HasSubstr("a string does not end in its line"));
  EXPECT_THAT(error_of(string, "\"\\q\""), HasSubstr("t.wz:1:2"));
}

TEST(TextLexer, TellsNamesFromNumbersOfUnnamedValues) {
  TextLexer lexer("%x %12 %\"12\"", "");
  bool is_number = true;
  EXPECT_EQ(lexer.value_name(is_number), "x");
  EXPECT_FALSE(is_number);
  EXPECT_EQ(lexer.value_name(is_number), "12");
  EXPECT_TRUE(is_number);
  EXPECT_EQ(lexer.value_name(is_number), "12");
  EXPECT_FALSE(is_number);
}

TEST(TextLexer, KeepsAVeryLongLineOutOfTheMessage) {
  const std::string text = std::string(100'000, ' ') + "]";
  EXPECT_LT(error_of([](TextLexer& lexer) { lexer.word("a word"); }, text).size(), 200U);
}

TEST(TextWord, QuotesWhatIsNoWord) {
  std::string out;
  for (const char* name : {"x", "a.b_1", "1x", "", "a b", ".a"}) {
    append_text_name(out, name);
    out += ' ';
  }
  EXPECT_EQ(out, "x a.b_1 \"1x\" \"\" \"a b\" \".a\" ");
}

}  // namespace
}  // namespace winze
