// SPDX-License-Identifier: Apache-2.0
#include "winze/shape/shape_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/ir/text_types.h"
#include "winze/program/program_text.h"
#include "winze/schema/op_ids.h"
#include "winze/shape/families.h"
#include "winze/shape/meta_check.h"
#include "winze/shape/shape_test.h"

namespace winze {
namespace {

using testing::HasSubstr;

TEST(ShapeRules, BroadcastsAndPromotes) {
  EXPECT_EQ(inferred("%x: input f32[2, 1], %y: input i64[3]", "aten.add.Tensor(%x, %y)"),
            "f32[2, 3]");
}

TEST(ShapeRules, FillsInDefaults) {
  EXPECT_EQ(inferred("%x: input f32[2, 3]", "aten.flatten.using_ints(%x)"), "f32[6]");
}

TEST(ShapeRules, ConstraintSaysWhatHasToHold) {
  const Inferred result = infer("%x: input f32[s0], %y: input f32[s1]", "aten.add.Tensor(%x, %y)");
  ASSERT_EQ(result.constraints.size(), 1U);
  EXPECT_THAT(result.constraints[0], HasSubstr("Eq(s0, s1)"));
}

TEST(ShapeRules, ProvedFactsAreNoConstraints) {
  const Inferred result =
      infer("%x: input f32[s0, 4], %y: input f32[s0, 1]", "aten.add.Tensor(%x, %y)");
  EXPECT_EQ(result.text, "f32[s0, 4]");
  EXPECT_THAT(result.constraints, testing::IsEmpty());
}

TEST(ShapeRules, RefusesWhatPyTorchRefuses) {
  EXPECT_THAT(refusal("%x: input f32[2], %y: input f32[3]", "aten.add.Tensor(%x, %y)"),
              HasSubstr("The size of tensor a (2) must match the size of tensor b (3)"));
}

TEST(ShapeRules, InPlaceYieldsTheTensorItWrites) {
  EXPECT_EQ(
      inferred("%x: input f32[2, 3] strides [1, 2], %y: input f32[3]", "aten.add_.Tensor(%x, %y)"),
      "f32[2, 3] strides [1, 2]");
}

TEST(ShapeRules, InPlaceRefusesToGrow) {
  EXPECT_THAT(refusal("%x: input f32[3], %y: input f32[2, 3]", "aten.add_.Tensor(%x, %y)"),
              HasSubstr("doesn't match the broadcast shape [2, 3]"));
}

TEST(ShapeRules, InPlaceRefusesToLoseCategory) {
  EXPECT_THAT(refusal("%x: input i64[3]", "aten.sin_.default(%x)"),
              HasSubstr("result type float32 can't be cast to the desired output type int64"));
}

TEST(ShapeRules, InPlaceRefusesToMakeComplexReal) {
  EXPECT_EQ(refusal("%x: input c64[3]", "aten.abs_.default(%x)"),
            "In-place abs_ is not supported for complex tensors.");
}

TEST(ShapeRules, InPlaceViewChangesTheTensor) {
  EXPECT_EQ(inferred("%x: input f32[2, 3]", "aten.t_.default(%x)"), "f32[3, 2] strides [1, 3]");
}

TEST(ShapeRules, InPlaceFindsItsFunctionalFormByArguments) {
  EXPECT_EQ(inferred("%x: input f32[2, 3]", "aten.transpose_.default(%x, 0, 1)"),
            "f32[3, 2] strides [1, 3]");
  EXPECT_EQ(inferred("%x: input f32[2, 3], %y: input f32[3]", "aten.pow_.Tensor(%x, %y)"),
            "f32[2, 3]");
}

TEST(ShapeRules, CopyOfAViewIsContiguous) {
  EXPECT_EQ(inferred("%x: input f32[2, 3] offset [5]", "aten.permute_copy.default(%x, [1, 0])"),
            "f32[3, 2]");
}

TEST(ShapeRules, OutVariantYieldsItsOut) {
  EXPECT_EQ(inferred("%x: input f32[2], %y: input f32[2], %o: input f64[2]",
                     "aten.add.out(%x, %y, out=%o)"),
            "f64[2]");
}

TEST(ShapeRules, OperatorsWithoutRuleAreToldApart) {
  Context context;
  ShapeRules rules(context);
  EXPECT_TRUE(rules.has_rule(op::aten_add_Tensor));
  EXPECT_TRUE(rules.has_rule(op::aten_add__Tensor));
  EXPECT_FALSE(rules.has_rule(context.ops().add("mine::op(Tensor x) -> Tensor")));
}

TEST(ShapeRules, RuleAddedAtRunTime) {
  Context context;
  const OpId op = context.ops().add("mine::double(Tensor x) -> Tensor");
  ShapeRules rules(context);
  rules.add(op, [](ShapeCall& call) {
    FakeTensor result(call.tensor(0));
    result.sizes[0] = call.env().mul(result.sizes[0], 2);
    call.yield(result);
  });
  const ExportedProgram program = parse_program(
      context, "graph f(%x: input f32[s0]) { %y = mine.double.default(%x) : f32[2*s0] return %y }");
  EXPECT_THAT(verify_metas(program), testing::IsEmpty());
}

TEST(ShapeRules, InfersACallBeforeItIsMade) {
  Context context;
  ExportedProgram program = parse_program(context, "graph f(%x: input f32[2, 3]) { return %x }");
  ShapeRules rules(context);
  Inference inference;
  const Value x = program.graph->placeholders()[0].value();
  const std::vector<Argument> dims = {Argument(1), Argument(0)};
  rules.infer(*program.graph, op::aten_permute_default,
              std::vector<Argument>{x, std::span<const Argument>(dims)}, inference);
  ASSERT_EQ(inference.state, InferenceState::inferred);
  EXPECT_EQ(context.meta(inference.metas[0]).tensor.sizes[0], SymInt(3));
}

TEST(ShapeRules, FamiliesNameEachOperatorOnce) {
  Context context;
  EXPECT_NO_THROW(ShapeRules{context});
  for (const ShapeFamily& family : shape_families()) EXPECT_FALSE(family.rows.empty());
}

TEST(ShapeEnv, ProvesFromWhatIsAssumed) {
  Context context;
  SymbolicContext& symbols = context.symbols();
  const auto a = symbols.symbol("s0");
  const auto b = symbols.symbol("s1");
  ShapeEnv env(symbols);
  EXPECT_EQ(env.less_equal(a, b), Proof::unknown);
  env.assume(symbols.land(symbols.le(a, b), symbols.lt(b, symbols.add(a, 3))));
  EXPECT_EQ(env.less_equal(a, b), Proof::yes);
  EXPECT_EQ(env.less(b, a), Proof::no);
  EXPECT_EQ(env.less(b, symbols.add(a, 3)), Proof::yes);
  EXPECT_EQ(env.less_equal(b, a), Proof::unknown);
  EXPECT_EQ(env.equal(a, b), Proof::unknown);
  EXPECT_EQ(env.min(a, b), SymInt(a));
  env.assume(symbols.eq(a, b));
  EXPECT_EQ(env.equal(a, b), Proof::yes);
}

TEST(MetaCheck, ReportsBothSides) {
  Context context;
  const ExportedProgram program = parse_program(
      context, "graph f(%x: input f32[2]) { %y = aten.relu.default(%x) : f32[3] return %y }");
  const auto findings = verify_metas(program);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].message,
              HasSubstr("recorded as f32[3], but aten.relu.default yields f32[2]"));
}

