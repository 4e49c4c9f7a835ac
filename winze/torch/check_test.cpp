// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/pass/pass_registry.h"
#include "winze/program/program_text.h"
#include "winze/torch/wrong_passes_test.h"

namespace winze {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// A pass that is right, so that what is counted does not begin at 0.
void add_dead_node(Graph& graph, PassContext& /*context*/) {
  const Node input = graph.last_placeholder();
  const auto here = graph.inserting_after(input);
  graph.call_function(op::aten_neg_default, {input.value()}, input.value().meta_id()).erase();
}
constexpr PassInfo harmless{
    .name = "harmless", .summary = "Changes nothing.", .run = add_dead_node};

/// Gives each input that is returned a copy.
void copy_returned_inputs(Graph& graph, PassContext& /*context*/) {
  const Node output = graph.output_node();
  for (const Value value : output.input_values()) {
    if (value.node().kind() != NodeKind::placeholder) continue;
    const auto here = graph.inserting_before(output);
    output.replace_input_with(
        value, graph.call_function(op::aten_clone_default, {value}, value.meta_id()).value());
  }
}
constexpr PassInfo copying{.name = "copy-inputs",
                           .summary = "Copies returned inputs.",
                           .run = copy_returned_inputs,
                           .changes_output_aliasing = true};
constexpr PassInfo silently_copying{
    .name = "copy-inputs-silently", .summary = "The same.", .run = copy_returned_inputs};

/// Returns the first input in the place of a copy of it.
void drop_clones(Graph& graph, PassContext& /*context*/) {
  for (const Node clone : graph.find_nodes(op::aten_clone_default))
    testing::replace_and_erase(clone, clone.argument_value(0));
}
/// Forgets to initialize memory.
void drop_fills(Graph& graph, PassContext& /*context*/) {
  for (const Node fill : graph.find_nodes(op::aten_fill__Scalar))
    testing::replace_and_erase(fill, fill.argument_value(0));
}
constexpr PassInfo uninitializing{.name = "drop-fills", .summary = "Wrong.", .run = drop_fills};

constexpr PassInfo sharing{.name = "drop-clones",
                           .summary = "Drops copies.",
                           .run = drop_clones,
                           .changes_output_aliasing = true};

struct Checked {
  Checked(std::string_view text, std::string_view pipeline, CheckOptions options = {})
      : program(parse_program(context, text)), before(print_program(program)) {
    PassRegistry registry;
    for (const PassInfo& info : {harmless, copying, silently_copying, sharing, uninitializing})
      registry.add(info);
    for (const PassInfo& info : testing::wrong_passes) registry.add(info);
    outcome = run_checked(Pipeline::parse(pipeline, registry), {}, program, options);
  }
  [[nodiscard]] std::string error() const {
    return outcome.report.error ? outcome.report.error->str() : "";
  }
  Context context;
  ExportedProgram program;
  std::string before;
  CheckOutcome outcome;
};

struct WrongPass {
  const char* pass;
  const char* program;
  const char* departure;  ///< of the message
  const char* edit;       ///< a line of the difference that the named edit makes
};

class CheckOfWrongPass : public ::testing::TestWithParam<WrongPass> {};

TEST_P(CheckOfWrongPass, NamesThePassAndTheEdit) {
  const WrongPass& wrong = GetParam();
  const Checked checked(wrong.program, std::string("harmless, ") + wrong.pass);
  EXPECT_THAT(checked.error(),
              AllOf(HasSubstr(std::string("pass ") + wrong.pass), HasSubstr(wrong.departure),
                    HasSubstr(std::string("of pass ") + wrong.pass), HasSubstr(wrong.edit)));
  EXPECT_EQ(checked.outcome.checked_passes, 1U);
  EXPECT_EQ(print_program(checked.program), checked.before);
}

TEST_P(CheckOfWrongPass, NamesThemAtTheEndToo) {
  const WrongPass& wrong = GetParam();
  const Checked checked(wrong.program, std::string("harmless, ") + wrong.pass,
                        {.mode = CheckMode::end});
  EXPECT_THAT(checked.error(),
              AllOf(HasSubstr("the lowered program computes something else"),
                    HasSubstr(std::string("of pass ") + wrong.pass), HasSubstr(wrong.edit)));
  EXPECT_EQ(print_program(checked.program), checked.before);
}

INSTANTIATE_TEST_SUITE_P(
    All, CheckOfWrongPass,
    ::testing::Values(WrongPass{"drop-mutation", R"(
graph forward(%x: input f32[4], %y: input f32[4]) {
  %s = aten.add_.Tensor(%x, %y) : f32[4]
  %r = aten.sin(%y) : f32[4]
  return output %r
})",
                                "input 0 (x)", "- %s = aten.add_.Tensor(%x, %y) : f32[4]"},
                      WrongPass{
                          "merge-random-calls", R"(
graph forward(%x: input f32[4]) {
  %a = aten.rand_like(%x) : f32[4]
  %b = aten.rand_like(%x) : f32[4]
  %d = aten.sub.Tensor(%a, %b) : f32[4]
  return output %d
})",
                          "1 of 2 calls that draw random numbers are left: one of aten.rand_like",
                          "- %d = aten.sub.Tensor(%a, %b) : f32[4]"},
                      WrongPass{"swap-operands", R"(
graph forward(%x: input f32[4], %y: input f32[4]) {
  %d = aten.sub.Tensor(%x, %y) : f32[4]
  return output %d
})",
                                "output 0 (d)", "+ %d = aten.sub.Tensor(%y, %y) : f32[4]"},
                      WrongPass{"round-constants", R"(
graph forward(%x: input f32[4]) {
  %d = aten.mul.Tensor(%x, 1.2345) : f32[4]
  return output %d
})",
                                "output 0 (d)", "- %d = aten.mul.Tensor(%x, 1.2345) : f32[4]"},
                      WrongPass{"cast-down", R"(
graph forward(%x: input f32[4, 8], %y: input f32[8, 4]) {
  %d = aten.mm(%x, %y) : f32[4, 4]
  return output %d
})",
                                "output 0", "- return output %d"},
                      WrongPass{"forget-fill", R"(
graph forward(%x: input f32[4], %m: input b8[4]) {
  %f = aten.masked_fill.Scalar(%x, %m, -inf) : f32[4]
  %s = aten.softmax.int(%f, 0) : f32[4]
  return output %s
})",
                                "output 0 (s)", "+ %s = aten.softmax.int(%x, 0) : f32[4]"},
                      WrongPass{"reuse-buffers", R"(
graph forward(%x: input f32[16]) {
  %a = aten.sin(%x) : f32[16]
  %r = aten.relu(%a) : f32[16]
  %b = aten.add.Tensor(%a, %r) : f32[16]
  return output %b
})",
                                "output 0 (b)", "aten.relu_.default(%a) : f32[16]"},
                      WrongPass{"fix-sizes", R"(
symbol s0 in [2, 64]
graph forward(%x: input f32[s0, 4]) {
  %n = aten.sym_size.int(%x, 0) : int = s0
  %s = aten.sum.dim_IntList(%x, [0]) : f32[4]
  %m = aten.div.Scalar(%s, %n) : f32[4]
  return output %m
})",
                                "output 0 (m)", "- %m = aten.div.Scalar(%s, %n) : f32[4]"}),
    [](const auto& wrong) {
      std::string name = wrong.param.pass;
      std::erase(name, '-');
      return name;
    });

