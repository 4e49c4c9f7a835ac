// SPDX-License-Identifier: Apache-2.0
#include "winze/ir/source_info.h"

#include <gtest/gtest.h>

namespace winze {
namespace {

TEST(SourceLine, IsTheInnermostFrame) {
  const auto line = user_source_line(
      "File \"model.py\", line 10, in forward\n    return self.block(x)\n"
      "  File \"block.py\", line 3, in forward\n    y = x + 1");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->str(), "block.py:3, in forward: y = x + 1");
}

TEST(SourceLine, PassesOverGeneratedFrames) {
  const auto line = user_source_line(
      "File \"model.py\", line 10, in forward\n    torch.cond(p, a, b, (x,))\n"
      "  File \"<eval_with_key>.83\", line 6, in forward\n    linear = linear(x)");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->str(), "model.py:10, in forward: torch.cond(p, a, b, (x,))");
}

TEST(SourceLine, PassesOverFramesOfPyTorchItself) {
  const auto line = user_source_line(
      "File \"model.py\", line 10, in forward\n    y = self.lin(x)\n"
      "  File \"lib/python3.11/site-packages/torch/nn/modules/linear.py\", line 134, in forward\n"
      "    return F.linear(input, self.weight, self.bias)");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->str(), "model.py:10, in forward: y = self.lin(x)");
}

TEST(SourceLine, KeepsAFrameOfPyTorchWhereThereIsNoOther) {
  const auto line = user_source_line(
      "File \"torch/fx/passes/runtime_assert.py\", line 24, in insert\n"
      "  File \"<eval_with_key>.83\", line 6, in forward");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->str(), "torch/fx/passes/runtime_assert.py:24, in insert");
}

TEST(SourceLine, KeepsAGeneratedFrameWhereThereIsNoOther) {
  const auto line = user_source_line("File \"<eval_with_key>.83\", line 6, in forward");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->str(), "<eval_with_key>.83:6, in forward");
}

TEST(SourceLine, IsNothingForOtherText) {
  EXPECT_FALSE(user_source_line(""));
  EXPECT_FALSE(user_source_line("File \"a.py\", line x, in f"));
  EXPECT_FALSE(user_source_line("hello\nworld"));
}

}  // namespace
}  // namespace winze
