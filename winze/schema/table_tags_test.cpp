// SPDX-License-Identifier: Apache-2.0
#include "winze/schema/table_tags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winze {
namespace {

TEST(TableTags, LeavesOutWhatIsNotKnown) {
  Tags expected;
  expected.add(Tag::core);
  expected.add(Tag::pointwise);
  EXPECT_EQ(parse_tags(" core,of_a_later_release , pointwise"), expected);
  EXPECT_TRUE(parse_tags("").empty());
}

TEST(TableTags, TellsWhichIsNotKnown) {
  EXPECT_FALSE(unknown_tag("core, nondeterministic_seeded"));
  EXPECT_FALSE(unknown_tag(""));
  const std::optional<Diagnostic> near = unknown_tag("core, nondeterministic_seded");
  ASSERT_TRUE(near);
  EXPECT_EQ(near->message, R"(there is no tag "nondeterministic_seded")");
  EXPECT_EQ(near->where.column, 7);
  EXPECT_EQ(near->hint, R"(did you mean "nondeterministic_seeded"?)");
  EXPECT_THAT(unknown_tag("effectful")->hint, testing::HasSubstr("tags are PyTorch's"));
}

TEST(TableTags, TellsOfBracketsThatAreMissing) {
  EXPECT_EQ(hint_for_tags("lib::f(Tensor x) -> Tensor core, nondeterministic_seeded"),
            "tags stand in brackets: [nondeterministic_seeded]");
  EXPECT_EQ(hint_for_tags("lib::f(Tensor x) -> Tensr"), "");
  EXPECT_EQ(hint_for_tags("lib::f(Tensor x) -> Tensor out"), "");
}

}  // namespace
}  // namespace winze