TEST(MetaCheck, OffsetsAreComparedWhereTheProgramHasAny) {
  const std::string_view without =
      "symbol u0 in [1, 8]\n"
      "graph f(%x: input f32[4, 2]) {"
      "  %y = aten.slice.Tensor(%x, 0, 1) : f32[3, 2]"
      "  %n = aten.sym_storage_offset.default(%y) : int = u0"
      "  return %y, %n }";
  Context context;
  EXPECT_THAT(verify_metas(parse_program(context, without)), testing::IsEmpty());
  const std::string with = std::string(without).insert(
      without.find("  return"), "  %z = aten.slice.Tensor(%x, 0, 2) : f32[2, 2] offset [4]");
  EXPECT_THAT(verify_metas(parse_program(context, with)), testing::SizeIs(2));
}

TEST(MetaCheck, EqualByProofIsEqual) {
  Context context;
  const ExportedProgram program = parse_program(
      context,
      "symbol s0 in [2, 9]\n"
      "graph f(%x: input f32[s0, 4]) {\n"
      "  %y = aten.relu.default(%x) : f32[s0, 4] strides [Min(4, 4*s0), 1]\n  return %y\n}");
  EXPECT_THAT(verify_metas(program), testing::IsEmpty());
}

TEST(MetaCheck, ANumberThatNobodyUsesMayBeUnrecorded) {
  Context context;
  EXPECT_THAT(verify_metas(parse_program(context,
                                         "graph f(%x: input f32[2]) {\n"
                                         "  %a = aten.can_cast.default(f32, i32) : None\n"
                                         "  return output %x\n}")),
              testing::IsEmpty());
}

TEST(MetaCheck, GuardsOnInputsCount) {
  Context context;
  ExportedProgram program =
      parse_program(context,
                    "symbol s0 in [2, int_oo]\nsymbol s1 in [2, int_oo]\n"
                    "graph f(%x: input f32[s0], %y: input f32[s1]) {\n"
                    "  %n = aten.sym_size.int(%y, 0) : int = s1\n"
                    "  %a = aten.slice.Tensor(%x, end=%n) : f32[s1]\n"
                    "  %b = aten.slice.Tensor(%x, start=%n) : f32[s0 - s1] offset [s1]\n"
                    "  return output %a, output %b\n}");
  EXPECT_EQ(verify_metas(program).size(), 2U);
  program.guards_code = {"L['y'].size()[0] <= L['x'].size()[0]"};
  EXPECT_THAT(verify_metas(program), testing::IsEmpty());
}

