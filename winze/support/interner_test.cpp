// SPDX-License-Identifier: Apache-2.0
#include "winze/support/interner.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <unordered_map>
#include <vector>

namespace winze {
namespace {

TEST(StringInterner, GivesEqualStringsEqualIds) {
  StringInterner interner;
  const std::uint32_t a = interner.intern("a");
  const std::uint32_t b = interner.intern("b");
  EXPECT_NE(a, b);
  const std::string other_bytes = "a";
  EXPECT_EQ(interner.intern(other_bytes), a);
  EXPECT_EQ(interner.view(a), "a");
  EXPECT_EQ(interner.view(b), "b");
}

TEST(StringInterner, CountsIdsUpFromTheEmptyString) {
  StringInterner interner;
  EXPECT_EQ(interner.size(), 1U);
  EXPECT_EQ(interner.intern(""), 0U);
  EXPECT_EQ(interner.view(0), "");
  EXPECT_EQ(interner.intern("x"), 1U);
  EXPECT_EQ(interner.intern("y"), 2U);
  EXPECT_EQ(interner.size(), 3U);
}

TEST(StringInterner, FindsWithoutAdding) {
  StringInterner interner;
  EXPECT_EQ(interner.find("x"), StringInterner::not_found);
  EXPECT_EQ(interner.size(), 1U);
  const std::uint32_t x = interner.intern("x");
  EXPECT_EQ(interner.find("x"), x);
}

TEST(StringInterner, TellsStringsWithNulApart) {
  StringInterner interner;
  EXPECT_NE(interner.intern(std::string_view("a\0b", 3)), interner.intern("a"));
}

TEST(StringInterner, KeepsViewsWhileItGrows) {
  StringInterner interner;
  const std::string_view first = interner.view(interner.intern("first"));
  const std::string large(200'000, 'l');
  interner.intern(large);
  for (int i = 0; i < 50'000; ++i) interner.intern(std::to_string(i));
  EXPECT_EQ(first, "first");
  EXPECT_EQ(first.data(), interner.view(interner.intern("first")).data());
  EXPECT_EQ(interner.view(interner.find(large)), large);
}

TEST(StringInterner, AgreesWithAMapOnRandomStrings) {
  std::mt19937 random(7);
  StringInterner interner;
  std::unordered_map<std::string, std::uint32_t> model{{"", 0}};
  for (int i = 0; i < 100'000; ++i) {
    std::string text(random() % 6, 'x');
    for (char& c : text) c = static_cast<char>('a' + random() % 4);
    const auto expected =
        model.emplace(text, static_cast<std::uint32_t>(model.size())).first->second;
    ASSERT_EQ(interner.intern(text), expected) << text;
  }
  EXPECT_EQ(interner.size(), model.size());
}

}  // namespace
}  // namespace winze
