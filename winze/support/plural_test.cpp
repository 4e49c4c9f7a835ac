// SPDX-License-Identifier: Apache-2.0
#include "winze/support/plural.h"

#include <vector>

#include <gtest/gtest.h>

namespace winze {
namespace {

TEST(Plural, OneHasNoEnding) {
  EXPECT_EQ(plural(0, "node"), "0 nodes");
  EXPECT_EQ(plural(1, "node"), "1 node");
  EXPECT_EQ(plural(3, "node"), "3 nodes");
}

TEST(FirstFew, NamesTwelveAndCountsTheRest) {
  std::vector<std::string> names;
  EXPECT_EQ(first_few(names), "");
  for (int i = 0; i < 12; ++i) names.push_back("s" + std::to_string(i));
  EXPECT_EQ(first_few(names), "s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11");
  names.emplace_back("s12");
  EXPECT_EQ(first_few(names), "s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11 and 1 more");
}

}  // namespace
}  // namespace winze
