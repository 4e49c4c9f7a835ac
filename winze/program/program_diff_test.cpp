// SPDX-License-Identifier: Apache-2.0
#include "winze/program/program_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/program/program_text.h"

namespace winze {
namespace {

using ::testing::HasSubstr;

/// The difference of two texts, each read in a context of its own.
std::string diff(const std::string& a, const std::string& b) {
  Context context_a;
  Context context_b;
  const ExportedProgram program_a = parse_program(context_a, a, "a.wz");
  const ExportedProgram program_b = parse_program(context_b, b, "b.wz");
  return diff_programs(program_a, program_b);
}

/// A program around statements over %x and %y.
std::string around(const std::string& statements) {
  return "graph forward(%x: f32[2], %y: f32[2]) {\n" + statements + "}\n";
}

TEST(ProgramDiff, NamesNumbersAndSymbolsPlayNoPart) {
  EXPECT_EQ(diff("symbol s0 in [2, 8]\nsymbol s1\n"
                 "graph forward(%x: f32[s0, s1]) {\n  %a = aten.relu.default(%x) : f32[s0, s1] loc "
                 "0\n  return %a\n}\nloc 0 {\n  torch_fn: \"f\"\n}\n",
                 "symbol s77\nsymbol s5 in [2, 8]\n"
                 "graph forward(%x: f32[s5, s77]) {\n  %0 = aten.relu.default(%x) : f32[s5, s77]\n "
                 " return %0\n}\n"),
            "");
}

TEST(ProgramDiff, AnOrderThatNothingDependsOnPlaysNoPart) {
  EXPECT_EQ(
      diff(
          around("  %a = aten.relu(%x) : f32[2]\n  %b = aten.neg(%y) : f32[2]\n  return %a, %b\n"),
          around("  %b = aten.neg(%y) : f32[2]\n  %a = aten.relu(%x) : f32[2]\n  return %a, %b\n")),
      "");
}

TEST(ProgramDiff, ShowsAChangedArgument) {
  EXPECT_EQ(diff(around("  %a = aten.add.Tensor(%x, 1) : f32[2]\n  %b = aten.relu(%a) : f32[2]\n  "
                        "return %b\n"),
                 around("  %a = aten.add.Tensor(%x, 1, alpha=2) : f32[2]\n  %b = aten.relu(%a) : "
                        "f32[2]\n  return %b\n")),
            "graph:\n"
            "- %a = aten.add.Tensor(%x, 1) : f32[2]\n"
            "+ %a = aten.add.Tensor(%x, 1, alpha=2) : f32[2]\n"
            "    argument 2 (alpha): default -> 2\n");
}

TEST(ProgramDiff, ShowsNodesThatOnlyOneHas) {
  EXPECT_EQ(
      diff(around("  %a = aten.detach(%x) : f32[2]\n  %b = aten.relu(%a) : f32[2]\n  return %b\n"),
           around("  %b = aten.relu(%x) : f32[2]\n  %c = aten.neg(%b) : f32[2]\n  return %c\n")),
      "graph:\n"
      "- %a = aten.detach.default(%x) : f32[2]\n"
      "- %b = aten.relu.default(%a) : f32[2]\n"
      "+ %b = aten.relu.default(%x) : f32[2]\n"
      "    argument 0 (self): %a -> %x\n"
      "+ %c = aten.neg.default(%b) : f32[2]\n"
      "- return output %b\n"
      "+ return output %c\n"
      "    returned value 0: %b -> %c\n");
}

TEST(ProgramDiff, NamesAReplacedNodeAndNotItsUsers) {
  const std::string users =
      "  %b = aten.neg(%a) : f32[2]\n  %c = aten.mul.Tensor(%a, %b) : f32[2]\n  return %a, %c\n";
  EXPECT_EQ(diff(around("  %a = aten.relu(%x) : f32[2]\n" + users),
                 around("  %a = aten.sin(%x) : f32[2]\n" + users)),
            "graph:\n"
            "- %a = aten.relu.default(%x) : f32[2]\n"
            "+ %a = aten.sin.default(%x) : f32[2]\n");
}

TEST(ProgramDiff, NamesUsersThatHaveAnotherReplacement) {
  const std::string rest = "  return %c, %d\n";
  EXPECT_EQ(diff(around("  %a = aten.relu(%x) : f32[2]\n  %c = aten.neg(%a) : f32[2]\n"
                        "  %d = aten.exp(%a) : f32[2]\n" +
                        rest),
                 around("  %a = aten.sin(%x) : f32[2]\n  %b = aten.cos(%x) : f32[2]\n"
                        "  %c = aten.neg(%a) : f32[2]\n  %d = aten.exp(%b) : f32[2]\n" +
                        rest)),
            "graph:\n"
            "- %a = aten.relu.default(%x) : f32[2]\n"
            "+ %a = aten.sin.default(%x) : f32[2]\n"
            "+ %b = aten.cos.default(%x) : f32[2]\n"
            "- %d = aten.exp.default(%a) : f32[2]\n"
            "+ %d = aten.exp.default(%b) : f32[2]\n"
            "    argument 0 (self): %a -> %b\n");
}

TEST(ProgramDiff, ShowsAChangedType) {
  EXPECT_EQ(diff(around("  %a = aten.relu(%x) : f32[2]\n  return %a\n"),
                 around("  %a = aten.relu(%x) : f64[2]\n  return %a\n")),
            "graph:\n"
            "- %a = aten.relu.default(%x) : f32[2]\n"
            "+ %a = aten.relu.default(%x) : f64[2]\n"
            "    type: f32[2] -> f64[2]\n");
}

TEST(ProgramDiff, AChangeAtTheBeginningDoesNotSpread) {
  std::string rest;
  for (int index = 1; index < 200; ++index) {
    rest += "  %v" + std::to_string(index) + " = aten.relu(%v" + std::to_string(index - 1) +
            ") : f32[2]\n";
  }
  rest += "  return %v199\n";
  EXPECT_EQ(diff(around("  %v0 = aten.add.Tensor(%x, 1) : f32[2]\n" + rest),
                 around("  %v0 = aten.add.Tensor(%x, 3) : f32[2]\n" + rest)),
            "graph:\n"
            "- %v0 = aten.add.Tensor(%x, 1) : f32[2]\n"
            "+ %v0 = aten.add.Tensor(%x, 3) : f32[2]\n"
            "    argument 1 (other): 1 -> 3\n");
}

TEST(ProgramDiff, LooksIntoNestedGraphs) {
  const auto program = [](const std::string& constant) {
    return "graph forward(%p: b8[], %x: f32[2]) {\n"
           "  %y = higher_order.cond(%p, graph t(%a: f32[2]) {\n"
           "    %b = aten.add.Tensor(%a, " +
           constant +
           ") : f32[2]\n    return %b\n  }, graph f(%a: f32[2]) { return %a }, [%x]) -> tuple : "
           "f32[2]\n"
           "  return %y\n}\n";
  };
  EXPECT_EQ(diff(program("1"), program("1")), "");
  EXPECT_EQ(diff(program("1"), program("2")),
            "graph t:\n"
            "- %b = aten.add.Tensor(%a, 1) : f32[2]\n"
            "+ %b = aten.add.Tensor(%a, 2) : f32[2]\n"
            "    argument 1 (other): 1 -> 2\n");
}

TEST(ProgramDiff, ShowsEffectsInAnotherOrder) {
  const std::string first = "  %a = aten.add_.Tensor(%x, 1) : f32[2]\n";
  const std::string second = "  %b = aten.mul_.Tensor(%x, 2) : f32[2]\n";
  EXPECT_THAT(
      diff(around(first + second + "  return %x\n"), around(second + first + "  return %x\n")),
      HasSubstr("calls with effects are in another order"));
}

TEST(ProgramDiff, ShowsRolesOfInputsAndOutputs) {
  const std::string text = diff(
      "graph f(%w: param \"w\" f32[2], %b: buffer \"b\" f32[2]) {\n  return buffer_mutation \"b\" "
      "%w\n}\n",
      "graph f(%w: param \"v\" f32[2], %b: buffer \"b\" f32[2]) {\n  return %w\n}\n");
  EXPECT_THAT(text, HasSubstr("- %w: param \"w\" f32[2]\n"));
  EXPECT_THAT(text, HasSubstr("+ %w: param \"v\" f32[2]\n"));
  EXPECT_THAT(text, HasSubstr("role of returned value 0"));
  EXPECT_THAT(text, HasSubstr("state_dict:\n- \"w\" f32[2]\n+ \"v\" f32[2]\n"));
}

TEST(ProgramDiff, ShowsRanges) {
  EXPECT_THAT(diff("symbol s0 in [2, 8]\nrange s9 in [1, 2]\ngraph f(%x: f32[s0]) {\n  return\n}\n",
                   "symbol s3 in [2, 9]\ngraph f(%x: f32[s3]) {\n  return\n}\n"),
              "ranges:\n"
              "- s0 in [2, 8]\n"
              "+ s3 in [2, 9]\n"
              "- s9 in [1, 2]\n");
}

TEST(ProgramDiff, ShowsWeights) {
  const auto program = [](const std::string& weights) {
    return "program \"m\" schema 8.20\ngraph f() {\n  return\n}\nconstants {\n" + weights + "}\n";
  };
  const std::string base =
      "  tensor \"a\" u8[3] storage 0 size 3 data \"YWJj\"\n  tensor \"b\" u8[3] storage 0\n";
  EXPECT_EQ(diff(program(base), program(base)), "");
  EXPECT_EQ(diff(program(base), program("  tensor \"a\" u8[3] storage 0 size 3 data \"YWJk\"\n  "
                                        "tensor \"b\" u8[3] storage 1 size 3 data \"YWJj\"\n")),
            "constants:\n"
            "- \"a\" u8[3]\n"
            "+ \"a\" u8[3]\n"
            "    content\n"
            "- \"b\" u8[3]\n"
            "+ \"b\" u8[3]\n"
            "    which weights share its storage\n");
  EXPECT_THAT(diff(program("  tensor \"a\" u8[3] storage 0 size 3 crc 5\n"),
                   program("  tensor \"a\" i8[3] storage 0 size 3 crc 6\n")),
              HasSubstr("    type\n    content\n"));
}

TEST(ProgramDiff, ShowsTheRest) {
  const std::string text = diff(
      "program \"m\" schema 8.20 opset aten 10 verifiers ATEN\ngraph f() {\n  return\n}\nguard "
      "\"a\"\nmodule \"x\"\n",
      "program \"m\" schema 8.20 opset aten 11 verifiers TRAINING\ngraph f() {\n  return\n}\nguard "
      "\"b\"\n");
  EXPECT_EQ(text,
            "verifiers:\n- ATEN\n+ TRAINING\n\n"
            "opset:\n- aten 10\n+ aten 11\n\n"
            "guards:\n- a\n+ b\n\n"
            "modules:\n- module \"x\"\n");
}

TEST(ProgramDiff, ComparesProgramsOfOneContext) {
  Context context;
  const ExportedProgram a =
      parse_program(context, around("  %a = aten.relu(%x) : f32[2]\n  return %a\n"));
  const ExportedProgram b = a.clone();
  EXPECT_EQ(diff_programs(a, b), "");
  b.graph->output_node().prev().set_argument(0, b.graph->first().next().value());
  EXPECT_THAT(diff_programs(a, b), HasSubstr("argument 0 (self): %x -> %y"));
}

}  // namespace
}  // namespace winze
