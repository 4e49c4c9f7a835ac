// SPDX-License-Identifier: Apache-2.0
#include "tools/winze/targets.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/winze/command.h"

namespace winze {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// What the UsageError of a call says; fails the test where there is none.
std::string usage_error(const std::vector<std::string>& inputs, const std::string& output) {
  try {
    (void)make_targets(inputs, output);
  } catch (const UsageError& error) {
    return error.what();
  }
  ADD_FAILURE() << "no UsageError";
  return {};
}

TEST(Targets, OneInputGoesToTheFile) {
  EXPECT_THAT(make_targets({"a.pt2"}, "out/b.pt2"), ElementsAre(Target{"a.pt2", "out/b.pt2"}));
  EXPECT_THAT(make_targets({"-"}, "-"), ElementsAre(Target{"-", "-"}));
}

TEST(Targets, OneInputGoesIntoAFolder) {
  EXPECT_THAT(make_targets({"x/a.pt2"}, "out/"), ElementsAre(Target{"x/a.pt2", "out/a.pt2"}));
  const std::string existing = std::filesystem::temp_directory_path().string();
  EXPECT_THAT(make_targets({"x/a.pt2"}, existing),
              ElementsAre(Target{"x/a.pt2", (std::filesystem::path(existing) / "a.pt2").string()}));
}

TEST(Targets, SeveralInputsKeepTheirNames) {
  EXPECT_THAT(make_targets({"x/a.pt2", "b.wz", "y/c.exported"}, "out/"),
              ElementsAre(Target{"x/a.pt2", "out/a.pt2"}, Target{"b.wz", "out/b.wz"},
                          Target{"y/c.exported", "out/c.pt2"}));
}

TEST(Targets, SeveralInputsNeedAFolder) {
  EXPECT_THAT(usage_error({"a.pt2", "b.pt2"}, "out.pt2"),
              HasSubstr(", cannot go to one file \"out.pt2\""));
}

TEST(Targets, TwoInputsOfOneNameAreRefused) {
  EXPECT_THAT(usage_error({"x/a.pt2", "y/a.pt2"}, "out/"),
              HasSubstr("would both become \"out/a.pt2\""));
}

TEST(Targets, StandardInputHasNoNameForAFolder) {
  EXPECT_THAT(usage_error({"-"}, "out/"), HasSubstr("standard input has no file name"));
}

TEST(Targets, TextIsToldByTheName) {
  EXPECT_TRUE(is_text_output("-"));
  EXPECT_TRUE(is_text_output("a.wz"));
  EXPECT_FALSE(is_text_output("a.pt2"));
  EXPECT_FALSE(is_text_output("a"));
}

TEST(Targets, FolderIsMade) {
  const std::filesystem::path base = std::filesystem::temp_directory_path() / "winze-targets-test";
  std::filesystem::remove_all(base);
  make_target_folder((base / "a" / "b").string() + "/");
  EXPECT_TRUE(std::filesystem::is_directory(base / "a" / "b"));
  std::ofstream(base / "file") << "x";
  EXPECT_THROW(make_target_folder((base / "file" / "c").string() + "/"), Error);
  std::filesystem::remove_all(base);
}

}  // namespace
}  // namespace winze
