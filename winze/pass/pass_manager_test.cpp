// SPDX-License-Identifier: Apache-2.0
#include "winze/pass/pass_manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "winze/pass/pass_test_passes.h"
#include "winze/program/program.h"
#include "winze/program/program_text.h"
#include "winze/shape/meta_propagation.h"

namespace winze::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::string_view two_relus = R"(graph forward(%p: input b8[], %x: input f32[2]) {
  %a = aten.relu(%x) : f32[2]
  %b = aten.neg(%a) : f32[2]
  %c = aten.relu(%b) : f32[2]
  %r = higher_order.cond(%p, graph yes(%d: f32[2]) {
    %e = aten.relu(%d) : f32[2]
    %f = aten.neg(%e) : f32[2]
    return %f
  }, graph no(%g: f32[2]) {
    %h = aten.neg(%g) : f32[2]
    return %h
  }, [%c]) -> tuple : f32[2]
  return output %r
})";

constexpr PassInfo erase_all_relus_info{
    .name = "erase-all-relus", .run = erase_relus, .edits_stand_together = true};

/// Inserts a call, changes the program beside the graph, then throws from within a rule.
void edit_and_throw(Graph& graph, PassContext& context) {
  erase_relus(graph, context);
  context.edit_program().metadata.emplace_back("key", "value");
  const auto rule = context.rule(graph, "some.rule");
  fail("it does not like this program");
}
constexpr PassInfo edit_and_throw_info{.name = "edit-and-throw", .run = edit_and_throw};

void leave_relus(Graph& graph, PassContext& context) {
  Node first = graph.find_nodes(op::aten_relu_default).front();
  first.value().replace_all_uses_with(first.argument_value(0));
  static_cast<void>(context);
}
constexpr PassInfo leave_relus_info{
    .name = "leave-relus", .run = leave_relus, .leaves_none_of = {op::aten_relu_default}};

void decline_it(Graph&, PassContext& context) {
  context.decline("{} is no good", "this");
}
/// Puts a value of other sizes in the place of one.
void widen(Graph& graph, PassContext&) {
  const Node first = graph.find_nodes(op::aten_relu_default).front();
  const auto here = graph.inserting_after(first);
  const std::vector<SymInt> sizes = {3, 2};
  const Node wide = graph.call_function(
      op::aten_expand_default, {first.argument_value(0), graph.context().integers({{3, 2}})},
      graph.context().tensor_meta({.sizes = sizes, .strides = std::vector<SymInt>{0, 1}}));
  first.replace_all_uses_with(wide);
}
constexpr PassInfo widen_info{.name = "widen", .run = widen};
void widen_and_propagate(Graph& graph, PassContext& context) {
  widen(graph, context);
  static_cast<void>(propagate_metas(graph));
}
constexpr PassInfo widen_and_propagate_info{.name = "widen-and-propagate",
                                            .run = widen_and_propagate};

constexpr PassInfo decline_info{
    .name = "decline-it", .run = decline_it, .leaves_none_of = {op::aten_relu_default}};

/// relu yields a tensor, never a number.
void make_relu_a_number(Graph& graph) {
  Node relu = graph.find_nodes(op::aten_relu_default).front();
  relu.value().set_meta(graph.context().plain_meta(ValueKind::sym_int));
}
void spoil_meta(Graph& graph, PassContext&) {
  make_relu_a_number(graph);
}
constexpr PassInfo spoil_meta_info{.name = "spoil-meta", .run = spoil_meta};

void use_rules(Graph& graph, PassContext& context) {
  const auto rule = context.rule(graph, "relu.erase");
  erase_relus(graph, context);
}
constexpr PassInfo use_rules_info{.name = "use-rules", .run = use_rules};

/// Erases relus, and breaks its promise.
constexpr PassInfo erase_and_fail_info{.name = "erase-and-fail",
                                       .run = erase_relus,
                                       .scope = PassScope::every_graph,
                                       .leaves_none_of = {op::aten_neg_default}};

