// SPDX-License-Identifier: Apache-2.0
#include "winze/program/module_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/program/program_text.h"
#include "winze/schema/op_ids.h"

namespace winze {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::string_view sources = R"(
loc 0 {
  nn_module_stack: "r,,m.Net"
}
loc 1 {
  nn_module_stack: "r,,m.Net;a,a,m.A"
}
loc 2 {
  nn_module_stack: "r,,m.Net;b,b,m.B"
}
loc 3 {
  nn_module_stack: "r,,m.Net;b@1,b,m.B"
}
loc 4 {
  nn_module_stack: "_empty_nn_module_stack_from_metadata_hook,,"
}
)";

/// The calls that are lost of a program with these statements over %x and these modules.
std::vector<std::string> lost(std::string_view statements, std::string_view modules) {
  Context context;
  const ExportedProgram program = parse_program(
      context, fmt::format("graph f(%x: f32[2]) {{\n{}}}\n{}{}", statements, modules, sources));
  std::vector<std::string> calls;
  for (const std::size_t at : lost_module_calls(program))
    calls.push_back(program.module_call_graph[at].fqn);
  return calls;
}

constexpr std::string_view first_and_second = R"(module ""
module "a" {
  inputs %x
  outputs %a
}
module "b" {
  inputs %a
  outputs %b
}
)";

TEST(LostModuleCalls, NoneWhereTheGraphFits) {
  EXPECT_THAT(lost("  %a = aten.relu(%x) : f32[2] loc 1\n  %b = aten.neg(%a) : f32[2] loc 2\n"
                   "  %c = aten.add.Tensor(%a, %b) : f32[2] loc 0\n  return %c\n",
                   first_and_second),
              IsEmpty());
}

TEST(LostModuleCalls, OneWithoutNodes) {
  EXPECT_THAT(lost("  %a = aten.relu(%x) : f32[2] loc 1\n  %b = aten.neg(%a) : f32[2] loc 0\n"
                   "  return %b\n",
                   first_and_second),
              ElementsAre("b"));
}

TEST(LostModuleCalls, OneThatUsesWhatIsNoInputOfIt) {
  EXPECT_THAT(lost("  %a = aten.relu(%x) : f32[2] loc 1\n  %c = aten.sin(%x) : f32[2] loc 0\n"
                   "  %b = aten.add.Tensor(%a, %c) : f32[2] loc 2\n  return %b\n",
                   first_and_second),
              ElementsAre("b"));
}

TEST(LostModuleCalls, OneThatKeepsWhatOthersUse) {
  EXPECT_THAT(lost("  %c = aten.sin(%x) : f32[2] loc 1\n  %a = aten.relu(%c) : f32[2] loc 1\n"
                   "  %b = aten.neg(%a) : f32[2] loc 2\n"
                   "  %d = aten.add.Tensor(%b, %c) : f32[2] loc 0\n  return %d\n",
                   first_and_second),
              ElementsAre("a"));
}

TEST(LostModuleCalls, OneThatIsInterrupted) {
  EXPECT_THAT(lost("  %c = aten.sin(%x) : f32[2] loc 1\n  %d = aten.cos(%x) : f32[2] loc 0\n"
                   "  %a = aten.relu(%x) : f32[2] loc 1\n  %b = aten.neg(%a) : f32[2] loc 2\n"
                   "  return %b, %c, %d\n",
                   first_and_second),
              ElementsAre("a"));
}

TEST(LostModuleCalls, NoneWhereANodeOfNoCallStandsBetween) {
  EXPECT_THAT(
      lost("  %c = aten.sin(%x) : f32[2] loc 1\n  %n = aten.sym_size.int(%x, 0) : int = 2 loc 4\n"
           "  %a = aten.relu(%c) : f32[2] loc 1\n  %b = aten.neg(%a) : f32[2] loc 2\n"
           "  return %b\n",
           first_and_second),
      IsEmpty());
}

TEST(LostModuleCalls, OneWhoseValueIsGone) {
  EXPECT_THAT(lost("  %a = aten.relu(%x) : f32[2] loc 1\n  return %a\n",
                   "module \"\"\nmodule \"a\" {\n  inputs %x\n  outputs erased\n}\n"),
              ElementsAre("a"));
}

TEST(LostModuleCalls, AllCallsOfAModuleWithOneOfThem) {
  EXPECT_THAT(lost("  %a = aten.relu(%x) : f32[2] loc 2\n  %b = aten.neg(%x) : f32[2] loc 0\n"
                   "  return %a, %b\n",
                   "module \"\"\nmodule \"b\" {\n  inputs %x\n  outputs %a\n}\n"
                   "module \"b@1\" {\n  inputs %x\n  outputs %b\n}\n"),
              ElementsAre("b", "b@1"));
}

TEST(LostModuleCalls, NothingIsToldOfNodesWithoutRoot) {
  EXPECT_THAT(lost("  %a = aten.relu(%x) : f32[2] loc 9\n  return %a\n",
                   "module \"\"\nmodule \"b\" {\n  inputs %x\n  outputs %a\n}\n"
                   "loc 9 {\n  nn_module_stack: \"a,a,m.A\"\n}\n"),
              IsEmpty());
}

TEST(PreservedCalls, TellsCallsApart) {
  Context context;
  const ExportedProgram program = parse_program(
      context,
      fmt::format("graph f(%x: f32[2]) {{\n  %a = aten.relu(%x) : f32[2] loc 2\n"
                  "  %b = aten.relu(%x) : f32[2] loc 3\n  %c = aten.relu(%x) : f32[2] loc 1\n"
                  "  %d = aten.relu(%x) : f32[2] loc 0\n  return %a, %b, %c, %d\n}}\n"
                  "module \"\"\nmodule \"b\" {{\n  inputs %x\n  outputs %a\n}}\n"
                  "module \"b@1\" {{\n  inputs %x\n  outputs %b\n}}\n{}",
                  sources));
  std::vector<Node> calls = program.graph->find_nodes(op::aten_relu_default);
  ASSERT_EQ(calls.size(), 4U);
  PreservedCalls preserved(program);
  EXPECT_NE(preserved.of(calls[0]), 0U);
  EXPECT_FALSE(preserved.same(calls[0], calls[1]));
  EXPECT_FALSE(preserved.same(calls[1], calls[2]));
  EXPECT_TRUE(preserved.same(calls[2], calls[3]));  // the signature of `a` was not preserved
  EXPECT_EQ(preserved.of(calls[3]), 0U);
}

}  // namespace
}  // namespace winze
