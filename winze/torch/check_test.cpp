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

struct Checked {
  Checked(std::string_view text, std::string_view pipeline, CheckOptions options = {})
      : program(parse_program(context, text)), before(print_program(program)) {
    PassRegistry registry;
    registry.add(harmless);
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
    ::testing::Values(
        WrongPass{"drop-mutation", R"(
graph forward(%x: input f32[4], %y: input f32[4]) {
  %s = aten.add_.Tensor(%x, %y) : f32[4]
  %r = aten.sin(%y) : f32[4]
  return output %r
})",
                  "input 0 (x)", "- %s = aten.add_.Tensor(%x, %y) : f32[4]"},
        WrongPass{"merge-random-calls", R"(
graph forward(%x: input f32[4]) {
  %a = aten.rand_like(%x) : f32[4]
  %b = aten.rand_like(%x) : f32[4]
  %d = aten.sub.Tensor(%a, %b) : f32[4]
  return output %d
})",
                  "1 of its 2 calls that draw random numbers are left: one of aten.rand_like",
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
  %m = _operator.mul(%n, 4) : int = 4*s0
  %f = aten.view(%x, [%m]) : f32[4*s0]
  return output %f
})",
                  "does not run any more", "- %m = _operator.mul(%n, 4) : int = 4*s0"}),
    [](const auto& wrong) {
      std::string name = wrong.param.pass;
      std::erase(name, '-');
      return name;
    });

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

}  // namespace
}  // namespace winze