/// The signature of module `a`, whose only node is a relu, was preserved.
constexpr std::string_view preserved_module = R"(graph forward(%x: input f32[2]) {
  %a = aten.relu(%x) : f32[2] loc 1
  %b = aten.neg(%a) : f32[2] loc 0
  return output %b
}
module "" {
  inputs %x
  outputs %b
}
module "a" {
  inputs %x
  outputs %a
}
loc 0 {
  nn_module_stack: "r,,m.Net"
}
loc 1 {
  nn_module_stack: "r,,m.Net;a,a,m.A"
}
)";

class PassManagerTest : public ::testing::Test {
 protected:
  PassManagerTest() : program_(parse_program(context_, two_relus)) {
    for (const PassInfo* info :
         {&edit_and_throw_info, &leave_relus_info, &decline_info, &spoil_meta_info, &use_rules_info,
          &erase_and_fail_info, &widen_info, &widen_and_propagate_info, &erase_all_relus_info}) {
      registry_.add(*info);
    }
    options_.print = [this](std::string_view text) { printed_ += text; };
  }

  Report run(std::string_view pipeline) {
    return PassManager(Pipeline::parse(pipeline, registry_), options_).run(program_);
  }
  [[nodiscard]] std::string text() const { return print_program(program_); }

  PassRegistry registry_ = test_registry();
  PassManagerOptions options_;
  std::string printed_;
  Context context_;
  ExportedProgram program_;
};

TEST_F(PassManagerTest, RunsPassesOnEveryGraph) {
  const Report report = run("erase-relus");
  ASSERT_TRUE(report.ok());
  EXPECT_THAT(text(), Not(HasSubstr("relu")));
  EXPECT_EQ(report.passes[0].status, PassStatus::ran);
  EXPECT_EQ(report.passes[0].edits, 6U);
  EXPECT_EQ(report.passes[0].nodes_before - report.passes[0].nodes_after, 3U);
  EXPECT_EQ(report.passes[0].statistics.at("relus"), 3);
  ASSERT_EQ(report.passes[0].op_changes.size(), 1U);
  EXPECT_EQ(report.passes[0].op_changes[0].op, "aten.relu.default");
  EXPECT_EQ(report.passes[0].op_changes[0].before, 3U);
  EXPECT_EQ(report.passes[0].op_changes[0].after, 0U);
}

TEST_F(PassManagerTest, SkipsAPassWithoutTriggers) {
  const Report report = run("erase-relus, erase-relus");
  EXPECT_EQ(report.passes[1].status, PassStatus::skipped);
  EXPECT_EQ(report.passes[1].reason, "no graph calls any of aten.relu.default");
}

TEST_F(PassManagerTest, KeepsNotesAndWarnings) {
  const Report report = run("note-only");
  EXPECT_THAT(report.passes[0].notes, ElementsAre(HasSubstr("nodes")));
  EXPECT_THAT(report.passes[0].warnings, ElementsAre("nothing was done"));
}

TEST_F(PassManagerTest, DropsTheSignatureOfAModuleThatAPassEmptied) {
  program_ = parse_program(context_, preserved_module);
  const Report report = run("note-only, erase-relus");
  ASSERT_TRUE(report.ok());
  EXPECT_THAT(report.passes[1].warnings,
              ElementsAre("the preserved signature of module \"a\" is dropped: what is left of its "
                          "nodes does not fit it"));
  EXPECT_TRUE(program_.module_call_graph[0].signature);
  EXPECT_FALSE(program_.module_call_graph[1].signature);
}

TEST_F(PassManagerTest, KeepsTheSignatureOfAModuleWhereThePassIsTakenBack) {
  program_ = parse_program(context_, preserved_module);
  const std::string before = text();
  ASSERT_FALSE(run("erase-and-fail").ok());
  EXPECT_EQ(text(), before);
}

TEST_F(PassManagerTest, CountsEditsByRule) {
  const Report report = run("use-rules");
  EXPECT_EQ(report.passes[0].edits_by_rule.at("relu.erase"), report.passes[0].edits);
}

