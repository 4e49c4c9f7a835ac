// SPDX-License-Identifier: Apache-2.0
#include "winze/program/program_verifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/program/program_text.h"

namespace winze {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> findings(const std::string& text) {
  Context context;
  const ExportedProgram program = parse_program(context, text);
  std::vector<std::string> messages;
  for (const Diagnostic& found : verify(program, VerifyLevel::semantics))
    messages.push_back(found.str());
  return messages;
}

constexpr const char* aten_header =
    "program \"m\" torch \"2.13.0\" schema 8.20 opset aten 10 verifiers ATEN\n";
constexpr const char* root = "module \"\" {\n}\n";

TEST(ProgramVerifier, FindsNothingInASoundProgram) {
  EXPECT_THAT(
      findings("graph f(%w: param \"w\" f32[2], %b: buffer \"b\" f32[2], %x: f32[2]) {\n"
               "  %y = aten.add.Tensor(%x, %w) : f32[2]\n"
               "  return buffer_mutation \"b\" %y, input_mutation \"x\" %y, output %y, output 3\n"
               "}\n"),
      IsEmpty());
}

TEST(ProgramVerifier, FindsInputsWithoutARole) {
  EXPECT_THAT(findings(std::string(aten_header) + "graph f(%x: f32[2]) {\n  return\n}\n" + root),
              Contains(HasSubstr("an input of the program has no role")));
}

TEST(ProgramVerifier, FindsWeightsThatAreNotThere) {
  const std::vector<std::string> found = findings(
      std::string(aten_header) +
      "graph f(%w: param \"w\" f32[2], %b: buffer \"b\" non_persistent f32[2]) {\n  return\n}\n"
      "state_dict {\n  tensor \"b\" f32[2] storage 0 size 8\n}\n" +
      root);
  EXPECT_THAT(found, Contains(HasSubstr("state_dict has no \"w\"")));
  EXPECT_THAT(found, Contains(HasSubstr("constants has no \"b\"")));
  EXPECT_THAT(found, Contains(HasSubstr("it is in the state_dict")));
}

TEST(ProgramVerifier, FindsWeightsOfAnotherKindOrShape) {
  const std::vector<std::string> found =
      findings(std::string(aten_header) +
               "graph f(%w: param \"w\" f32[2], %v: param \"w\" f32[2]) {\n  return\n}\n"
               "state_dict {\n  tensor \"w\" f32[3] storage 0 size 8\n}\n" +
               root);
  EXPECT_THAT(found, Contains(HasSubstr("parameter \"w\" is an input twice")));
  EXPECT_THAT(found,
              Contains(HasSubstr("\"w\" is a parameter here, but no parameter in the state_dict")));
  EXPECT_THAT(found, Contains(HasSubstr("\"w\" is f32[2] here, but f32[3] among the weights")));
  EXPECT_THAT(
      found,
      Contains(HasSubstr(
          "weight \"w\" in state_dict is f32[3] and needs 12 bytes, but its storage has 8")));
}

TEST(ProgramVerifier, TakesWeightsWithoutBytesOnTheMetaDevice) {
  EXPECT_THAT(findings(std::string(aten_header) +
                       "graph f(%w: param \"w\" f32[3] device meta) {\n  return\n}\n"
                       "state_dict {\n  param \"w\" f32[3] device meta storage 0 size 0\n}\n" +
                       root),
              IsEmpty());
}

TEST(ProgramVerifier, FindsWrongOutputs) {
  const std::vector<std::string> found = findings(
      "graph f(%b: buffer \"b\" f32[2], %x: f32[3]) {\n"
      "  return output %x, buffer_mutation \"b\" %x, buffer_mutation \"c\" %x, input_mutation "
      "\"y\" %x, buffer_mutation \"b\" 3\n"
      "}\n");
  EXPECT_THAT(found, Contains(HasSubstr("returned value 1 (buffer_mutation) is out of order")));
  EXPECT_THAT(
      found,
      Contains(HasSubstr("returned value 1 is f32[3], but is written to \"b\", which is f32[2]")));
  EXPECT_THAT(found,
              Contains(HasSubstr(
                  "returned value 2 is written to \"c\", which is no buffer of the program")));
  EXPECT_THAT(found,
              Contains(HasSubstr(
                  "returned value 3 is written to \"y\", which is no input of the program")));
  EXPECT_THAT(found, Contains(HasSubstr("returned value 4 is written to \"b\", but is no tensor")));
}

TEST(ProgramVerifier, FindsOutputsWithoutARole) {
  const std::vector<std::string> found =
      findings(std::string(aten_header) + "graph f(%x: input f32[3]) {\n  return %x\n}\n" + root);
  EXPECT_THAT(found, Contains(HasSubstr("1 values are returned, with 0 roles")));
  EXPECT_THAT(findings(std::string(aten_header) + "graph f() {\n}\n" + root),
              Contains(HasSubstr("the program's graph has no output")));
}

TEST(ProgramVerifier, FindsWritesInTheAtenDialect) {
  const std::string graph =
      "graph f(%x: input f32[3]) {\n  %y = aten.add_.Tensor(%x, 1) : f32[3]\n  return output "
      "%y\n}\n";
  EXPECT_THAT(findings(aten_header + graph + root),
              Contains(HasSubstr("aten.add_.Tensor writes to its arguments, but the program says "
                                 "that it is of the dialect ATEN")));
  EXPECT_THAT(findings(graph), IsEmpty());
}

TEST(ProgramVerifier, WritesThatNoSchemaDeclaresAreOfTheAtenDialect) {
  const std::string graph =
      "graph f(%x: input f32[2, 3, 4], %m: input f32[3], %v: input f32[3]) {\n"
      "  %y = aten.instance_norm.default(%x, None, None, %m, %v, True, 0.1, 1e-05, False) : "
      "f32[2, 3, 4]\n  return output %y\n}\n";
  EXPECT_THAT(findings(aten_header + graph + root), IsEmpty());
}

TEST(ProgramVerifier, FindsAttributesThatAreNotThere) {
  EXPECT_THAT(findings("graph f() {\n  %y = get_attr \"a\" : f32[3]\n  return %y\n}\n"),
              Contains(HasSubstr("no weight or constant is named \"a\"")));
}

TEST(ProgramVerifier, FindsWrongRanges) {
  EXPECT_THAT(findings("range a in [1, 2]\nrange a in [1, 2]\ngraph f() {\n  return\n}\n"),
              Contains(HasSubstr("symbol \"a\" has two ranges")));
}

TEST(ProgramVerifier, FindsAMissingRootModule) {
  EXPECT_THAT(findings(std::string(aten_header) + "graph f() {\n  return\n}\n"),
              Contains(HasSubstr("the module call graph has no signature of the root module")));
}

TEST(ProgramVerifier, FindsSignaturesThatNameErasedValues) {
  EXPECT_THAT(
      findings(std::string(aten_header) + "graph f() {\n  return\n}\n" + root +
               "module \"a\" {\n  inputs erased\n}\n"),
      Contains(HasSubstr("the preserved signature of module \"a\" names a value that was erased")));
}

TEST(ProgramVerifier, FindsAStorageOfAnotherSize) {
  Context context;
  ExportedProgram program = parse_program(context,
                                          "graph f() {\n  return\n}\nconstants {\n  tensor \"a\" "
                                          "u8[2] storage 0 size 2 data \"AAA=\"\n}\n");
  program.storages[0].size = 5;
  const std::vector<Diagnostic> found = verify(program, VerifyLevel::semantics);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].message, "the storage of weight \"a\" in constants has 2 bytes of 5");
}

}  // namespace
}  // namespace winze
