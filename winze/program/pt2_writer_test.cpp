// SPDX-License-Identifier: Apache-2.0
#include "winze/program/pt2_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "winze/program/test_archive.h"
#include "winze/support/error_of.h"
#include "winze/support/zip_reader.h"

namespace winze {
namespace {

using test::archive_records;
using test::ProgramText;
using test::read;
using test::Records;
using test::replaced;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string written(const ExportedProgram& program, const WriteOptions& options = {}) {
  std::string bytes;
  StringSink sink(bytes);
  (void)write_pt2(program, sink, options);
  return bytes;
}

std::string error_of_writing(const ExportedProgram& program, const WriteOptions& options = {}) {
  return winze::error_of([&] { return written(program, options); });
}

TEST(Pt2Writer, ReadThenWriteGivesTheSameJson) {
  const ProgramText text;
  Context context;
  EXPECT_EQ(program_json(read(context, text)), text.json());
}

TEST(Pt2Writer, RecordsComeInPyTorchsOrder) {
  Context context;
  Records records = archive_records(ProgramText().json());
  records.emplace_back("m/extra/notes.txt", "hello");
  const ZipReader zip(Bytes::own(written(read(context, records))), "out.pt2");
  std::vector<std::string> names;
  for (const ZipEntry& entry : zip.entries()) names.emplace_back(entry.name);
  EXPECT_THAT(names,
              ::testing::ElementsAre(
                  "archive/data/weights/weight_0", "archive/data/weights/model_weights_config.json",
                  "archive/data/constants/model_constants_config.json", "archive/models/model.json",
                  "archive/data/sample_inputs/model.pt", "archive/extra/notes.txt",
                  "archive/archive_format", "archive/archive_version", "archive/.data/version",
                  "archive/byteorder", "archive/.data/serialization_id"));
  EXPECT_EQ(zip.get("archive/data/weights/weight_0").data_offset % 64, 0U);
  EXPECT_EQ(zip.read(zip.get("archive/data/weights/weight_0")).string_view(), std::string(8, '\1'));
  EXPECT_EQ(zip.get("archive/.data/serialization_id").size, 40U);
}

TEST(Pt2Writer, WhatWasWrittenReadsBackTheSame) {
  Context context;
  const ExportedProgram program = read(context, ProgramText());
  const std::string first = written(program);
  const ExportedProgram again = read_pt2(context, Bytes::own(first));
  EXPECT_EQ(written(again), first);
}

TEST(Pt2Writer, OlderReleasesDoNotGetLaterFields) {
  Context context;
  const ExportedProgram program = read(context, ProgramText());
  const std::string json = program_json(program, {.torch_version = "2.9"});
  EXPECT_THAT(json, AllOf(HasSubstr(R"("schema_version": {"major": 8, "minor": 14})"),
                          Not(HasSubstr(R"("name": "relu"}, {"target")")),
                          HasSubstr(R"("torch_version": "2.9.0")")));
  EXPECT_THAT(program_json(program, {.torch_version = "2.11.0"}),
              HasSubstr(R"("name": "relu"}, {"target")"));
}

TEST(Pt2Writer, FilesBeforeTheLayoutAreWrittenForItsFirstRelease) {
  ProgramText text;
  text.torch_version = "2.7.1+cu126";
  text.schema_version = R"({"major": 8, "minor": 7})";
  Context context;
  EXPECT_THAT(program_json(read(context, text)),
              AllOf(HasSubstr(R"("minor": 14)"), HasSubstr(R"("torch_version": "2.9.0")")));
}

TEST(Pt2Writer, RefusesReleasesBefore29) {
  Context context;
  const ExportedProgram program = read(context, ProgramText());
  EXPECT_THAT(error_of_writing(program, {.torch_version = "2.8"}),
              AllOf(HasSubstr("\"2.8\" is no PyTorch release that can be written for"),
                    HasSubstr("2.9 or a later one")));
}

TEST(Pt2Writer, UnknownFieldsSurvive) {
  ProgramText text;
  text.schema_version = R"({"major": 8, "minor": 23})";
  text.torch_version = "2.17.0";
  text.rest = R"(, "new_field": [1, 2.50])";
  text.graph_rest = R"(, "graph_field": {"a": null})";
  text.nodes =
      replaced(text.nodes, R"("name": "relu"}, )", R"("name": "relu", "node_field": "z"}, )");
  Context context;
  const ExportedProgram program = read(context, text);
  EXPECT_EQ(program_json(program), text.json());
  std::vector<Diagnostic> warnings;
  EXPECT_THAT(program_json(program, {.torch_version = "2.13"}, &warnings),
              AllOf(Not(HasSubstr("new_field")), Not(HasSubstr("graph_field")),
                    Not(HasSubstr("node_field"))));
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_THAT(warnings[0].str(), HasSubstr("fields of schema 8.23 are dropped"));
}

TEST(Pt2Writer, UnknownFieldsOfWeightsSurvive) {
  ProgramText text;
  text.schema_version = R"({"major": 8, "minor": 23})";
  text.torch_version = "2.17.0";
  const std::string config = replaced(
      replaced(replaced(test::weights_config(), R"("layout": 7)", R"("layout": 7, "a": 1)"),
               R"("layout": 7, "a": 1})", R"("layout": 7, "a": 1}, "b": [2])"),
      "}}}", R"(}}, "c": null})");
  Records records = archive_records(text.json());
  records[1].second = config;
  Context context;
  const ExportedProgram program = read(context, records);
  const auto config_of = [](const std::string& archive) {
    const ZipReader zip(Bytes::own(archive), "out.pt2");
    return std::string(
        zip.read(zip.get("archive/data/weights/model_weights_config.json")).string_view());
  };
  EXPECT_EQ(config_of(written(program)), config);
  std::string older;
  StringSink sink(older);
  const std::vector<Diagnostic> warnings = write_pt2(program, sink, {.torch_version = "2.13"});
  EXPECT_EQ(config_of(older), test::weights_config());
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_THAT(warnings[0].str(), HasSubstr("fields of schema 8.23 are dropped"));
}

TEST(Pt2Writer, WarnsOfAReleaseThatIsNotKnownYet) {
  Context context;
  const ExportedProgram program = read(context, ProgramText());
  std::vector<Diagnostic> warnings;
  EXPECT_THAT(program_json(program, {.torch_version = "2.14.1"}, &warnings),
              HasSubstr(R"("torch_version": "2.14.0")"));
  EXPECT_TRUE(warnings.empty());
  EXPECT_THAT(program_json(program, {.torch_version = "2.40"}, &warnings),
              HasSubstr(R"("torch_version": "2.40.0")"));
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_THAT(warnings[0].str(), HasSubstr("torch 2.40 is later than the latest release that is "
                                           "known, 2.14"));
}

TEST(Pt2Writer, AProgramOfALaterMajorVersionStaysSo) {
  ProgramText text;
  text.schema_version = R"({"major": 8, "minor": 31})";
  text.torch_version = "3.1.0";
  text.rest = R"(, "new_field": 1)";
  Context context;
  const ExportedProgram program = read(context, text);
  EXPECT_EQ(program_json(program), text.json());
  EXPECT_THAT(error_of_writing(program, {.torch_version = "3.1"}),
              HasSubstr("is no PyTorch release that can be written for"));
}

TEST(Pt2Writer, ArgumentsEqualToTheDefaultAreLeftOut) {
  ProgramText text;
  text.nodes = replaced(
      text.nodes, R"({"as_tensor": {"name": "x"}}, "kind": 1}])",
      R"({"as_tensor": {"name": "x"}}, "kind": 1}, {"name": "alpha", "arg": {"as_int": 1}, "kind": 2}])");
  Context context;
  EXPECT_EQ(program_json(read(context, text)), ProgramText().json());
}

/// `clamp(Tensor self, Scalar? min=None, Scalar? max=None)` of `p_w` with further inputs.
ProgramText clamp_with(std::string_view inputs) {
  ProgramText text;
  text.nodes = replaced(text.nodes, "torch.ops.aten.relu.default", "torch.ops.aten.clamp.default");
  const std::string self = R"({"as_tensor": {"name": "p_w"}}, "kind": 1})";
  text.nodes = replaced(text.nodes, self, self + ", " + std::string(inputs));
  return text;
}

TEST(Pt2Writer, DefaultsBeforeAGivenPositionAreFilledIn) {
  const ProgramText text = clamp_with(
      R"({"name": "min", "arg": {"as_none": true}, "kind": 1}, {"name": "max", "arg": {"as_int": 6}, "kind": 1})");
  Context context;
  EXPECT_EQ(program_json(read(context, text)), text.json());
}

TEST(Pt2Writer, WhatIsGivenByKeywordStaysSo) {
  const ProgramText text = clamp_with(R"({"name": "max", "arg": {"as_int": 6}, "kind": 2})");
  Context context;
  EXPECT_EQ(program_json(read(context, text)), text.json());
}

// `deserialize_inputs`: an argument of unknown kind is a keyword argument where it has a default.
TEST(Pt2Writer, ArgumentsOfUnknownKindAreGivenAsPyTorchReadsThem) {
  Context context;
  for (const char* kind : {R"(, "kind": 0)", R"(, "kind": null)", ""}) {
    const ProgramText text =
        clamp_with(R"({"name": "max", "arg": {"as_int": 6})" + std::string(kind) + "}");
    EXPECT_EQ(program_json(read(context, text)),
              clamp_with(R"({"name": "max", "arg": {"as_int": 6}, "kind": 2})").json());
  }
}

// uniform(Tensor self, float from=0., float to=1., ...): the name is a keyword of Python.
TEST(Pt2Writer, WhatPyTorchAsksForInAnyCaseIsWritten) {
  const auto uniform_with = [](const char* inputs) {
    ProgramText text = clamp_with(inputs);
    text.nodes = replaced(text.nodes, "aten.clamp.default", "aten.uniform.default");
    return text;
  };
  const char* to = R"({"name": "to", "arg": {"as_float": 2.0}, "kind": 2})";
  const char* from_and_to =
      R"({"name": "from", "arg": {"as_float": 0.0}, "kind": 1}, {"name": "to", "arg": {"as_float": 2.0}, "kind": 2})";
  Context context;
  EXPECT_EQ(program_json(read(context, uniform_with(to))), uniform_with(from_and_to).json());
}

// `deserialize_hoo_inputs`: what has no name, or is given by position, has its place by order.
TEST(Pt2Writer, ArgumentsOfHigherOrderCallsAreReadByOrder) {
  const auto out_dtype_with = [](std::string_view last) {
    ProgramText text;
    text.nodes =
        replaced(text.nodes, "torch.ops.aten.relu.default", "torch.ops.higher_order.out_dtype");
    const std::string self =
        R"({"name": "self", "arg": {"as_tensor": {"name": "p_w"}}, "kind": 1})";
    text.nodes =
        replaced(text.nodes, self,
                 R"({"name": "", "arg": {"as_operator": "torch.ops.aten.add.Tensor"}, "kind": 1}, )"
                 R"({"name": "", "arg": {"as_scalar_type": 7}, "kind": 1}, )" +
                     replaced(self, "self", "") + ", " + replaced(std::string(last), "@", "p_w"));
    return text;
  };
  const std::string plain =
      out_dtype_with(R"({"name": "", "arg": {"as_tensor": {"name": "@"}}, "kind": 1})").json();
  Context context;
  for (const char* other : {R"({"name": "", "arg": {"as_tensor": {"name": "@"}}, "kind": 2})",
                            R"({"name": "other", "arg": {"as_tensor": {"name": "@"}}, "kind": 1})"})
    EXPECT_EQ(program_json(read(context, out_dtype_with(other))), plain);
}

TEST(Pt2Writer, MutationMakesTheDialectTraining) {
  ProgramText text;
  text.nodes = replaced(text.nodes, "torch.ops.aten.add.Tensor", "torch.ops.aten.add_.Tensor");
  Context context;
  EXPECT_THAT(program_json(read(context, text)), HasSubstr(R"("verifiers": ["TRAINING"])"));
}

TEST(Pt2Writer, EveryArgumentKindIsWritten) {
  ProgramText text;
  text.nodes = test::node_with_every_argument();
  Context context;
  const std::string json = program_json(read(context, text));
  // Symbolic arguments that are constants come out as constants, an optional tensor that is there
  // as a tensor.
  text.nodes = replaced(text.nodes, R"({"as_sym_int": {"as_int": 4}})", R"({"as_int": 4})");
  text.nodes = replaced(text.nodes, R"({"as_sym_ints": [{"as_int": 3}]})", R"({"as_ints": [3]})");
  text.nodes =
      replaced(text.nodes, R"({"as_sym_bool": {"as_bool": true}})", R"({"as_bool": true})");
  text.nodes =
      replaced(text.nodes, R"({"as_sym_bools": [{"as_bool": false}]})", R"({"as_bools": [false]})");
  text.nodes =
      replaced(text.nodes, R"({"as_sym_float": {"as_float": 0.25}})", R"({"as_float": 0.25})");
  text.nodes =
      replaced(text.nodes, R"({"as_sym_floats": [{"as_float": 0.5}]})", R"({"as_floats": [0.5]})");
  text.nodes = replaced(text.nodes, R"({"as_optional_tensor": {"as_tensor": {"name": "x"}}})",
                        R"({"as_tensor": {"name": "x"}})");
  EXPECT_EQ(json, text.json());
}

TEST(Pt2Writer, InfinitiesKeepTheirSign) {
  ProgramText text;
  text.nodes =
      replaced(text.nodes, R"({"as_tensor": {"name": "x"}})", R"({"as_float": "-Infinity"})");
  Context context;
  EXPECT_THAT(program_json(read(context, text)), HasSubstr(R"({"as_float": "-Infinity"})"));
}

TEST(Pt2Writer, WeightsThatShareStorageShareARecord) {
  Records records = archive_records(ProgramText().json());
  const std::string meta(test::f32_2);
  const auto entry = [&](std::string_view name, const std::string& tensor_meta) {
    return "\"" + std::string(name) +
           R"(": {"path_name": "weight_0", "is_param": false, "use_pickle": false, "tensor_meta": )" +
           tensor_meta + "}";
  };
  test::set_record(records, "m/data/weights/model_weights_config.json",
                   R"({"config": {)" + entry("w", meta) + ", " + entry("v", meta) + ", " +
                       entry("i", replaced(meta, "\"dtype\": 7", "\"dtype\": 4")) + "}}");
  Context context;
  const ZipReader zip(Bytes::own(written(read(context, records))), "out.pt2");
  const std::string config(
      zip.read(zip.get("archive/data/weights/model_weights_config.json")).string_view());
  EXPECT_THAT(config, AllOf(HasSubstr(R"("w": {"path_name": "weight_0")"),
                            HasSubstr(R"("v": {"path_name": "weight_0")")));
  // PyTorch reads a record as elements of one dtype, so another dtype takes another record.
  EXPECT_THAT(config, HasSubstr(R"("i": {"path_name": "weight_1")"));
}

TEST(Pt2Writer, DamagedWeightsShowTheSameDamageInTheCopy) {
  const std::string damaged(8, '\2');
  const std::string source = replaced(test::make_zip(archive_records(ProgramText().json())),
                                      std::string(8, '\1'), damaged);
  Context context;
  const ZipReader zip(Bytes::own(written(read_pt2(context, Bytes::own(source), {}))), "out.pt2");
  const ZipEntry& weight = zip.get("archive/data/weights/weight_0");
  EXPECT_EQ(zip.stored_range(weight).string_view(), damaged);
  EXPECT_THROW(zip.check_crc(weight), Error);
}

TEST(Pt2Writer, NewConstantsGetARecord) {
  Context context;
  ExportedProgram program = read(context, ProgramText());
  const SymInt sizes[] = {3};
  const MetaId meta = context.contiguous_meta(ScalarType::uint8, sizes);
  (void)add_constant(program, "folded", meta, Bytes::own("abc"));
  const ZipReader zip(Bytes::own(written(program)), "out.pt2");
  EXPECT_EQ(zip.read(zip.get("archive/data/constants/tensor_0")).string_view(), "abc");
  EXPECT_THROW((void)add_constant(program, "folded", meta, Bytes::own("abc")), Error);
  EXPECT_THROW((void)add_constant(program, "short", meta, Bytes::own("ab")), Error);
}

TEST(Pt2Writer, WeightsWithoutBytesCannotBeWritten) {
  Context context;
  ExportedProgram program = read(context, ProgramText());
  program.storages[0].has_bytes = false;
  program.storages[0].bytes = Bytes();
  EXPECT_THAT(error_of_writing(program),
              AllOf(HasSubstr("weight \"w\" has no bytes"), HasSubstr("--weights")));
  attach_weights(program, Bytes::own(test::make_zip(archive_records(ProgramText().json()))),
                 {.file_name = "w.pt2"});
  EXPECT_THAT(error_of_writing(program), IsEmpty());
}

TEST(Pt2Writer, LostModuleSignaturesAreReported) {
  ProgramText text;
  text.module_call_graph =
      R"([{"fqn": "act", "signature": {"inputs": [{"as_tensor": {"name": "relu"}}], "outputs": [], "in_spec": "", "out_spec": "", "forward_arg_names": null}}])";
  Context context;
  ExportedProgram program = read(context, text);
  const std::vector<Node> inputs = program.graph->placeholders();
  Node relu = inputs[1].next();
  relu.next().replace_input_with(relu.value(), inputs[1].value());
  relu.erase();
  std::vector<Diagnostic> warnings;
  EXPECT_THAT(program_json(program, {}, &warnings),
              HasSubstr(R"({"fqn": "act", "signature": null})"));
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_THAT(warnings[0].str(), HasSubstr("the signature of module \"act\" is dropped"));
}

TEST(Pt2Writer, ArmsThatAReleaseLacksAreRefused) {
  ProgramText text;
  text.nodes = replaced(text.nodes, "torch.ops.aten.relu.default", "torch.ops.mine.any.default");
  text.nodes = replaced(text.nodes, R"({"as_tensor": {"name": "p_w"}})",
                        R"({"as_float_lists": [[1.5], [2.5]]})");
  Context context;
  const ExportedProgram program = read(context, text);
  EXPECT_EQ(program_json(program), text.json());
  EXPECT_THAT(error_of_writing(program, {.torch_version = "2.11"}),
              HasSubstr("an argument of kind as_float_lists is not known to the PyTorch release"));

  std::string bytes;
  StringSink sink(bytes);
  EXPECT_THROW((void)write_pt2(program, sink, {.torch_version = "2.11"}), Error);
  EXPECT_THAT(bytes, IsEmpty());  // a sink that is seen at once gets nothing of a failure
}

/// Says that it is transactional, as a file is that appears whole or not at all.
class TransactionalSink final : public ByteSink {
 public:
  explicit TransactionalSink(std::string& text) : sink_(text) {}
  using ByteSink::write;
  void write(std::span<const std::byte> bytes) override { sink_.write(bytes); }
  [[nodiscard]] bool is_transactional() const override { return true; }

 private:
  StringSink sink_;
};

TEST(Pt2Writer, TransactionalSinksGetTheSameBytesAndErrors) {
  Context context;
  const ExportedProgram program = read(context, ProgramText());
  std::string bytes;
  TransactionalSink sink(bytes);
  (void)write_pt2(program, sink);
  EXPECT_EQ(bytes, written(program));
  EXPECT_THROW((void)write_pt2(program, sink, {.torch_version = "2.8"}), Error);

  ProgramText text;
  text.nodes = replaced(text.nodes, "torch.ops.aten.relu.default", "torch.ops.mine.any.default");
  text.nodes = replaced(text.nodes, R"({"as_tensor": {"name": "p_w"}})",
                        R"({"as_float_lists": [[1.5], [2.5]]})");
  Context other;
  EXPECT_THROW((void)write_pt2(read(other, text), sink, {.torch_version = "2.11"}), Error);
}

}  // namespace
}  // namespace winze
