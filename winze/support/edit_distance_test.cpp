// SPDX-License-Identifier: Apache-2.0
#include "winze/support/edit_distance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace winze {
namespace {

constexpr std::array<std::string_view, 4> ops = {"aten.add.Tensor", "aten.addmm.default",
                                                 "aten.relu.default", "aten.mul.Tensor"};

TEST(EditDistance, CountsSingleEdits) {
  EXPECT_EQ(edit_distance("relu", "relu", 3), 0U);
  EXPECT_EQ(edit_distance("relu", "rel", 3), 1U);
  EXPECT_EQ(edit_distance("relu", "relux", 3), 1U);
  EXPECT_EQ(edit_distance("relu", "rela", 3), 1U);
  EXPECT_EQ(edit_distance("relu", "rleu", 3), 1U);
  EXPECT_EQ(edit_distance("ab", "ba", 1), 1U);
  EXPECT_EQ(edit_distance("", "abc", 3), 3U);
}

TEST(EditDistance, StopsAtItsBound) {
  EXPECT_EQ(edit_distance("aaaa", "bbbb", 2), 3U);
  EXPECT_EQ(edit_distance("a", "aaaaaaaa", 2), 3U);
}

/// The whole table, as the definition says.
std::size_t plain_distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] = std::min(
          {d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

TEST(EditDistance, AgreesWithItsDefinition) {
  std::mt19937 random(5);
  const auto text = [&] {
    std::string out(random() % 9, ' ');
    for (char& c : out) c = static_cast<char>('a' + random() % 3);
    return out;
  };
  for (int i = 0; i < 50'000; ++i) {
    const std::string a = text();
    const std::string b = text();
    for (const std::size_t bound : {0U, 1U, 2U, 3U, 10U}) {
      ASSERT_EQ(edit_distance(a, b, bound), std::min<std::size_t>(plain_distance(a, b), bound + 1))
          << a << ' ' << b;
    }
  }
}

TEST(NearestName, FindsWhatWasMeant) {
  EXPECT_EQ(nearest_name("aten.ad.Tensor", ops), "aten.add.Tensor");
  EXPECT_EQ(nearest_name("aten.rleu.default", ops), "aten.relu.default");
  EXPECT_EQ(nearest_name("x", ops), "");
  EXPECT_EQ(nearest_name("", ops), "");
}

TEST(NearestName, TakesTheFirstOfEquallyNear) {
  constexpr std::array<std::string_view, 2> names = {"abcx", "abcy"};
  EXPECT_EQ(nearest_name("abcd", names), "abcx");
}

TEST(NearestName, BoundsTheWorkForLongNames) {
  const std::string huge(1'000'000, 'a');
  EXPECT_EQ(nearest_name(huge, ops), "");
  const std::array<std::string_view, 1> candidates = {huge};
  EXPECT_EQ(nearest_name("aaa", candidates), "");
}

TEST(DidYouMean, AsksOrStaysSilent) {
  EXPECT_EQ(did_you_mean("aten.mull.Tensor", ops), "did you mean \"aten.mul.Tensor\"?");
  EXPECT_EQ(did_you_mean("nothing like it", ops), "");
}

}  // namespace
}  // namespace winze
