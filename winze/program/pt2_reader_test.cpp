// SPDX-License-Identifier: Apache-2.0
#include "winze/program/pt2_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "winze/program/test_archive.h"

namespace winze {
namespace {

using test::archive_records;
using test::error_of;
using test::ProgramText;
using test::read;
using test::Records;
using test::replaced;
using test::set_record;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Pt2Reader, ReadsGraphRolesAndWeights) {
  Context context;
  const ExportedProgram program = read(context, ProgramText());
  ASSERT_EQ(program.graph->size(), 5U);
  const std::vector<Node> inputs = program.graph->placeholders();
  ASSERT_EQ(inputs.size(), 2U);
  EXPECT_EQ(inputs[0].value().name(), "p_w");
  const Weight* weight = program.weight_of(inputs[0]);
  ASSERT_NE(weight, nullptr);
  EXPECT_TRUE(weight->is_param);
  EXPECT_EQ(program.storage(*weight).bytes.size(), 8U);
  EXPECT_EQ(program.weight_of(inputs[1]), nullptr);
  EXPECT_EQ(program.torch_version, "2.13.0+cpu");
  EXPECT_THAT(program.verifiers, ElementsAre("ATEN"));
  EXPECT_EQ(program.module_call_graph.at(0).signature->in_spec, "[1, 2]");
}

TEST(Pt2Reader, KeepsTheSourceOfNodes) {
  Context context;
  const ExportedProgram program = read(context, ProgramText());
  const Node relu = program.graph->find_nodes(context.ops().find("aten.relu.default")).at(0);
  const auto line = context.user_line(relu.source());
  ASSERT_TRUE(line);
  EXPECT_EQ(line->line, 3);
}

TEST(Pt2Reader, SaysWhatOtherFilesAre) {
  Context context;
  const auto message = [&](const std::string& bytes) {
    try {
      (void)read_pt2(context, Bytes::own(bytes), {.file_name = "a.pt2"});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(message("hello"), AllOf(HasSubstr("no zip archive"), HasSubstr("a.pt2"),
                                      HasSubstr("torch.export.save")));
  EXPECT_THAT(message(test::make_zip({{"a/data.pkl", "x"}, {"a/version", "3"}})),
              HasSubstr("a file of torch.save"));
  EXPECT_THAT(message(test::make_zip({{"a/data.pkl", "x"}, {"a/constants.pkl", "x"}})),
              HasSubstr("TorchScript"));
  EXPECT_THAT(message(test::make_zip({{"a/b.txt", "x"}})), HasSubstr("holds no exported program"));
  EXPECT_THAT(message(std::string("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 15)),
              HasSubstr("torch.save before PyTorch 1.6"));
}

TEST(Pt2Reader, ChecksTheFormatOfTheArchive) {
  Records records = archive_records(ProgramText().json());
  set_record(records, "m/archive_version", "1");
  EXPECT_THAT(error_of(records), HasSubstr("archive_version is \"1\"; this version reads \"0\""));
  records = archive_records(ProgramText().json());
  set_record(records, "m/byteorder", "big");
  EXPECT_THAT(error_of(records), HasSubstr("byteorder is \"big\""));
}

TEST(Pt2Reader, OneOfSeveralProgramsHasToBeNamed) {
  Records records = archive_records(ProgramText().json());
  records.emplace_back("m/models/other.json", ProgramText().json());
  EXPECT_THAT(
      error_of(records),
      AllOf(HasSubstr("the archive holds 2 programs: \"model\", \"other\""), HasSubstr("--model")));
  const Bytes bytes = Bytes::own(test::make_zip(records));
  EXPECT_THAT(list_models(bytes, "a.pt2"), ElementsAre("model", "other"));
  Context context;
  const ExportedProgram program = read_pt2(context, bytes, {.model = "model"});
  ASSERT_EQ(program.records.size(), 1U);
  EXPECT_EQ(program.records[0].name, "models/other.json");
  EXPECT_THROW((void)read_pt2(context, bytes, {.model = "third"}), Error);
}

TEST(Pt2Reader, RecordsThatItDoesNotKnowAreKept) {
  Records records = archive_records(ProgramText().json());
  records.emplace_back("m/extra/notes.txt", "hello");
  Context context;
  const ExportedProgram program = read(context, records);
  ASSERT_EQ(program.records.size(), 1U);
  EXPECT_EQ(program.records[0].name, "extra/notes.txt");
  EXPECT_EQ(program.records[0].bytes.string_view(), "hello");
}

TEST(Pt2Reader, OtherMajorVersionsAreRefused) {
  ProgramText text;
  text.schema_version = R"({"major": 9, "minor": 0})";
  EXPECT_THAT(error_of(text), AllOf(HasSubstr("schema version 9.0 is not known"),
                                    HasSubstr("models/model.json"), HasSubstr("schema_version")));
}

TEST(Pt2Reader, UndefinedNamesAreErrorsWithTheirPlace) {
  ProgramText text;
  text.nodes = replaced(text.nodes, R"({"name": "relu"}}, "kind")", R"({"name": "rely"}}, "kind")");
  EXPECT_THAT(error_of(text),
              AllOf(HasSubstr("value \"rely\" is not defined"), HasSubstr("test.pt2"),
                    HasSubstr("graph_module.graph.nodes[1].inputs[0].arg.as_tensor.name")));
}

TEST(Pt2Reader, UseBeforeDefinitionIsAnError) {
  ProgramText text;
  text.nodes = replaced(text.nodes, R"({"name": "p_w"}})", R"({"name": "add"}})");
  EXPECT_THAT(error_of(text), HasSubstr("value \"add\" is used before it is defined"));
}

TEST(Pt2Reader, DuplicateDefinitionsAreErrors) {
  ProgramText text;
  text.nodes = replaced(text.nodes, R"("outputs": [{"as_tensor": {"name": "add"}}])",
                        R"("outputs": [{"as_tensor": {"name": "relu"}}])");
  EXPECT_THAT(error_of(text), HasSubstr("value \"relu\" is defined twice"));
}

TEST(Pt2Reader, ValuesNeedAnEntryInTheirTable) {
  ProgramText text;
  text.tensors = {"p_w", "x", "add"};
  EXPECT_THAT(error_of(text), HasSubstr("value \"relu\" has no entry in tensor_values"));
  text = ProgramText();
  text.sym_int_values = R"({"relu": {"as_int": 3}})";
  EXPECT_THAT(error_of(text),
              HasSubstr("value \"relu\" is in tensor_values and in sym_int_values"));
}

TEST(Pt2Reader, KindsHaveToFit) {
  ProgramText text;
  text.nodes = replaced(text.nodes, R"({"as_tensor": {"name": "x"}})",
                        R"({"as_sym_int": {"as_name": "x"}})");
  EXPECT_THAT(error_of(text),
              HasSubstr("value \"x\" is a tensor, where a symbolic integer is wanted"));
}

TEST(Pt2Reader, ArgumentsHaveToFitTheSchema) {
  ProgramText text;
  text.nodes = replaced(text.nodes, R"("name": "other")", R"("name": "others")");
  EXPECT_THAT(error_of(text), HasSubstr("aten.add.Tensor has no argument \"others\""));
  text = ProgramText();
  text.nodes = replaced(text.nodes, R"({"as_tensor": {"name": "x"}})", R"({"as_string": "x"})");
  EXPECT_THAT(error_of(text), AllOf(HasSubstr("aten.add.Tensor"), HasSubstr("nodes[1]")));
  text = ProgramText();
  text.nodes = replaced(text.nodes, R"("name": "other")", R"("name": "self")");
  EXPECT_THAT(error_of(text), HasSubstr("argument \"self\" is given twice"));
}

TEST(Pt2Reader, UnknownKindsOfInputsAreErrors) {
  for (const char* kind : {"3", "-1", "\"2\""}) {
    ProgramText text;
    text.nodes = replaced(text.nodes, R"("kind": 1)", std::string(R"("kind": )") + kind);
    EXPECT_THAT(error_of(text), HasSubstr("graph.nodes[0].inputs[0].kind"));
  }
}

TEST(Pt2Reader, UnknownArmsAreErrors) {
  ProgramText text;
  text.nodes = replaced(text.nodes, "as_tensor", "as_magic");
  EXPECT_THAT(error_of(text), AllOf(HasSubstr("an argument of unknown kind \"as_magic\""),
                                    HasSubstr("newer PyTorch")));
  text = ProgramText();
  text.input_specs = replaced(text.input_specs, "parameter", "magic");
  EXPECT_THAT(error_of(text), HasSubstr("a role of unknown kind \"magic\""));
}

TEST(Pt2Reader, AUnionHasExactlyOneKey) {
  ProgramText text;
  text.nodes = replaced(text.nodes, R"({"as_tensor": {"name": "p_w"}})",
                        R"({"as_int": 1, "as_none": true})");
  EXPECT_THAT(
      error_of(text),
      HasSubstr("an object with exactly one key is wanted, found \"as_int\" and \"as_none\""));
  text = ProgramText();
  text.nodes = replaced(text.nodes, R"({"as_tensor": {"name": "p_w"}})", "{}");
  EXPECT_THAT(error_of(text), HasSubstr("an object with exactly one key is wanted"));
}

TEST(Pt2Reader, MissingFieldsAreNamed) {
  ProgramText text;
  text.nodes = replaced(text.nodes, R"("metadata": {}, )", "");
  EXPECT_THAT(error_of(text), HasSubstr("the key \"metadata\" is missing"));
}

TEST(Pt2Reader, RolesHaveToBeOfTheInputsAndOutputs) {
  ProgramText text;
  text.input_specs = R"([{"user_input": {"arg": {"as_tensor": {"name": "x"}}}}])";
  EXPECT_THAT(error_of(text), HasSubstr("1 role for 2 inputs"));
  text = ProgramText();
  text.input_specs = replaced(text.input_specs, "\"x\"", "\"y\"");
  EXPECT_THAT(error_of(text),
              HasSubstr("the role is of \"y\", but the graph's input here is \"x\""));
  text = ProgramText();
  text.output_specs = replaced(text.output_specs, "\"add\"", "\"relu\"");
  EXPECT_THAT(error_of(text), HasSubstr("the role is of another value"));
}

TEST(Pt2Reader, BadMetasAreErrors) {
  ProgramText text;
  const auto with = [&](std::string_view from, std::string_view to) {
    const std::string meta = replaced(std::string(test::f32_2), from, to);
    text.tensor_values = R"({"p_w": )" + meta + R"(, "x": )" + meta + R"(, "relu": )" + meta +
                         R"(, "add": )" + meta + "}";
    return error_of(text);
  };
  EXPECT_THAT(with(R"({"as_int": 2})", R"({"as_int": -2})"), HasSubstr("a size is negative: -2"));
  EXPECT_THAT(with(R"({"as_int": 1})", R"({"as_int": -1})"), HasSubstr("a stride is negative"));
  EXPECT_THAT(with(R"({"as_int": 2})", R"({"as_int": 4611686018427387904}, {"as_int": 4})"),
              HasSubstr("the number of elements is larger than 64 bits hold"));
  EXPECT_THAT(with(R"({"as_int": 2})", R"({"as_int": 2}, {"as_int": 2})"),
              HasSubstr("2 sizes, but 1 strides"));
  EXPECT_THAT(with("7", "99"), HasSubstr("the number of a dtype"));
  EXPECT_THAT(with("7", "\"f\""), HasSubstr("an integer is wanted, found \"f\""));
  EXPECT_THAT(with("null", "99999"), HasSubstr("a device index is wanted"));
  EXPECT_THAT(with(R"({"as_int": 2})", R"({"as_expr": {"expr_str": "import os", "hint": null}})"),
              HasSubstr("sizes[0].as_expr.expr_str"));
}

TEST(Pt2Reader, WeightsHaveToFitTheirRecords) {
  Records records = archive_records(ProgramText().json());
  set_record(records, "m/data/weights/weight_0", "1234");
  EXPECT_THAT(
      error_of(records),
      AllOf(HasSubstr("weight \"w\" does not fit: it reaches to byte 8 of a storage of 4 bytes"),
            HasSubstr("m/data/weights/model_weights_config.json"), HasSubstr("config.w")));
  records = archive_records(ProgramText().json());
  set_record(records, "m/data/weights/weight_0", "123456789");
  EXPECT_THAT(error_of(records), HasSubstr("no whole number of elements"));
  records = archive_records(ProgramText().json());
  set_record(records, "m/data/weights/model_weights_config.json",
             replaced(test::weights_config(), "weight_0", "weight_7"));
  EXPECT_THAT(error_of(records),
              HasSubstr("the archive has no record \"m/data/weights/weight_7\""));
  records = archive_records(ProgramText().json());
  set_record(records, "m/data/weights/model_weights_config.json",
             replaced(test::weights_config(), R"("storage_offset": {"as_int": 0)",
                      R"("storage_offset": {"as_int": 9223372036854775807)"));
  EXPECT_THAT(error_of(records), HasSubstr("reaches further than 64 bits hold"));
}

TEST(Pt2Reader, UnknownFieldsAreKept) {
  ProgramText text;
  text.rest = R"(, "new_field": [1, 2.50])";
  text.graph_rest = R"(, "graph_field": {"a": null})";
  text.nodes =
      replaced(text.nodes, R"("name": "relu"}, )", R"("name": "relu", "node_field": "z"}, )");
  Context context;
  const ExportedProgram program = read(context, text);
  EXPECT_EQ(program.unknown_fields, R"({"new_field": [1, 2.50]})");
  EXPECT_EQ(program.graph->unknown_fields(), R"({"graph_field": {"a": null}})");
  const Node relu = program.graph->find_nodes(context.ops().find("aten.relu.default")).at(0);
  EXPECT_EQ(context.text(context.source_info(relu.source()).unknown_fields),
            R"({"node_field": "z"})");
}

TEST(Pt2Reader, FieldsOfInnerRecordsOfWeightsAreKept) {
  Records records = archive_records(ProgramText().json());
  set_record(records, "m/data/weights/model_weights_config.json",
             replaced(test::weights_config(), R"("dtype":)", R"("more": 1, "dtype":)"));
  std::vector<Diagnostic> warnings;
  Context context;
  const ExportedProgram program = read(context, records, &warnings);
  EXPECT_THAT(warnings, IsEmpty());
  ASSERT_EQ(program.state_dict.unknown_members().size(), 1U);
  EXPECT_EQ(program.state_dict.unknown_members()[0].path, "config.w.tensor_meta");
  EXPECT_EQ(program.state_dict.unknown_members()[0].members, R"({"more": 1})");
  EXPECT_THAT(program.constants.unknown_members(), IsEmpty());
}

/// Where the program keeps the one unknown field `more`.
std::string kept_path(const ProgramText& text) {
  std::vector<Diagnostic> warnings;
  Context context;
  const ExportedProgram program = read(context, text, &warnings);
  EXPECT_THAT(warnings, IsEmpty());
  if (program.unknown_members.size() != 1) return "";
  EXPECT_EQ(program.unknown_members[0].members, R"({"more": 1})");
  return program.unknown_members[0].path;
}

TEST(Pt2Reader, FieldsOfInnerRecordsAreKept) {
  const auto path_with = [](std::string ProgramText::* part, std::string_view from,
                            std::string_view to) {
    ProgramText text;
    text.*part = replaced(text.*part, from, to);
    return kept_path(text);
  };
  EXPECT_EQ(path_with(&ProgramText::nodes, R"("kind": 1)", R"("kind": 1, "more": 1)"),
            R"(graph_module.graph.nodes["relu"].inputs["self"])");
  EXPECT_EQ(path_with(&ProgramText::nodes, R"("outputs": [{"as_tensor": {"name": "relu"}}])",
                      R"("outputs": [{"as_tensor": {"name": "relu", "more": 1}}])"),
            R"(graph_module.graph.nodes["relu"].outputs[0].as_tensor)");
  EXPECT_EQ(path_with(&ProgramText::inputs, R"({"name": "x"})", R"({"name": "x", "more": 1})"),
            "graph_module.graph.inputs[1].as_tensor");
  EXPECT_EQ(path_with(&ProgramText::outputs, R"({"name": "add"})", R"({"more": 1, "name": "add"})"),
            "graph_module.graph.outputs[0].as_tensor");
  EXPECT_EQ(path_with(&ProgramText::schema_version, R"("major")", R"("more": 1, "major")"),
            "schema_version");
  EXPECT_EQ(
      path_with(&ProgramText::input_specs, R"({"name": "p_w"})", R"({"name": "p_w", "more": 1})"),
      "graph_module.signature.input_specs[0].parameter.arg");
  EXPECT_EQ(
      path_with(&ProgramText::input_specs, R"({"user_input": {)", R"({"user_input": {"more": 1, )"),
      "graph_module.signature.input_specs[1].user_input");
  EXPECT_EQ(
      path_with(&ProgramText::output_specs, R"({"name": "add"})", R"({"name": "add", "more": 1})"),
      "graph_module.signature.output_specs[0].user_output.arg.as_tensor");
}

TEST(Pt2Reader, WhatOtherRolesHaveIsNotKnown) {
  ProgramText text;
  text.input_specs =
      replaced(text.input_specs, R"({"user_input": {)", R"({"user_input": {"persistent": true, )");
  Context context;
  const ExportedProgram program = read(context, text);
  ASSERT_EQ(program.unknown_members.size(), 1U);
  EXPECT_EQ(program.unknown_members[0].members, R"({"persistent": true})");
}

TEST(Pt2Reader, ElementsOfResultListsMayHaveFieldsThatAreNotKnown) {
  ProgramText text;
  text.nodes = replaced(text.nodes, R"([{"as_tensor": {"name": "relu"}}])",
                        R"([{"as_tensors": [{"name": "relu", "more": 1}]}])");
  text.nodes = replaced(text.nodes, "torch.ops.aten.relu.default", "torch.ops.mine.relus.default");
  EXPECT_EQ(kept_path(text), R"(graph_module.graph.nodes["relu"].outputs[0].as_tensors[0])");
}

/// The text of the warnings of reading it.
std::string warnings_of(const ProgramText& text) {
  std::vector<Diagnostic> warnings;
  Context context;
  (void)read(context, text, &warnings);
  std::string all;
  for (const Diagnostic& warning : warnings) all += warning.str() + "\n";
  return all;
}

/// Two tensors whose size is the same symbol, with these hints.
ProgramText with_hints(std::string_view first, std::string_view second) {
  const auto sized = [](std::string_view hint) {
    return replaced(std::string(test::f32_2), R"({"as_int": 2})",
                    R"x({"as_expr": {"expr_str": "Symbol('s0', positive=True, integer=True)", )x"
                    R"x("hint": )x" +
                        std::string(hint) + "}}");
  };
  const std::string plain(test::f32_2);
  ProgramText text;
  text.tensor_values = R"({"p_w": )" + plain + R"(, "x": )" + sized(first) + R"(, "relu": )" +
                       plain + R"(, "add": )" + sized(second) + "}";
  return text;
}

TEST(Pt2Reader, HintsOfRepeatedExpressionsAreChecked) {
  EXPECT_EQ(warnings_of(with_hints(R"({"as_int": 2})", R"({"as_int":  2})")), "");
  EXPECT_THAT(
      warnings_of(with_hints(R"({"as_int": 2})", R"({"as_int": 3})")),
      HasSubstr("warning: the hint of this expression is not the one that it has further up"));
  EXPECT_THAT(warnings_of(with_hints(R"({"as_int": 2})", "null")), HasSubstr("the hint of this"));
  EXPECT_THAT(error_of(with_hints(R"({"as_int": 2})", R"({"as_int": ""})")),
              HasSubstr("tensor_values.add.sizes[0].as_expr.hint.as_int"));
}

TEST(Pt2Reader, UnknownOperatorsAreKeptOpaque) {
  ProgramText text;
  text.nodes = replaced(text.nodes, "torch.ops.aten.relu.default", "torch.ops.mine.relu.default");
  Context context;
  const ExportedProgram program = read(context, text);
  const Node node = program.graph->placeholders().back().next();
  EXPECT_TRUE(context.ops().get(node.op()).is_opaque());
  EXPECT_EQ(context.ops().get(node.op()).schema.arguments.at(0).name, "self");
}

TEST(Pt2Reader, RangesAreAppliedToSymbols) {
  ProgramText text;
  const std::string plain(test::f32_2);
  const std::string symbolic =
      replaced(plain, R"({"as_int": 2})",
               R"x({"as_expr": {"expr_str": "Symbol('s0', positive=True, integer=True)", )x"
               R"x("hint": {"as_int": 2}}})x");
  text.tensor_values = R"({"p_w": )" + plain + R"(, "x": )" + symbolic + R"(, "relu": )" + plain +
                       R"(, "add": )" + symbolic + "}";
  text.range_constraints =
      R"({"s0": {"min_val": 2, "max_val": 64}, "u9": {"min_val": null, "max_val": null}})";
  Context context;
  const ExportedProgram program = read(context, text);
  const SymExpr symbol = context.symbols().find_symbol("s0").value();
  EXPECT_EQ(context.symbols().range(symbol), (Range{2, 64}));
  EXPECT_EQ(program.range_constraints.size(), 2U);
  const auto hint = [&](SymExpr expression) {
    return std::get<std::int64_t>(program.expressions.hint(context.symbols(), expression));
  };
  EXPECT_EQ(hint(symbol), 2);
  EXPECT_EQ(hint(context.symbols().add(symbol, 1)), 3);
  text.range_constraints = R"({"s0": {"min_val": 5, "max_val": 4}})";
  EXPECT_THAT(error_of(text), HasSubstr("the range of \"s0\" is empty"));
}

TEST(Pt2Reader, GraphsMayBeNestedOnlySoDeep) {
  std::string nested =
      R"({"inputs": [], "outputs": [], "nodes": [], "tensor_values": {}, "sym_int_values": {}, "sym_bool_values": {}})";
  for (int depth = 0; depth < 70; ++depth) {
    nested =
        R"({"inputs": [], "outputs": [], "nodes": [{"target": "torch.ops.higher_order.strict_mode", "inputs": [{"name": "", "arg": {"as_graph": {"name": "g", "graph": )" +
        nested +
        R"(}}, "kind": 1}], "outputs": [], "metadata": {}}], "tensor_values": {}, "sym_int_values": {}, "sym_bool_values": {}})";
  }
  ProgramText text;
  text.nodes = replaced(text.nodes, R"({"as_tensor": {"name": "p_w"}})",
                        R"({"as_graph": {"name": "g", "graph": )" + nested + "}}");
  EXPECT_THAT(error_of(text), HasSubstr("nested"));
}

TEST(Pt2Reader, ModuleSignaturesFollowTheirValues) {
  ProgramText text;
  text.module_call_graph =
      R"([{"fqn": "", "signature": {"inputs": [], "outputs": [], "in_spec": "", "out_spec": "", "forward_arg_names": null}},)"
      R"( {"fqn": "act", "signature": {"inputs": [{"as_tensor": {"name": "p_w"}}], "outputs": [{"as_tensor": {"name": "relu"}}], "in_spec": "", "out_spec": "", "forward_arg_names": null}},)"
      R"( {"fqn": "gone", "signature": {"inputs": [{"as_tensor": {"name": "lost"}}], "outputs": [], "in_spec": "", "out_spec": "", "forward_arg_names": null}}])";
  std::vector<Diagnostic> warnings;
  Context context;
  const ExportedProgram program = read(context, text, &warnings);
  const ModuleCallSignature& signature = program.module_call_graph.at(1).signature.value();
  EXPECT_EQ(program.graph->observed(signature.outputs.at(0).reference.value()).name(), "relu");
  EXPECT_FALSE(program.module_call_graph.at(2).signature);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_THAT(warnings[0].str(),
              HasSubstr("the signature of module \"gone\" speaks of what the graph does not hold"));
  const ExportedProgram copy = program.clone();
  const ModuleCallSignature& copied = copy.module_call_graph.at(1).signature.value();
  EXPECT_EQ(copy.graph->observed(copied.outputs.at(0).reference.value()).name(), "relu");
}

TEST(Pt2Reader, EveryArgumentKindIsRead) {
  ProgramText text;
  text.nodes = test::node_with_every_argument();
  EXPECT_THAT(error_of(text), IsEmpty());
}

TEST(Pt2Reader, DictionariesHoldConstantsOnly) {
  ProgramText text;
  text.nodes = replaced(test::node_with_every_argument(), R"({"k": {"as_int": 1}})",
                        R"({"k": {"as_tensor": {"name": "x"}}})");
  EXPECT_THAT(error_of(text), HasSubstr("a dictionary holds an argument of kind as_tensor"));
}

}  // namespace
}  // namespace winze
