// SPDX-License-Identifier: Apache-2.0
#include "winze/program/sequence_match.h"

#include <random>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winze {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

std::vector<std::uint64_t> letters(std::string_view text) {
  return {text.begin(), text.end()};
}

/// Length of the longest common subsequence by the table that defines it.
std::size_t longest(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t x = 1; x <= a.size(); ++x) {
    for (std::size_t y = 1; y <= b.size(); ++y) {
      table[x][y] = a[x - 1] == b[y - 1] ? table[x - 1][y - 1] + 1
                                         : std::max(table[x - 1][y], table[x][y - 1]);
    }
  }
  return table[a.size()][b.size()];
}

void expect_in_order(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b,
                     const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pairs) {
  for (std::size_t index = 0; index < pairs.size(); ++index) {
    ASSERT_LT(pairs[index].first, a.size());
    ASSERT_LT(pairs[index].second, b.size());
    EXPECT_EQ(a[pairs[index].first], b[pairs[index].second]);
    if (index == 0) continue;
    EXPECT_LT(pairs[index - 1].first, pairs[index].first);
    EXPECT_LT(pairs[index - 1].second, pairs[index].second);
  }
}

TEST(MatchSequences, PairsWhatIsCommon) {
  EXPECT_THAT(match_sequences(letters("axbc"), letters("abyc")),
              ElementsAre(Pair(0, 0), Pair(2, 1), Pair(3, 3)));
  EXPECT_THAT(match_sequences(letters("abc"), letters("xyz")), IsEmpty());
  EXPECT_THAT(match_sequences(letters(""), letters("abc")), IsEmpty());
}

TEST(MatchSequences, FindsTheLongest) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    std::vector<std::uint64_t> a(random() % 30);
    std::vector<std::uint64_t> b(random() % 30);
    const unsigned alphabet = 1 + random() % 6;
    for (std::uint64_t& letter : a) letter = random() % alphabet;
    for (std::uint64_t& letter : b) letter = random() % alphabet;
    const auto pairs = match_sequences(a, b);
    expect_in_order(a, b, pairs);
    EXPECT_EQ(pairs.size(), longest(a, b));
  }
}

TEST(MatchSequences, TakesLongSequencesThatHaveLittleInCommon) {
  std::mt19937 random(7);
  std::vector<std::uint64_t> a(200'000);
  std::vector<std::uint64_t> b(200'000);
  for (std::uint64_t& letter : a) letter = random() % 1000;
  for (std::uint64_t& letter : b) letter = random() % 1000;
  const auto pairs = match_sequences(a, b);
  expect_in_order(a, b, pairs);
}

}  // namespace
}  // namespace winze
