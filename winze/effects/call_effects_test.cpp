// SPDX-License-Identifier: Apache-2.0
#include "winze/effects/call_effects.h"

#include <gtest/gtest.h>

#include <string>

#include "winze/ir/text_parser.h"

namespace winze {
namespace {

/// Facts of the first call of a graph over %x, %y and %p.
CallFacts facts_of(std::string_view call) {
  Context context;
  const auto graph = parse_graph(
      context,
      fmt::format("graph forward(%x: f32[2], %y: f32[2], %p: b8[]) {{\n  {}\n  return\n}}", call));
  CallEffects effects(context);
  return effects.facts(graph->last_placeholder().next());
}

TEST(CallEffects, APureCallHasNone) {
  EXPECT_FALSE(facts_of("%r = aten.add.Tensor(%x, %y) : f32[2]").is_impure());
}

TEST(CallEffects, InPlaceCallsWrite) {
  const CallFacts facts = facts_of("%r = aten.add_.Tensor(%x, %y) : f32[2]");
  EXPECT_TRUE(facts.writes);
  EXPECT_TRUE(facts.is_impure());
  EXPECT_FALSE(facts.changes_metadata);
}

TEST(CallEffects, ResizingChangesMetadata) {
  EXPECT_TRUE(facts_of("%r = aten.unsqueeze_(%x, 0) : f32[1, 2]").changes_metadata);
}

TEST(CallEffects, DropoutDrawsWhenItTrains) {
  EXPECT_TRUE(facts_of("%r = aten.dropout(%x, 0.5, True) : f32[2]").is_random);
  EXPECT_FALSE(facts_of("%r = aten.dropout(%x, 0.5, False) : f32[2]").is_random);
  EXPECT_TRUE(facts_of("%r = aten.rand([2]) : f32[2]").is_random);
}

TEST(CallEffects, AssertionsAreOrdered) {
  EXPECT_EQ(facts_of("aten._assert_async.msg(%p, \"no\")").ordering, Ordering::assertion);
}

TEST(CallEffects, UnknownOperatorsDoEverything) {
  const CallFacts facts = facts_of("%r = \"#my:op\"(%x) : f32[2]");
  EXPECT_TRUE(facts.is_unknown);
  EXPECT_TRUE(facts.writes);
  EXPECT_TRUE(facts.is_random);
}

std::string cond_with(std::string_view statement) {
  return fmt::format(
      "%r = higher_order.cond(%p, graph yes(%a: f32[2]) {{ {} return %a }},"
      " graph no(%b: f32[2]) {{ return %b }}, [%x]) -> tuple : f32[2]",
      statement);
}

TEST(CallEffects, ACallThatRunsGraphsHasTheirEffects) {
  EXPECT_FALSE(facts_of(cond_with("%s = aten.relu(%a) : f32[2]")).is_impure());
  EXPECT_TRUE(facts_of(cond_with("%s = aten.mul_.Tensor(%a, 2) : f32[2]")).writes);
  EXPECT_TRUE(facts_of(cond_with("%s = aten.rand([2]) : f32[2]")).is_random);
  EXPECT_EQ(facts_of(cond_with("aten._assert_async(%a)")).ordering, Ordering::assertion);
}

TEST(CallEffects, AFunctionalizedCallWritesToCopiesOnly) {
  const CallFacts facts = facts_of(
      "%r, %s = higher_order.auto_functionalized(aten.add_.Tensor, self=%x, other=%y)"
      " -> tuple : f32[2], f32[2]");
  EXPECT_FALSE(facts.writes);
}

TEST(CallEffects, NamesWhatIsWritten) {
  Context context;
  const auto graph = parse_graph(context, R"(graph forward(%x: f32[2], %y: f32[2], %z: f32[2]) {
    %r = aten.add.out(%x, %y, out=%z) : f32[2]
    return %r
  })");
  CallEffects effects(context);
  const std::vector<Node> inputs = graph->placeholders();
  const std::vector<Value> written = effects.writes(inputs[2].next());
  ASSERT_EQ(written.size(), 1U);
  EXPECT_EQ(written[0], inputs[2].value());
}

}  // namespace
}  // namespace winze