TEST_F(PassManagerTest, AFailureIsTakenBackAndEndsTheRun) {
  const std::string before = text();
  const Report report = run("note-only, edit-and-throw, note-only");
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(text(), before);
  EXPECT_THAT(program_.metadata, IsEmpty());
  EXPECT_EQ(report.error->message,
            "pass edit-and-throw (at 1) failed: it does not like this program");
  EXPECT_THAT(report.error->notes,
              ElementsAre("in rule some.rule",
                          "its edits were taken back, and the passes after it were not run"));
  EXPECT_EQ(report.passes[0].status, PassStatus::ran);
  EXPECT_EQ(report.passes[1].status, PassStatus::failed);
  EXPECT_EQ(report.passes[2].status, PassStatus::not_reached);
  EXPECT_THROW(report.throw_if_failed(), Error);
}

TEST_F(PassManagerTest, EarlierPassesStayWhenALaterFails) {
  const Report report = run("erase-relus, edit-and-throw");
  EXPECT_FALSE(report.ok());
  EXPECT_THAT(text(), Not(HasSubstr("relu")));
}

TEST_F(PassManagerTest, ABrokenPromiseIsAFailure) {
  const std::string before = text();
  const Report report = run("leave-relus");
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(text(), before);
  EXPECT_THAT(report.error->message,
              HasSubstr("it promised to leave no aten.relu.default, and left this one"));
  EXPECT_THAT(report.error->node, HasSubstr("aten.relu.default"));
}

TEST_F(PassManagerTest, AnInvalidGraphIsAFailure) {
  const std::string before = text();
  const Report report = run("spoil-meta");
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(text(), before);
  EXPECT_THAT(report.error->message,
              HasSubstr("pass spoil-meta (at 0) failed: it left a program that is not valid: "));
}

constexpr std::string_view relu_and_sum = R"(graph forward(%x: input f32[2]) {
  %a = aten.relu(%x) : f32[2]
  %b = aten.sum.dim_IntList(%a, [0]) : f32[]
  %c = aten.neg(%b) : f32[]
  return output %c
})";

TEST_F(PassManagerTest, AMetaThatDoesNotFollowAnyMoreIsAFailure) {
  program_ = parse_program(context_, relu_and_sum);
  const Report report = run("widen");
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(report.error->str(), HasSubstr("results are recorded as f32[], but "
                                             "aten.sum.dim_IntList yields f32[2]"));
  EXPECT_EQ(print_program(program_), print_program(parse_program(context_, relu_and_sum)));
}

TEST_F(PassManagerTest, APassMayInferWhatFollowsFromItsEdits) {
  program_ = parse_program(context_, relu_and_sum);
  const Report report = run("widen-and-propagate");
  ASSERT_TRUE(report.ok()) << report.error->str();
  EXPECT_THAT(print_program(program_), HasSubstr("aten.neg.default(%b) : f32[2]"));
}

TEST_F(PassManagerTest, VerifyingCanBeTurnedOff) {
  options_.verify_each = VerifyEach::none;
  EXPECT_TRUE(run("spoil-meta").ok());
}

TEST_F(PassManagerTest, AnInvalidInputIsNotLowered) {
  make_relu_a_number(*program_.graph);
  const Report report = run("erase-relus");
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(report.error->message, HasSubstr("the program is not valid, before any pass: "));
  EXPECT_EQ(report.passes[0].status, PassStatus::not_reached);
}

TEST_F(PassManagerTest, APassMayDecline) {
  const Report report = run("decline-it");
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.passes[0].status, PassStatus::skipped);
  EXPECT_EQ(report.passes[0].reason, "this is no good");
}

TEST_F(PassManagerTest, StopsAfterSoManyEdits) {
  options_.stop_after_edits = 3;
  const Report report = run("erase-relus, note-only");
  ASSERT_TRUE(report.ok());
  EXPECT_TRUE(report.stopped_by_edit_limit);
  EXPECT_EQ(report.edits, 3U);
  EXPECT_EQ(report.passes[0].status, PassStatus::stopped);
  EXPECT_EQ(report.passes[0].reason, "after 3 edits");
  EXPECT_EQ(report.passes[1].status, PassStatus::not_reached);
}

TEST_F(PassManagerTest, MakesEditsThatStandTogetherOrNone) {
  const std::string before = text();
  options_.stop_after_edits = 3;
  const Report report = run("erase-all-relus, note-only");
  ASSERT_TRUE(report.ok());
  EXPECT_TRUE(report.stopped_by_edit_limit);
  EXPECT_EQ(report.edits, 0U);
  EXPECT_EQ(report.passes[0].reason, "after 3 edits, which are not all of its edits: none is made");
  EXPECT_EQ(text(), before);
  options_.stop_after_edits = 4;
  EXPECT_EQ(run("erase-all-relus").edits, 4U);
}

