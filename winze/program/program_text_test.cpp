// SPDX-License-Identifier: Apache-2.0
#include "winze/program/program_text.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/program/program_text_parts.h"
#include "winze/support/error_of.h"

namespace winze {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string reprint(const std::string& text) {
  Context context;
  return print_program(parse_program(context, text, "t.wz"));
}

std::string error_of_text(const std::string& text) {
  return winze::error_of([&] { return reprint(text); });
}

constexpr const char* header =
    "program \"m\" torch \"2.13.0\" schema 8.20 opset aten 10 verifiers TRAINING\n";

TEST(ProgramText, WarnsOfWhatASummaryLeavesOut) {
  const std::string graph = "graph f(%x: f32[2]) {\n}\n";
  Context context;
  std::vector<Diagnostic> warnings;
  (void)parse_program(context, graph, "t.wz", &warnings);
  EXPECT_TRUE(warnings.empty());
  (void)parse_program(context, "program \"m\" torch \"2.13.0\" summary\n" + graph, "t.wz",
                      &warnings);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_THAT(warnings[0].str(), StartsWith("t.wz: warning: this is a summary"));
  EXPECT_THAT(warnings[0].str(), HasSubstr("guards, ranges of expressions, hints"));
}

TEST(ProgramText, KeepsEverything) {
  const std::string text =
      "program \"model\" torch \"2.13.0+cpu\" schema 8.20 opset aten 10, \"my ops\" 2 verifiers "
      "TRAINING, \"A B\" "
      "unknown_fields \"{\\\"a\\\": 1}\" graph_module_unknown_fields \"{\\\"b\\\": 1}\" "
      "signature_unknown_fields \"{\\\"c\\\": 1}\"\n"
      "archive \"dir/llama.pt2\" digest \"0123456789abcdef\"\n"
      "device cuda:0\n"
      "symbol s0 in [2, 64] hint 5\n"
      "range \"2*s0 + 1\" in [5, 129]\n"
      "range s9 in [-int_oo, int_oo]\n"
      "symbol u0 in [0, 9223372036854775806]\n"
      "symbol s1 text \"Symbol('s1', integer=True, positive=True)\"\n"
      "expression [2*s0] hint None\n"
      "expression [s1//2] hint 3 text \"FloorDiv(s1, 2)\"\n"
      "\n"
      "graph forward(\n"
      "    %w: param \"lin.weight\" f32[32, 16],\n"
      "    %c: constant \"c\" f32[2],\n"
      "    %x: input f32[s0, 16, 2*s0, u0, s1]) {\n"
      "  %t = aten.t.default(%w) : f32[16, 32] strides [1, 16] loc 0\n"
      "  return output %t\n"
      "}\n"
      "state_dict {\n"
      "  param \"lin.weight\" f32[32, 16] requires_grad storage 0 record \"weight_0\" size 2048 "
      "crc 305419896\n"
      "  param \"tied\" f32[16] offset [4] storage 0\n"
      "  tensor \"b\" f32[0] storage 1 record \"weight_1\" size 0 unknown_fields \"{}\"\n"
      "  unknown_members \"config.b.tensor_meta\" known \"{}\" members \"{\\\"e\\\": 1}\"\n"
      "}\n"
      "constants {\n"
      "  tensor \"c\" f32[2] storage 2 size 8 data \"AAAAAAAAgD8=\"\n"
      "  opaque \"obj\" use_pickle storage 3 record \"custom_obj_0\" size 7\n"
      "  opaque \"q\" is_param storage 4 record \"p\" size 7\n"
      "}\n"
      "guard \"L['x'].size()[0] >= 2\"\n"
      "metadata \"key\" = \"value\"\n"
      "named_tuple \"my.Tuple\" [\"a\", \"b\"]\n"
      "module \"\" {\n"
      "  inputs %x, 5, [1, 2]\n"
      "  outputs %t, erased\n"
      "  in_spec \"[1, {}]\"\n"
      "  out_spec \"[1]\"\n"
      "  forward_arg_names [\"x\"]\n"
      "  unknown_fields \"{\\\"d\\\": 1}\"\n"
      "}\n"
      "module \"lin\" unknown_fields \"{}\"\n"
      "module \"empty\" {\n"
      "}\n"
      "unknown_members \"schema_version\" known \"{}\" members \"{\\\"f\\\": 1}\"\n"
      "\n"
      "loc 0 {\n"
      "  torch_fn: \"t\"\n"
      "}\n";
  EXPECT_EQ(reprint(text), text);
}

TEST(ProgramText, FillsInWhatAHandWrittenProgramLeavesOut) {
  EXPECT_EQ(reprint("graph forward(%w: param \"w\" f32[2, 3], %x: f32[s0, 3]) {\n"
                    "  %y = aten.mm(%x, %w) : f32[s0, 3]\n"
                    "  return %y, %x\n"
                    "}\n"),
            "program \"model\" torch \"2.13.0\" schema 8.20 opset aten 10 verifiers TRAINING\n"
            "symbol s0\n"
            "\n"
            "graph forward(%w: param \"w\" f32[2, 3], %x: input f32[s0, 3]) {\n"
            "  %y = aten.mm.default(%x, %w) : f32[s0, 3]\n"
            "  return output %y, output %x\n"
            "}\n"
            "state_dict {\n"
            "  param \"w\" f32[2, 3] storage 0 size 24\n"
            "}\n"
            "module \"\" {\n"
            "  in_spec \"[1, {\\\"type\\\": \\\"builtins.tuple\\\", \\\"context\\\": \\\"null\\\", "
            "\\\"children_spec\\\": "
            "[{\\\"type\\\": \\\"builtins.tuple\\\", \\\"context\\\": \\\"null\\\", "
            "\\\"children_spec\\\": [{\\\"type\\\": null, "
            "\\\"context\\\": null, \\\"children_spec\\\": []}]}, {\\\"type\\\": "
            "\\\"builtins.dict\\\", \\\"context\\\": \\\"[]\\\", "
            "\\\"children_spec\\\": []}]}]\"\n"
            "  out_spec \"[1, {\\\"type\\\": \\\"builtins.tuple\\\", \\\"context\\\": "
            "\\\"null\\\", \\\"children_spec\\\": "
            "[{\\\"type\\\": null, \\\"context\\\": null, \\\"children_spec\\\": []}, "
            "{\\\"type\\\": null, \\\"context\\\": null, "
            "\\\"children_spec\\\": []}]}]\"\n"
            "  forward_arg_names [\"x\"]\n"
            "}\n");
}

TEST(ProgramText, FillsNothingIntoACompleteProgram) {
  const std::string text = std::string(header) + "\ngraph forward(%x: f32[2]) {\n}\n";
  EXPECT_EQ(reprint(text), text);
}

TEST(ProgramText, SetsTheRangesOfSymbols) {
  Context context;
  const ExportedProgram program =
      parse_program(context, "symbol s0 in [2, 64]\ngraph f(%x: f32[s0]) {\n}\n");
  EXPECT_EQ(context.symbols().range(*context.symbols().find_symbol("s0")), (Range{2, 64}));
  ASSERT_EQ(program.range_constraints.size(), 1U);
  EXPECT_EQ(program.range_constraints[0].max_val, 64);
}

TEST(ProgramText, FollowsObservedValues) {
  Context context;
  ExportedProgram program =
      parse_program(context, std::string(header) +
                                 "graph f(%x: f32[2]) {\n  %y = aten.relu(%x) : f32[2]\n  "
                                 "return\n}\nmodule \"a\" { outputs %y }");
  const Node relu = program.graph->output_node().prev();
  relu.value().replace_all_uses_with(program.graph->first().value());
  EXPECT_THAT(print_program(program), HasSubstr("  outputs %x\n"));
}

TEST(ProgramText, HoldsTheBytesOfNewWeightsWhateverTheirSize) {
  Context context;
  ExportedProgram program = parse_program(context, std::string(header) + "graph f() {\n}\n");
  const MetaId meta = context.contiguous_meta(ScalarType::uint8, std::vector<SymInt>{100'000});
  add_constant(program, "big", meta, Bytes::own(std::string(100'000, 'x')));
  Context other;
  const ExportedProgram again = parse_program(other, print_program(program));
  ASSERT_EQ(again.storages.size(), 1U);
  EXPECT_EQ(again.storages[0].bytes.string_view(), std::string(100'000, 'x'));
}

/// The fenced blocks of docs/text-format.md that are programs.
std::vector<std::string> documented_programs() {
  std::ifstream file(WINZE_SOURCE_DIR "/docs/text-format.md");
  std::vector<std::string> programs;
  std::string line;
  bool inside = false;
  while (std::getline(file, line)) {
    if (line.starts_with("```")) {
      inside = !inside;
      if (inside) programs.emplace_back();
    } else if (inside) {
      programs.back() += line + '\n';
    }
  }
  std::erase_if(programs, [](const std::string& text) {
    return !text.starts_with("graph forward") && !text.starts_with("program \"");
  });
  return programs;
}

TEST(ProgramText, ReadsTheDocumentedExamplesAndPrintsTheWholeOneAsItStands) {
  const std::vector<std::string> programs = documented_programs();
  ASSERT_EQ(programs.size(), 2U);
  EXPECT_THAT(reprint(programs[0]), HasSubstr("  %y = aten.relu.default(%x) : f32[2, 3]\n"));
  EXPECT_EQ(reprint(programs[1]), programs[1]);
}

TEST(ProgramText, SkipsTheMarkOfItsEncoding) {
  const std::string text = "graph f(%x: f32[2]) {\n  return output %x\n}\n";
  EXPECT_EQ(reprint("\xef\xbb\xbf" + text), reprint(text));
  EXPECT_THAT(error_of_text("graph f() {\n  \xef\xbb\xbf}\n"), HasSubstr("t.wz:2:3"));
}

TEST(ProgramText, SaysWhatIsWrong) {
  EXPECT_THAT(error_of_text("program \"m\"\nfoo"),
              HasSubstr("t.wz:2:1: error: \"foo\" does not begin a line before the graph"));
  EXPECT_THAT(error_of_text("graph f() {\n}\nsymbol s0"),
              HasSubstr("\"symbol\" does not begin a line behind the graph"));
  EXPECT_THAT(error_of_text("program m"), HasSubstr("expected the name of the program in quotes"));
  EXPECT_THAT(error_of_text("program \"m\" schema 8"),
              HasSubstr("expected '.' after the major version of the schema"));
  EXPECT_THAT(error_of_text("symbol s0 in [0, 0]\ngraph f() {\n}\n"), HasSubstr("holds no value"));
  EXPECT_THAT(error_of_text("graph f() {\n}\nstate_dict {\n  param \"a\" f32[2] storage 0\n}"),
              HasSubstr("expected 'size' at the first mention of a storage"));
  EXPECT_THAT(error_of_text("graph f() {\n}\nstate_dict {\n  parm \"a\"\n}"),
              HasSubstr("expected 'param', 'tensor' or 'opaque', found \"parm\""));
  EXPECT_THAT(
      error_of_text(
          "graph f() {\n}\nconstants {\n  tensor \"a\" f32[1] storage 0 size 4 data \"AA\"\n}"),
      HasSubstr("not in base64"));
  EXPECT_THAT(
      error_of_text(
          "graph f() {\n}\nconstants {\n  tensor \"a\" f32[1] storage 0 size 4 data \"AAAA\"\n}"),
      HasSubstr("a storage of 4 bytes is given 3"));
  EXPECT_THAT(error_of_text("graph f() {\n}\nmodule \"a\" { inputs %x }"),
              HasSubstr("t.wz:3:21: error: %x is not defined here"));
  EXPECT_THAT(error_of_text("graph f() {\n}\nstate_dict {\n  param \"a\" storage 0 size 4\n  param "
                            "\"a\" storage 0\n}"),
              HasSubstr("t.wz:5:9"));
  EXPECT_THAT(error_of_text("// nothing\n"),
              HasSubstr("t.wz: error: there is no program: the text is "));
  EXPECT_THAT(error_of_text("program \"m\"\n"),
              HasSubstr("expected 'graph', found the end of the text"));
}

TEST(Base64, GoesBothWays) {
  for (const std::string bytes : {"", "a", "ab", "abc", "\xFF\x00\x80z"}) {
    std::string text;
    append_base64(text, bytes);
    EXPECT_EQ(parse_base64(text), bytes);
  }
  std::string text;
  append_base64(text, "hello");
  EXPECT_EQ(text, "aGVsbG8=");
}

TEST(Base64, RefusesWhatIsNone) {
  for (const char* text : {"a", "ab=", "a===", "ab=c", "ab=cabcd", "a\nbc", "=abc"})
    EXPECT_EQ(parse_base64(text), std::nullopt) << text;
}

}  // namespace
}  // namespace winze
