// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/shape/shape_test.h"

namespace winze {
namespace {

using ::testing::HasSubstr;

/// A call of cond whose branches return these types of input.
std::string cond_of(const std::string& on_true, const std::string& on_false) {
  return fmt::format(
      "higher_order.cond(%p, graph t(%a: {0}, %b: {1}) {{\n return %a\n }}, graph f(%a: {0}, %b: "
      "{1}) {{\n return %b\n }}, [%a, %b]) -> tuple",
      on_true, on_false);
}
std::string inputs_of(const std::string& a, const std::string& b) {
  return fmt::format("%p: input b8[], %a: input {}, %b: input {}", a, b);
}

TEST(HigherOrderRules, CondYieldsWhatItsBranchesReturn) {
  EXPECT_EQ(inferred(inputs_of("f32[s0, 2]", "f32[s0, 2]"), cond_of("f32[s0, 2]", "f32[s0, 2]")),
            "f32[s0, 2]");
}

TEST(HigherOrderRules, SizesInWhichBranchesDifferDependOnData) {
  const std::string type =
      inferred(inputs_of("f32[3, 2]", "f32[5, 2]"), cond_of("f32[3, 2]", "f32[5, 2]"));
  EXPECT_THAT(type, HasSubstr("f32[u"));
  EXPECT_THAT(type, HasSubstr(", 2]"));
}

TEST(HigherOrderRules, BranchesOfDifferentDtypesAreRefused) {
  EXPECT_EQ(refusal(inputs_of("f32[3]", "f64[3]"), cond_of("f32[3]", "f64[3]")),
            "When merging two branches' output in torch.cond, expected same dtype");
}

TEST(HigherOrderRules, BranchesThatLieDifferentlyInMemoryAreRefused) {
  EXPECT_EQ(refusal(inputs_of("f32[3, 2]", "f32[4, 2] strides [1, 4]"),
                    cond_of("f32[3, 2]", "f32[4, 2] strides [1, 4]")),
            "The sorted order of strides of the two branches' output doesn't match.");
}

TEST(HigherOrderRules, MapStacksWhatEachRunReturns) {
  EXPECT_EQ(inferred("%x: input f32[s0, 3, 2]",
                     "higher_order.map_impl(graph f(%x: f32[3, 2]) {\n  %t = aten.t.default(%x) : "
                     "f32[2, 3] strides [1, 2]\n  return %t\n }, [%x], []) -> tuple"),
            "f32[s0, 2, 3]");
}

TEST(HigherOrderRules, ScanYieldsTheCarryAndTheStack) {
  EXPECT_EQ(inferred("%i: input f32[2], %x: input f32[s0, 2]",
                     "higher_order.scan(graph f(%i: f32[2], %x: f32[2]) {\n  return %i, %x\n }, "
                     "[%i], [%x], []) -> tuple",
                     "%a, %b"),
            "f32[2], f32[s0, 2]");
}

TEST(HigherOrderRules, LoopsYieldWhatTheirBodyReturns) {
  EXPECT_EQ(inferred("%n: input i64[], %x: input f32[s0]",
                     "higher_order.while_loop(graph c(%n: i64[], %x: f32[s0]) -> Tensor {\n  %t = "
                     "aten.lt.Scalar(%n, 3) : b8[]\n  return %t\n }, graph b(%n: i64[], %x: "
                     "f32[s0]) {\n  return %n, %x\n }, [%n, %x], []) -> tuple",
                     "%a, %b"),
            "i64[], f32[s0]");
}

TEST(HigherOrderRules, LayoutOfAMappedDimensionIsNotGuessed) {
  EXPECT_EQ(
      inferred("%x: input f32[3]", "torch._functorch.predispatch._remove_batch_dim(%x, 1, 4, 0)"),
      "<where a mapped dimension lies in memory is not known>");
}

TEST(HigherOrderRules, OutDtypeYieldsWhatItsOperatorDoes) {
  EXPECT_EQ(inferred("%x: input i8[s0, 4], %y: input i8[4, 3]",
                     "higher_order.out_dtype(aten.mm.default, i32, %x, %y)"),
            "i32[s0, 3]");
  const Inferred result = infer("%x: input i8[2, s0], %y: input i8[s1, 3]",
                                "higher_order.out_dtype(aten.mm.default, i32, %x, %y)");
  EXPECT_THAT(result.constraints, ::testing::ElementsAre("Eq(s0, s1)"));
}

TEST(HigherOrderRules, EffectsYieldATokenFirst) {
  EXPECT_EQ(inferred("%t: input f32[0], %x: input f32[s0]",
                     "higher_order.with_effects(%t, aten.sin.default, %x) -> tuple", "%u, %y"),
            "f32[0], f32[s0]");
}

TEST(HigherOrderRules, OperatorsThatCallOperatorsAreNotCalled) {
  EXPECT_EQ(
      inferred("%t: input f32[0], %x: input f32[2]",
               "higher_order.with_effects(%t, higher_order.with_effects, %t, aten.sin.default, "
               "%x) -> tuple",
               "%u, %y"),
      "<higher_order.with_effects calls higher_order.with_effects>");
}

/// What is inferred anew of each call of this body, and what has to hold for it.
std::string inferred_anew(const std::string& body) {
  Context context;
  const ExportedProgram program = parse_program(
      context, "symbol s0 in [2, 64]\ngraph f(%x: input f32[s0, 3], %y: input f32[4, 3]) {\n" +
                   body + "  return\n}\n");
  ShapeRules rules(context);
  Inference inference;
  std::string text;
  for (const Node node : program.graph->nodes()) {
    if (!node.is_call()) continue;
    rules.infer(node, inference);
    for (const MetaId meta : inference.metas) {
      append_type(text, context, meta, Device{});
      text += "; ";
    }
    for (const ShapeConstraint& constraint : inference.constraints)
      text += fmt::format("{}: {}; ", context.symbols().str(constraint.condition), constraint.why);
  }
  return text;
}

TEST(HigherOrderRules, VmapRunsOverAsManyElementsAsItsTensorsHave) {
  EXPECT_EQ(inferred_anew(
                "  %l = torch._functorch.predispatch._vmap_increment_nesting(4, \"error\") : None\n"
                "  %a = torch._functorch.predispatch._add_batch_dim(%y, 0, 1) : f32[3]\n"
                "  %b = torch._functorch.predispatch._add_batch_dim(%x, 0, 1) : "
                "f32[3]\n"),
            "None; f32[3]; f32[3]; Eq(s0, 4): vmap runs over 4 elements, and dimension 0 of a "
            "tensor has s0; ");
}

TEST(HigherOrderRules, AMappedDimensionKeepsItsPlaceInMemory) {
  EXPECT_EQ(inferred_anew("  %a = torch._functorch.predispatch._add_batch_dim(%x, 0, 1) : f32[3]\n"
                          "  %b = torch._functorch.predispatch._remove_batch_dim(%a, 1, 7, 0) : "
                          "f32[5, 3] strides [1, 5]\n"),
            "f32[3]; f32[7, 3] strides [1, 7]; ");
}

TEST(HigherOrderRules, WhatWritesABaseMayYieldMore) {
  const std::string inputs = "%x: input f32[s0, 3, 4], %m: input f32[3], %v: input f32[6]";
  const std::string call =
      "higher_order.auto_functionalized_v2(aten._native_batch_norm_legit.default, input=%x, "
      "weight=None, bias=None, training=True, momentum=0.1, eps=1e-05, "
      "_running_mean_base_index=0, _running_var_base_index=1, ";
  EXPECT_EQ(inferred(inputs, call + "_all_bases=[%m, %m])", "%a, %b, %c, %d, %e"),
            "f32[s0, 3, 4], f32[3], f32[3], f32[3], f32[3]");
  EXPECT_EQ(inferred(inputs,
                     call + "_running_var_slice_dim=0, _running_var_slice_start=0, "
                            "_running_var_slice_end=3, _all_bases=[%m, %v])",
                     "%a, %b, %c, %d, %e"),
            "<aten._native_batch_norm_legit.default writes a view or a list, running_var>");
}

}  // namespace
}  // namespace winze