TEST_F(PassManagerTest, EveryNumberOfEditsLeavesAValidProgram) {
  const std::string start = text();
  for (std::uint64_t limit = 0; limit <= 7; ++limit) {
    Context context;
    ExportedProgram program = parse_program(context, start);
    options_.stop_after_edits = limit;
    const Report report =
        PassManager(Pipeline::parse("erase-relus", registry_), options_).run(program);
    ASSERT_TRUE(report.ok()) << limit;
    EXPECT_EQ(report.edits, std::min<std::uint64_t>(limit, 6)) << limit;
    EXPECT_EQ(report.stopped_by_edit_limit, limit < 6) << limit;
  }
}

TEST_F(PassManagerTest, PrintsBeforeAndAfter) {
  options_.print_before = {"erase-relus"};
  options_.print_after = {"all"};
  static_cast<void>(run("note-only, erase-relus"));
  EXPECT_THAT(printed_, AllOf(HasSubstr("// ----- after note-only (at 0) -----\n"),
                              HasSubstr("// ----- before erase-relus (at 1) -----\n"),
                              HasSubstr("// ----- after erase-relus (at 1) -----\n"),
                              Not(HasSubstr("before note-only"))));
}

TEST_F(PassManagerTest, PrintsWhatChanged) {
  options_.print_on_change = PrintChange::diff;
  static_cast<void>(run("note-only, erase-relus"));
  EXPECT_THAT(printed_, AllOf(HasSubstr("// ----- changed by erase-relus (at 1) -----\n"),
                              HasSubstr("-   %a = aten.relu.default(%x) : f32[2]\n"),
                              HasSubstr("+   %b = aten.neg.default(%x) : f32[2]\n"),
                              Not(HasSubstr("note-only"))));
}

TEST_F(PassManagerTest, PrintsTheProgramOnFailureAsThePassLeftIt) {
  options_.print_on_failure = true;
  static_cast<void>(run("edit-and-throw"));
  EXPECT_THAT(printed_, AllOf(HasSubstr("// ----- left by failing edit-and-throw (at 0) -----\n"),
                              HasSubstr("%b = aten.neg.default(%x)")));
}

TEST_F(PassManagerTest, PrintingAnUnknownPassIsAnError) {
  options_.print_before = {"erase-relu"};
  EXPECT_EQ(error_of([&] { static_cast<void>(run("erase-relus")); }),
            "error: printing is asked for pass \"erase-relu\", which is not in the pipeline\n"
            "  hint: the pipeline is erase-relus");
}

TEST_F(PassManagerTest, WritesAReproducer) {
  const std::filesystem::path path =
      std::filesystem::path(::testing::TempDir()) / "pass_manager_reproducer.wz";
  options_.reproducer = path;
  const Report report = run("note-only, edit-and-throw");
  EXPECT_EQ(report.reproducer, path.string());
  std::stringstream content;
  content << std::ifstream(path).rdbuf();
  EXPECT_THAT(content.str(), HasSubstr("// RUN: winze lower %s --passes 'edit-and-throw' -o -\n"));
  EXPECT_THAT(content.str(), HasSubstr("// error: pass edit-and-throw (at 1) failed"));
  Context context;
  ExportedProgram again = parse_program(context, content.str());
  const Report second =
      PassManager(Pipeline::parse("edit-and-throw", registry_), options_).run(again);
  EXPECT_FALSE(second.ok());
  std::filesystem::remove(path);
}

TEST_F(PassManagerTest, TellsProgress) {
  std::vector<std::string> told;
  options_.progress = [&](std::size_t index, std::size_t count, const PassInfo& info) {
    told.push_back(fmt::format("{}/{} {}", index, count, info.name));
  };
  static_cast<void>(run("note-only, erase-relus"));
  EXPECT_THAT(told, ElementsAre("0/2 note-only", "1/2 erase-relus"));
}

}  // namespace
}  // namespace winze::testing
