// SPDX-License-Identifier: Apache-2.0
// What every pass owes, over the programs of all text tests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "winze/pass/pass_manager.h"
#include "winze/passes/registration.h"
#include "winze/program/program_text.h"

namespace winze {
namespace {

std::vector<std::filesystem::path> text_tests() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           std::filesystem::path(WINZE_SOURCE_DIR) / "winze" / "passes")) {
    if (entry.path().extension() == ".wz") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string content_of(const std::filesystem::path& path) {
  std::stringstream content;
  content << std::ifstream(path).rdbuf();
  return content.str();
}

/// Names of all passes and pipelines.
std::vector<std::string> everything() {
  const PassRegistry registry = all_passes();
  std::vector<std::string> names;
  for (const PassInfo* info : registry.passes()) names.emplace_back(info->name);
  for (const NamedPipeline& pipeline : registry.pipelines()) names.push_back(pipeline.name);
  return names;
}

class EveryPass : public ::testing::TestWithParam<std::string> {
 protected:
  EveryPass()
      : manager_(Pipeline::parse(GetParam(), all_passes()), {.verify_each = VerifyEach::whole}) {}
  PassManager manager_;
};

TEST_P(EveryPass, LeavesValidProgramsAndNothingToDoTwice) {
  for (const std::filesystem::path& path : text_tests()) {
    Context context;
    ExportedProgram program = parse_program(context, content_of(path), path.string());
    const Report first = manager_.run(program);
    ASSERT_TRUE(first.ok()) << path << "\n" << first.error->str();
    const std::string once = print_program(program);
    const Report second = manager_.run(program);
    ASSERT_TRUE(second.ok()) << path << "\n" << second.error->str();
    EXPECT_EQ(print_program(program), once) << path;
    EXPECT_EQ(second.edits, 0U) << path;
  }
}

TEST_P(EveryPass, IsTheSameOverTheTextOfItsInput) {
  for (const std::filesystem::path& path : text_tests()) {
    Context context;
    ExportedProgram program = parse_program(context, content_of(path), path.string());
    Context other_context;
    ExportedProgram other = parse_program(other_context, print_program(program), path.string());
    ASSERT_TRUE(manager_.run(program).ok());
    ASSERT_TRUE(manager_.run(other).ok());
    EXPECT_EQ(print_program(other), print_program(program)) << path;
  }
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Registered, EveryPass, ::testing::ValuesIn(everything()), test_name);

TEST(Registration, ThereAreTextTests) {
  EXPECT_GE(text_tests().size(), 7U);
}

TEST(Registration, EveryPassIsDescribed) {
  const PassRegistry registry = all_passes();
  for (const PassInfo* info : registry.passes()) {
    EXPECT_FALSE(info->summary.empty()) << info->name;
    EXPECT_FALSE(info->description.empty()) << info->name;
    EXPECT_FALSE(info->group.empty()) << info->name;
    Context context;
    EXPECT_NO_THROW(static_cast<void>(parse_program(context, info->example_before))) << info->name;
  }
}

TEST(Registration, EveryExampleIsWhatThePassDoes) {
  const PassRegistry registry = all_passes();
  for (const PassInfo* info : registry.passes()) {
    Context context;
    ExportedProgram program = parse_program(context, info->example_before);
    const Report report = PassManager(Pipeline::parse(info->name, registry)).run(program);
    ASSERT_TRUE(report.ok()) << report.error->str();
    Context other;
    const ExportedProgram expected = parse_program(other, info->example_after);
    EXPECT_EQ(print_graph(*program.graph), print_graph(*expected.graph)) << info->name;
  }
}

TEST(Registration, NamedPipelinesParse) {
  const PassRegistry registry = all_passes();
  for (const NamedPipeline& pipeline : registry.pipelines())
    EXPECT_FALSE(Pipeline::parse(pipeline.name, registry).empty());
}

}  // namespace
}  // namespace winze
