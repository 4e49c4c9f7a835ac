// SPDX-License-Identifier: Apache-2.0
#include "winze/program/module_stacks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/program/program_text.h"

namespace winze {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ModuleStacksTest : public ::testing::Test {
 protected:
  /// The calls that a node with this stack is in.
  std::vector<std::string> calls(const std::string& stack) {
    const ExportedProgram program =
        parse_program(context_,
                      "graph f(%x: f32[2]) {\n  %y = aten.relu(%x) : f32[2] loc 0\n  return %y\n}\n"
                      "loc 0 {\n  nn_module_stack: \"" +
                          stack + "\"\n}\n");
    std::vector<std::string> calls;
    for (const Node node : program.graph->nodes()) {
      if (!node.is_call()) continue;
      for (const std::uint32_t id : stacks_.of(node)) calls.push_back(stacks_.frame(id).call);
    }
    return calls;
  }

  Context context_;
  ModuleStacks stacks_{context_};
};

TEST_F(ModuleStacksTest, ReadsCallsAndTheirNumbers) {
  EXPECT_THAT(calls("L__self__,,m.Net;L__self___a@2,a,m.A;L__self___a_lin,a.lin,torch.nn.Linear"),
              ElementsAre("", "a@2", "a.lin"));
}

TEST_F(ModuleStacksTest, CommasInBracketsDoNotSeparate) {
  EXPECT_THAT(calls("L['self'],,m.Net;getattr(L['self'], 'a'),a,m.A[int, (str, int)]"),
              ElementsAre("", "a"));
}

TEST_F(ModuleStacksTest, LeavesOutWhatIsInNoneOfTheOthers) {
  EXPECT_THAT(calls("r,,m.Net;a,a,m.A;b,b.c,m.C;c,a.c,m.C"), ElementsAre("", "a"));
}

TEST_F(ModuleStacksTest, NodesBetweenCallsSayNothing) {
  EXPECT_THAT(calls("_empty_nn_module_stack_from_metadata_hook,,"), IsEmpty());
}

TEST_F(ModuleStacksTest, WhatPyTorchWouldNotReadIsNothing) {
  EXPECT_THAT(calls("r,,m.Net;a,m.A"), IsEmpty());
  EXPECT_THAT(calls(""), IsEmpty());
}

TEST(CommonModuleStack, EndsBetweenCalls) {
  EXPECT_EQ(common_module_stack("r,,N;a,a,A;b,a.b,B", "r,,N;a,a,A;c,a.c,C"), "r,,N;a,a,A");
  EXPECT_EQ(common_module_stack("r,,N;a,a,A", "r,,N;a,a,AB"), "r,,N");
  EXPECT_EQ(common_module_stack("r,,N;a,a,A", "r,,N;a,a,A"), "r,,N;a,a,A");
  EXPECT_EQ(common_module_stack("r,,N", "r,,N;a,a,A"), "r,,N");
  EXPECT_EQ(common_module_stack("r,,N", "q,,N"), "");
  EXPECT_EQ(common_module_stack("", "q,,N"), "");
}

}  // namespace
}  // namespace winze