TEST(Check, AFixedSizeIsFoundInTheMetasToo) {
  const Checked checked(R"(
symbol s0 in [2, 64]
graph forward(%x: input f32[s0, 4]) {
  %n = aten.sym_size.int(%x, 0) : int = s0
  %m = _operator.mul(%n, 4) : int = 4*s0
  %f = aten.view(%x, [%m]) : f32[4*s0]
  return output %f
})",
                        "fix-sizes");
  EXPECT_THAT(checked.error(), AllOf(HasSubstr("pass fix-sizes"),
                                     HasSubstr("int = 4*s0, but _operator.mul yields int = 16"),
                                     HasSubstr("%m = _operator.mul(4, 4)")));
  EXPECT_EQ(print_program(checked.program), checked.before);
}

constexpr const char* plain_program = R"(
graph forward(%x: input f32[4]) {
  %d = aten.sin(%x) : f32[4]
  return output %d
})";

TEST(Check, SaysHowMuchItChecked) {
  const Checked checked(plain_program, "harmless, swap-operands, harmless");
  EXPECT_EQ(checked.error(), "");
  EXPECT_EQ(checked.outcome.checked_passes, 2U);
  EXPECT_EQ(checked.outcome.runs, 3U);
  EXPECT_THAT(checked.outcome.summary(), HasSubstr("2 passes, in 3 runs"));
}

TEST(Check, RunsAProgramTwiceAtTheEnd) {
  const Checked checked(plain_program, "harmless, harmless", {.mode = CheckMode::end});
  EXPECT_EQ(checked.error(), "");
  EXPECT_EQ(checked.outcome.runs, 2U);
}

TEST(Check, RunsNothingAgainWhereNothingWasEdited) {
  const Checked checked(plain_program, "swap-operands");
  EXPECT_EQ(checked.outcome.runs, 1U);
}

TEST(Check, ChecksTheWholeAloneOnceTheBudgetIsUsedUp) {
  const Checked checked(plain_program, "harmless, harmless", {.budget_seconds = 0});
  EXPECT_EQ(checked.outcome.checked_passes, 0U);
  EXPECT_EQ(checked.outcome.runs, 2U);
  EXPECT_THAT(checked.outcome.notes, ::testing::Contains(HasSubstr("not checked by themselves: "
                                                                   "harmless, harmless")));
}