TEST(MetaCheck, WhatTheProgramAssertsCounts) {
  Context context;
  const auto findings = [&](std::string_view assertion) {
    return verify_metas(
        parse_program(context, fmt::format("symbol s0 in [2, int_oo]\nsymbol u0 in [0, int_oo]\n"
                                           "graph f(%x: input f32[s0], %i: input i64[]) {{\n"
                                           "  %n = aten.item.default(%i) : int = u0\n"
                                           "  %s = aten.sym_size.int(%x, 0) : int = s0\n"
                                           "  %c = _operator.le(%n, %s) : bool = (u0 <= s0)\n{}"
                                           "  %a = aten.slice.Tensor(%x, end=%n) : f32[u0]\n"
                                           "  return output %a\n}}",
                                           assertion)));
  };
  EXPECT_EQ(findings("  %d = _operator.ge(%n, 0) : bool = (u0 >= 0)\n"
                     "  aten._assert_scalar.default(%d, \"negative\")\n")
                .size(),
            1U);
  EXPECT_THAT(findings("  aten._assert_scalar.default(%c, \"too many\")\n"), testing::IsEmpty());
  // What the record relies on may have been asserted, and the assertions removed.
  EXPECT_THAT(findings(""), testing::IsEmpty());
}

TEST(MetaCheck, WhatIsWrongForAllDataIsAFindingWithoutAssertions) {
  Context context;
  const ExportedProgram program =
      parse_program(context,
                    "symbol u0 in [0, int_oo]\n"
                    "graph f(%x: input f32[1], %i: input i64[]) {\n"
                    "  %n = aten.item.default(%i) : int = u0\n"
                    "  %a = aten.repeat.default(%x, [%n]) : f32[u0 + 1]\n"
                    "  return output %a\n}");
  EXPECT_EQ(verify_metas(program).size(), 1U);
}

TEST(MetaCheck, WhatIsNotProvedHasToHoldForTheExample) {
  Context context;
  ExportedProgram program =
      parse_program(context,
                    "symbol s0 in [4, int_oo]\n"
                    "graph f(%x: input f32[s0, 3]) {\n"
                    "  %y = aten.view.default(%x, [2, -1]) : f32[2, 3*s0//2]\n"
                    "  %z = aten.slice.Tensor(%x, end=6) : f32[6, 3]\n"
                    "  return output %y, output %z\n}");
  SymbolicContext& symbols = context.symbols();
  const SymExpr s0 = *symbols.find_symbol("s0");
  EXPECT_EQ(verify_metas(program).size(), 1U);
  program.expressions.add(s0, {.hint = std::int64_t{8}});
  EXPECT_THAT(verify_metas(program), testing::IsEmpty());
  EXPECT_EQ(symbols.range(s0).lo, 4);
  EXPECT_EQ(symbols.range(s0).hi, Range::infinity);

  ExportedProgram other = program.clone();
  other.expressions = {};
  other.expressions.add(s0, {.hint = std::int64_t{5}});
  EXPECT_FALSE(verify_metas(other).empty());
}

TEST(MetaCheck, StridesOfDimensionsOfSizeOneDoNotCount) {
  const auto findings = [](std::string_view recorded) {
    Context context;
    return verify_metas(parse_program(context, fmt::format(R"(
graph f(%x: input f32[2, 3, 1, 4] strides [12, 4, 50, 1]) {{
  %y = aten.log_softmax.int(%x, -1) : {}
  return output %y
}})",
                                                           recorded)))
        .size();
  };
  EXPECT_EQ(findings("f32[2, 3, 1, 4]"), 0U);
  EXPECT_EQ(findings("f32[2, 3, 1, 4] strides [12, 4, 24, 1]"), 0U);
  EXPECT_EQ(findings("f32[2, 3, 1, 4] strides [1, 4, 24, 3]"), 1U);
}

TEST(MetaCheck, ReportsCallsThatWouldFail) {
  Context context;
  const ExportedProgram program = parse_program(
      context, "graph f(%x: input f32[2]) { %y = aten.view.default(%x, [3]) : f32[3] return %y }");
  const auto findings = verify_metas(program);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].message, HasSubstr("aten.view.default refuses its arguments: shape"));
}

TEST(ShapeRules, FactoriesTakeTheDtypeOfWhatTheyWriteTo) {
  EXPECT_EQ(inferred("%o: input i64[2, 3]", "aten.full.out([2, 3], 1.0, out=%o)"), "i64[2, 3]");
  EXPECT_EQ(inferred("%o: input i64[2, 3]", "aten.full.out([3, 3], 1.0, out=%o)"),
            "<aten.full.out resizes its argument \"out\">");
}

TEST(ShapeRules, CopiesOfViewsWriteToWhatIsGiven) {
  EXPECT_EQ(inferred("%x: input f32[3, 2], %o: input f32[2, 3]", "aten.t_copy.out(%x, out=%o)"),
            "f32[2, 3]");
}

}  // namespace
}  // namespace winze
