// SPDX-License-Identifier: Apache-2.0
#include "winze/pass/plugin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "winze/pass/pass_test_passes.h"
#include "winze/program/program_text.h"
#include "winze/shape/meta_check.h"

namespace winze::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::filesystem::path library(std::string_view kind) {
  return std::filesystem::path(WINZE_TEST_PLUGIN_DIR) /
         fmt::format("winze_test_plugin_{}.so", kind);
}

std::string loading_error(const std::filesystem::path& path, PassRegistry& registry) {
  return error_of([&] { load_pass_plugin(path, registry); });
}

TEST(Plugin, AddsItsPasses) {
  PassRegistry registry = test_registry();
  load_pass_plugin(library("good"), registry);
  ASSERT_NE(registry.find("plugged-in"), nullptr);
  EXPECT_EQ(registry.find("plugged-in")->summary, "Does nothing.");
}

TEST(Plugin, AddsOperatorsWithTheirShapeRules) {
  PassRegistry registry;
  load_pass_plugin(library("good"), registry);
  ASSERT_EQ(registry.context_setups().size(), 1U);
  Context context;
  registry.context_setups()[0](context);
  const ExportedProgram program = parse_program(context, R"(graph f(%x: input f32[2, 3]) {
  %y = pluginlib.scale(%x, 2.0) : f32[9]
  return output %y
})");
  const std::vector<Diagnostic> findings = verify_metas(program);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].message, HasSubstr("but pluginlib.scale.default yields f32[2, 3]"));
}

TEST(Plugin, LoadedTwiceItsPassesAreDuplicates) {
  PassRegistry registry;
  load_pass_plugin(library("good"), registry);
  EXPECT_THAT(loading_error(library("good"), registry),
              AllOf(HasSubstr("winze_test_plugin_good.so\": there is a pass named \"plugged-in\""),
                    HasSubstr("already")));
}

TEST(Plugin, ThatFailsHalfwayAddsNothing) {
  PassRegistry registry;
  EXPECT_THAT(loading_error(library("twice"), registry), HasSubstr("already"));
  EXPECT_EQ(registry.find("plugged-in"), nullptr);
}

TEST(Plugin, OfAnotherVersionIsRefused) {
  PassRegistry registry;
  EXPECT_THAT(loading_error(library("other_version"), registry),
              AllOf(HasSubstr("was built for \"winze-0 libother\", this is \"winze-"),
                    HasSubstr("hint: build the plugin against the headers")));
}

TEST(Plugin, WithoutEntryPointIsRefused) {
  PassRegistry registry;
  EXPECT_THAT(loading_error(library("no_entry"), registry),
              AllOf(HasSubstr("is no pass plugin: it has no symbol winze_register_passes"),
                    HasSubstr("hint: say WINZE_PASS_PLUGIN(register_passes)")));
  EXPECT_THAT(loading_error(library("no_abi"), registry),
              HasSubstr("it has no symbol winze_plugin_abi"));
}

TEST(Plugin, ThatIsMissingOrNoLibraryIsAnError) {
  PassRegistry registry;
  EXPECT_THAT(loading_error("no/such.so", registry),
              HasSubstr("error: there is no plugin \"no/such.so\""));
  EXPECT_THAT(loading_error(WINZE_SOURCE_DIR "/README.md", registry),
              HasSubstr("cannot load plugin"));
}

}  // namespace
}  // namespace winze::testing