constexpr const char* long_program = R"(
graph forward(%x: input f32[4], %y: input f32[4]) {
  %a = aten.sin(%x) : f32[4]
  %b = aten.cos(%a) : f32[4]
  %v = aten.view(%b, [2, 2]) : f32[2, 2]
  %d = aten.mul.Tensor(%b, 1.25) : f32[4]
  %e = aten.neg(%d) : f32[4]
  return output %e, output %v
})";

TEST(Check, MakesCallsThatComputeTheSameOnce) {
  const Checked checked(long_program, "harmless, harmless");
  EXPECT_EQ(checked.error(), "");
  EXPECT_EQ(checked.outcome.calls, 15U);        // of three runs
  EXPECT_EQ(checked.outcome.reused_calls, 8U);  // all but the view
  EXPECT_THAT(checked.outcome.summary(), HasSubstr("8 of 15 calls reused"));
}

TEST(Check, KeepsNoResultsWithoutABudgetForThem) {
  const Checked checked(long_program, "harmless, harmless", {.reuse_bytes = 0});
  EXPECT_EQ(checked.outcome.reused_calls, 0U);
  EXPECT_EQ(checked.outcome.checked_passes, 2U);
}

TEST(Check, SaysThatResultsDidNotFit) {
  const Checked checked(long_program, "harmless", {.reuse_bytes = 20});  // one tensor
  EXPECT_EQ(checked.outcome.reused_calls, 1U);                           // the first one
  EXPECT_THAT(checked.outcome.notes,
              ::testing::Contains(HasSubstr("results were reused as far as 0 MB")));
}

TEST(Check, ReusesNothingThatAnEditReaches) {
  const Checked checked(long_program, "round-constants");
  EXPECT_THAT(checked.error(), HasSubstr("pass round-constants"));
}

TEST(Check, ReadsMemoryThatIsWrittenInPlaceAnew) {
  const Checked checked(R"(
graph forward(%x: input f32[16]) {
  %a = aten.sin(%x) : f32[16]
  %r = aten.relu(%a) : f32[16]
  %b = aten.add.Tensor(%a, %r) : f32[16]
  return output %b
})",
                        "harmless, reuse-buffers");
  EXPECT_THAT(checked.error(), HasSubstr("pass reuse-buffers"));
}

constexpr const char* returns_input = R"(
graph forward(%x: input f32[4], %y: input f32[4]) {
  %d = aten.sin(%y) : f32[4]
  return output %x, output %d, output %x
})";

TEST(Check, AllowsAPassToStopSharingWhereItDeclaresIt) {
  for (const CheckMode mode : {CheckMode::each, CheckMode::end}) {
    const Checked checked(returns_input, "harmless, copy-inputs, harmless", {.mode = mode});
    EXPECT_EQ(checked.error(), "");
    EXPECT_THAT(checked.outcome.notes,
                ::testing::Contains(HasSubstr("as copy-inputs is meant to make them")));
  }
}

TEST(Check, DoesNotAllowItAnotherPass) {
  EXPECT_THAT(Checked(returns_input, "copy-inputs-silently").error(),
              HasSubstr("has storage of its own, expected to share that of input 0"));
  EXPECT_THAT(Checked(returns_input, "copy-inputs-silently", {.mode = CheckMode::end}).error(),
              HasSubstr("has storage of its own"));
}

TEST(Check, NeverAllowsOutputsToBeginToShare) {
  const Checked checked(R"(
graph forward(%x: input f32[4]) {
  %d = aten.clone(%x) : f32[4]
  return output %d
})",
                        "drop-clones");
  EXPECT_THAT(checked.error(), HasSubstr("shares storage with input 0"));
}

TEST(Check, ComparesNoContentThatNothingInitialized) {
  const Checked checked(R"(
graph forward(%x: input f32[4]) {
  %e = aten.empty_like(%x) : f32[4]
  %d = aten.add.Tensor(%e, %x) : f32[4]
  %z = aten.empty_like(%x) : f32[4]
  %f = aten.fill_.Scalar(%z, 2.0) : f32[4]
  %y = aten.mul.Tensor(%f, 1.2345) : f32[4]
  return output %d, output %y
})",
                        "harmless");
  EXPECT_EQ(checked.error(), "");
  EXPECT_THAT(checked.outcome.notes,
              ::testing::Contains(HasSubstr("output 0 (d) depends on memory that nothing")));
  EXPECT_THAT(checked.outcome.notes, ::testing::Not(::testing::Contains(HasSubstr("output 1"))));
}

TEST(Check, FindsMemoryThatIsNoLongerInitialized) {
  const Checked checked(R"(
graph forward(%x: input f32[4]) {
  %e = aten.empty_like(%x) : f32[4]
  %f = aten.fill_.Scalar(%e, 1.0) : f32[4]
  %y = aten.mul.Tensor(%f, %x) : f32[4]
  return output %y
})",
                        "drop-fills");
  EXPECT_THAT(checked.error(), HasSubstr("output 0 (y)"));
}

}  // namespace
}  // namespace winze
