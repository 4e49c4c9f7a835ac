// SPDX-License-Identifier: Apache-2.0
#include "winze/schema/tags.h"

#include <gtest/gtest.h>

namespace winze {
namespace {

TEST(Tags, IsASet) {
  Tags tags;
  EXPECT_TRUE(tags.empty());
  tags.add(Tag::core);
  tags.add(Tag::function);
  tags.add(Tag::core);
  EXPECT_EQ(tags.size(), 2);
  EXPECT_TRUE(tags.has(Tag::core));
  EXPECT_TRUE(tags.has(Tag::function));
  EXPECT_FALSE(tags.has(Tag::pointwise));
}

TEST(Tags, NamesAndTagsBelongTogether) {
  EXPECT_EQ(tag_name(Tag::core), "core");
  EXPECT_EQ(tag_name(Tag::needs_fixed_stride_order), "needs_fixed_stride_order");
  EXPECT_EQ(tag_name(Tag::function), "function");
  for (int i = 0; i <= static_cast<int>(Tag::function); ++i) {
    Tag tag = static_cast<Tag>(i);
    EXPECT_EQ(find_tag(tag_name(tag)), tag);
  }
  EXPECT_EQ(find_tag("no_such_tag"), std::nullopt);
}

}  // namespace
}  // namespace winze
