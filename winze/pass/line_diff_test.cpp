// SPDX-License-Identifier: Apache-2.0
#include "winze/pass/line_diff.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace winze {
namespace {

TEST(LineDiff, EqualTextsDifferInNothing) {
  EXPECT_EQ(line_diff("a\nb\n", "a\nb\n"), "");
}

TEST(LineDiff, ShowsChangedLinesWithTheirSurroundings) {
  EXPECT_EQ(line_diff("a\nb\nc\nd\ne\nf\n", "a\nb\nc\nX\ne\nf\n", 1),
            "@@ line 3 @@\n  c\n- d\n+ X\n  e\n");
}

TEST(LineDiff, KeepsLinesBetweenTwoChanges) {
  EXPECT_EQ(line_diff("a\nb\nc\n", "b\nc\nd\n", 0), "@@ line 1 @@\n- a\n@@ line 3 @@\n+ d\n");
}

TEST(LineDiff, OneTextMayBeEmpty) {
  EXPECT_EQ(line_diff("", "a\n"), "@@ line 1 @@\n+ a\n");
  EXPECT_EQ(line_diff("a\n", ""), "@@ line 1 @@\n- a\n");
}

TEST(LineDiff, ManyDifferencesCountAsReplaced) {
  EXPECT_EQ(line_diff("a\nb\nc\n", "x\nb\ny\n", 0, 2),
            "@@ line 1 @@\n- a\n- b\n- c\n+ x\n+ b\n+ y\n");
}

/// Puts a text back together from a diff with all of its context: `sign` and ' ' lines.
std::string side_of(const std::string& diff, char sign) {
  std::string text;
  for (std::size_t at = 0; at < diff.size();) {
    const std::size_t end = diff.find('\n', at);
    const std::string line = diff.substr(at, end - at);
    if (line[0] == sign || line[0] == ' ') text += line.substr(2) + "\n";
    at = end + 1;
  }
  return text;
}

TEST(LineDiff, IsRightForRandomTexts) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::string texts[2];
    for (std::string& text : texts) {
      const auto count = random() % 12;
      for (unsigned i = 0; i < count; ++i)
        text += std::string(1, static_cast<char>('a' + random() % 4)) + "\n";
    }
    if (texts[0] == texts[1]) continue;
    const std::string diff = line_diff(texts[0], texts[1], 1000);
    EXPECT_EQ(side_of(diff, '-'), texts[0]);
    EXPECT_EQ(side_of(diff, '+'), texts[1]);
  }
}

}  // namespace
}  // namespace winze
