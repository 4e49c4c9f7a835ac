// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/result_keys.h"

#include <gtest/gtest.h>

#include "winze/program/program_text.h"
#include "winze/schema/op_ids.h"

namespace winze {
namespace {

/// Programs of one context, and the keys of their calls by the name of the first result.
struct Programs {
  ResultKey key(std::string_view text, std::string_view name) {
    const ExportedProgram program = parse_program(context, text);
    const std::vector<ResultKey> all = keys.number(program);
    for (const Node node : program.graph->nodes()) {
      if (node.is_call() && node.value_count() != 0 && node.value(0).name() == name)
        return all[node.id().index];
    }
    ADD_FAILURE() << "no call gives " << name;
    return {};
  }
  Context context;
  ResultKeys keys;
};

constexpr const char* original = R"(
graph forward(%x: input f32[4], %y: input f32[4]) {
  %a = aten.sub.Tensor(%x, %y) : f32[4]
  %b = aten.sin(%a) : f32[4]
  return output %b
})";

TEST(ResultKeys, CallsThatComputeTheSameHaveOneNumber) {
  Programs p;
  const ResultKey key = p.key(original, "b");
  const ResultKey other = p.key(R"(
graph forward(%x: input f32[4], %y: input f32[4]) {
  %dead = aten.cos(%y) : f32[4]
  %d = aten.sub.Tensor(%x, %y) : f32[4]
  %s = aten.sin(%d) : f32[4]
  %r = aten.neg(%s) : f32[4]
  return output %r
})",
                                "s");
  EXPECT_EQ(key.number, other.number);
  EXPECT_TRUE(key.is_reusable);
  EXPECT_FALSE(key.must_run);
}

TEST(ResultKeys, OperandsTheirOrderAndConstantsCount) {
  Programs p;
  const auto with = [](std::string_view call) {
    return fmt::format(R"(
graph forward(%x: input f32[4], %y: input f32[4]) {{
  %a = {} : f32[4]
  %b = aten.sin(%a) : f32[4]
  return output %b
}})",
                       call);
  };
  const std::uint32_t number = p.key(original, "b").number;
  EXPECT_NE(p.key(with("aten.sub.Tensor(%y, %x)"), "b").number, number);
  EXPECT_NE(p.key(with("aten.sub.Tensor(%x, %y, alpha=2)"), "b").number, number);
  EXPECT_NE(p.key(with("aten.add.Tensor(%x, %y)"), "b").number, number);
  EXPECT_EQ(p.key(with("aten.sub.Tensor(%x, %y)"), "b").number, number);
}

TEST(ResultKeys, WhatIsReadAfterAWriteIsAnotherInput) {
  Programs p;
  constexpr const char* text = R"(
graph forward(%x: input f32[4]) {
  %a = aten.sin(%x) : f32[4]
  %before = aten.cos(%a) : f32[4]
  %v = aten.view(%a, [2, 2]) : f32[2, 2]
  %w = aten.mul_.Tensor(%v, 2) : f32[2, 2]
  %after = aten.cos(%a) : f32[4]
  return output %before, output %after
})";
  EXPECT_NE(p.key(text, "before").number, p.key(text, "after").number);
  EXPECT_TRUE(p.key(text, "after").is_reusable);
  EXPECT_FALSE(p.key(text, "a").is_reusable);  // it is written to
  EXPECT_TRUE(p.key(text, "w").must_run);
}

TEST(ResultKeys, ViewsAreMadeAnew) {
  Programs p;
  constexpr const char* text = R"(
graph forward(%x: input f32[4]) {
  %a = aten.sin(%x) : f32[4]
  %v = aten.view(%a, [2, 2]) : f32[2, 2]
  %c = aten.cos(%v) : f32[2, 2]
  return output %v, output %c
})";
  EXPECT_FALSE(p.key(text, "v").is_reusable);
  EXPECT_TRUE(p.key(text, "c").is_reusable);
}

TEST(ResultKeys, DrawsCountInTheirOrder) {
  Programs p;
  constexpr const char* text = R"(
graph forward(%x: input f32[4]) {
  %a = aten.rand_like(%x) : f32[4]
  %b = aten.rand_like(%x) : f32[4]
  return output %a, output %b
})";
  EXPECT_NE(p.key(text, "a").number, p.key(text, "b").number);
  EXPECT_TRUE(p.key(text, "a").must_run);
}

TEST(ResultKeys, BodiesCountByWhatTheyDo) {
  Programs p;
  const auto with = [](std::string_view op) {
    return fmt::format(R"(
graph forward(%x: input f32[4], %p: input b8[]) {{
  %c = higher_order.cond(%p, graph yes(%a: f32[4]) {{
    %r = aten.{}(%a) : f32[4]
    return %r
  }}, graph no(%a: f32[4]) {{
    %r = aten.neg(%a) : f32[4]
    return %r
  }}, [%x]) -> tuple : f32[4]
  return output %c
}})",
                       op);
  };
  const std::uint32_t number = p.key(with("sin"), "c").number;
  EXPECT_EQ(p.key(with("sin"), "c").number, number);
  EXPECT_NE(p.key(with("cos"), "c").number, number);
}

TEST(ResultKeys, TwoEqualCallsOfOneProgramDoNotShareResults) {
  Programs p;
  constexpr const char* text = R"(
graph forward(%x: input f32[4]) {
  %a = aten.sin(%x) : f32[4]
  %b = aten.sin(%x) : f32[4]
  return output %a, output %b
})";
  EXPECT_EQ(p.key(text, "a").number, p.key(text, "b").number);
  EXPECT_TRUE(p.key(text, "a").is_reusable);
  EXPECT_FALSE(p.key(text, "b").is_reusable);
}

TEST(ResultKeys, NothingIsKeptOnceTheStateOfTheThreadChanged) {
  Programs p;
  constexpr const char* text = R"(
graph forward(%x: input f32[4]) {
  %a = aten.sin(%x) : f32[4]
  %n = torch._functorch.predispatch._vmap_increment_nesting(3, "error") : int
  %b = aten.cos(%x) : f32[4]
  return output %a, output %b
})";
  EXPECT_TRUE(p.key(text, "a").is_reusable);
  EXPECT_FALSE(p.key(text, "b").is_reusable);
}

TEST(ResultKeys, MemoryThatNothingInitializedIsNotKept) {
  Programs p;
  EXPECT_FALSE(p.key(R"(
graph forward(%x: input f32[4]) {
  %e = aten.empty_like(%x) : f32[4]
  return output %e
})",
                     "e")
                   .is_reusable);
}

}  // namespace
}  // namespace winze
