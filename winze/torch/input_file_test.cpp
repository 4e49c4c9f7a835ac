// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/input_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "winze/program/program_text.h"
#include "winze/program/test_archive.h"
#include "winze/support/error_of.h"
#include "winze/torch/element.h"
#include "winze/torch/torch_value_reader.h"

namespace winze {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace std::string_literals;

constexpr std::string_view program_text = R"(program "model" torch "2.13.0"
graph forward(%x: input f32[2], %flag: input constant = True, %n: input i64[]) {
  %y = aten.add.Tensor(%x, %n) : f32[2]
  return output %y
}
)";

std::string npy(const std::string& descr, const std::string& shape, const std::string& data) {
  const std::string header =
      "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + "}";
  return "\x93NUMPY\x01\0"s + static_cast<char>(header.size()) + '\0' + header + data;
}

std::string text(std::string_view value) {
  return "X"s + static_cast<char>(value.size()) + "\0\0\0"s + std::string(value);
}

/// The pickle of a tensor of one dimension of the storage `key`.
std::string tensor(std::string_view key, int size, int stride, int offset, int storage_size,
                   std::string_view storage_class = "FloatStorage") {
  const auto number = [](int value) { return "K"s + static_cast<char>(value); };
  return "ctorch._utils\n_rebuild_tensor_v2\n(("s + text("storage") + "ctorch\n" +
         std::string(storage_class) + "\n" + text(key) + text("cpu") + number(storage_size) + "tQ" +
         number(offset) + number(size) + "\x85" + number(stride) + "\x85\x89" +
         "ccollections\nOrderedDict\n)RtR";
}

std::string torch_file(const std::string& pickle, test::Records records = {}) {
  records.insert(records.begin(), {"archive/data.pkl", "\x80\x02" + pickle + "."});
  return test::make_zip(records);
}

class InputFileTest : public ::testing::Test {
 protected:
  std::vector<InputCase> read(const std::string& bytes) {
    return read_input_file(Bytes::copy(bytes), "in.file", program);
  }
  std::string error_of(const std::string& bytes) {
    return winze::error_of([&] { return read(bytes); });
  }
  Context context;
  ExportedProgram program = parse_program(context, program_text, "test.wz");
  test::Records storages = {{"archive/data/0", std::string(16, '\2')},
                            {"archive/data/1", std::string(8, '\3')}};
};

TEST_F(InputFileTest, ConstantsAreInputsWithAFixedValue) {
  const std::vector<Node> inputs = user_inputs(program);
  ASSERT_EQ(inputs.size(), 3U);
  EXPECT_FALSE(fixed_value(inputs[0]).has_value());
  EXPECT_TRUE(std::get<bool>(fixed_value(inputs[1])->content));
}

TEST_F(InputFileTest, ReadsWhatTorchSavesOfArgumentsAndKeywords) {
  const auto cases = read(torch_file("(" + tensor("0", 2, 1, 0, 4) + "\x88t}" + text("n") +
                                         tensor("1", 1, 1, 0, 1, "LongStorage") + "s\x86",
                                     storages));
  ASSERT_EQ(cases.size(), 1U);
  ASSERT_EQ(cases[0].values.size(), 3U);
  EXPECT_EQ(cases[0].values[0].type_text(), "tensor f32[2]");
  EXPECT_EQ(cases[0].values[1].type_text(), "bool");
  EXPECT_EQ(cases[0].values[2].type_text(), "tensor i64[1]");
}

TEST_F(InputFileTest, ReadsADictionaryByNameAndFillsInConstants) {
  const auto cases = read(
      torch_file("}(" + text("n") + "K\x05" + text("x") + tensor("0", 2, 1, 0, 4) + "u", storages));
  EXPECT_EQ(cases[0].values[0].type_text(), "tensor f32[2]");
  EXPECT_EQ(cases[0].values[1].type_text(), "bool");
  EXPECT_EQ(std::get<std::int64_t>(cases[0].values[2].content), 5);
}

TEST_F(InputFileTest, ViewsOfOneStorageStayViewsOfOneStorage) {
  const HostValue value = read_torch_value(
      Bytes::own(torch_file(tensor("0", 2, 2, 1, 4) + tensor("0", 4, 1, 0, 4) + "\x86", storages)),
      {.file = "x.pt"});
  const HostSequence& pair = *value.sequence();
  const HostTensor& odd = *pair.items[0].tensor();
  EXPECT_THAT(odd.strides, ElementsAre(2));
  EXPECT_EQ(odd.offset, 1);
  EXPECT_EQ(odd.storage.data(), pair.items[1].tensor()->storage.data());
}

TEST_F(InputFileTest, ReadsPlainValues) {
  const HostValue value = read_torch_value(
      Bytes::own(torch_file("(N\x88K\x07G?\xF0\0\0\0\0\0\0"s + text("word") +
                            "cbuiltins\ncomplex\nG?\xF0\0\0\0\0\0\0G@\0\0\0\0\0\0\0\x86R]K\x01"s +
                            "at")),
      {.file = "x.pt"});
  std::vector<std::string> types;
  for (const HostValue& item : value.sequence()->items) types.push_back(item.type_text());
  EXPECT_THAT(types, ElementsAre("None", "bool", "int", "float", "str", "complex", "tuple of 1"));
}

TEST_F(InputFileTest, RefusesEverythingElseByName) {
  EXPECT_THAT(error_of(torch_file("cos\nsystem\n" + text("ls") + "\x85R")),
              HasSubstr("\"os.system\""));
  EXPECT_THAT(error_of(torch_file("cos\nsystem\n" + text("ls") + "\x85R")),
              HasSubstr("which a container of plain tensors does not need"));
  EXPECT_THAT(error_of(torch_file("ctorch\nfloat32\n")),
              HasSubstr("\"torch.float32\", which is no value"));
  EXPECT_THAT(error_of(torch_file("c__main__\nBatch\n)\x81")), HasSubstr("\"__main__.Batch\""));
}

TEST_F(InputFileTest, AListInsideItselfIsRefused) {
  EXPECT_THAT(error_of(torch_file("]q\0h\0a"s)), HasSubstr("nested more than 64 deep"));
}

TEST_F(InputFileTest, RepeatedListsCannotGrowWithoutBound) {
  std::string pickle = "]K\x01"s + "aq\x01";
  for (int level = 0; level < 30; ++level) pickle += "h\x01\x86q\x01"s;
  EXPECT_THAT(error_of(torch_file(pickle)), HasSubstr("more than 1000000 values"));
}

TEST_F(InputFileTest, TensorsHaveToFitTheirStorage) {
  EXPECT_THAT(error_of(torch_file(tensor("0", 5, 1, 0, 4), storages)),
              HasSubstr("a tensor does not fit: it reaches beyond the 4 elements"));
  EXPECT_THAT(error_of(torch_file(tensor("0", 2, 1, 3, 4), storages)), HasSubstr("does not fit"));
  EXPECT_THAT(error_of(torch_file(tensor("7", 2, 1, 0, 4), storages)), HasSubstr("archive/data/7"));
}

TEST_F(InputFileTest, ReadsNpzByNameAndByNumber) {
  const std::string x = npy("<f4", "(2,)", std::string(8, '\0'));
  const std::string n = npy("<i8", "()", std::string(8, '\0'));
  for (const auto& records : {test::Records{{"n.npy", n}, {"x.npy", x}},
                              test::Records{{"arr_1.npy", n}, {"arr_0.npy", x}}}) {
    const auto cases = read(test::make_zip(records));
    ASSERT_EQ(cases[0].values.size(), 3U);
    EXPECT_EQ(cases[0].values[0].type_text(), "tensor f32[2]");
    EXPECT_EQ(cases[0].values[2].type_text(), "tensor i64[]");
  }
}

TEST_F(InputFileTest, NamesInputsThatAreMissingOrUnknown) {
  const std::string x = npy("<f4", "(2,)", std::string(8, '\0'));
  EXPECT_THAT(error_of(test::make_zip({{"x.npy", x}})), HasSubstr("no value for the input \"n\""));
  EXPECT_THAT(error_of(test::make_zip({{"x.npy", x}, {"n.npy", x}, {"z.npy", x}})),
              HasSubstr("\"z\", which is no input"));
  EXPECT_THAT(error_of(x), HasSubstr("holds 1 value, but the program has 3 inputs"));
}

TEST_F(InputFileTest, ReadsRecordedCalls) {
  const std::string manifest =
      R"({"cases": [{"inputs": [)"
      R"({"kind": "tensor", "npy": "a.npy", "dtype": "bfloat16", "shape": [2, 2], "strides": [1, 2]}, )"
      R"({"kind": "bool", "value": true}, {"kind": "float", "value": "inf"}]}]})";
  const auto cases =
      read(test::make_zip({{"manifest.json", manifest},
                           {"a.npy", npy("<u2", "(2, 2)", "\x80\x3F\0\x40\x40\x40\x80\x40"s)}}));
  ASSERT_EQ(cases.size(), 1U);
  EXPECT_EQ(cases[0].name, "case0");
  const HostTensor& first = *cases[0].values[0].tensor();
  EXPECT_EQ(first.type_text(), "bf16[2, 2]");
  EXPECT_THAT(first.strides, ElementsAre(1, 2));
  std::vector<double> numbers(4);
  read_numbers(first.dtype, contiguous_bytes(first).data(), numbers);
  EXPECT_THAT(numbers, ElementsAre(1, 2, 3, 4));
}

TEST_F(InputFileTest, ErrorsOfRecordedCallsNameThePath) {
  const auto error = [&](const std::string& value) {
    return error_of(
        test::make_zip({{"manifest.json", R"({"cases": [{"inputs": [)" + value + "]}]}"}}));
  };
  EXPECT_THAT(error(R"({"kind": "tensor", "npy": "b.npy"})"), HasSubstr("no member \"b.npy\""));
  EXPECT_THAT(error(R"({"kind": "object", "value": 1})"), HasSubstr("cases[0].inputs[0].kind"));
}

TEST_F(InputFileTest, WhatIsNoFileOfInputsIsNamed) {
  EXPECT_THAT(error_of("hello"), HasSubstr("\"in.file\" is no file of inputs"));
  EXPECT_THAT(error_of(test::make_zip({{"a/b", "c"}})), HasSubstr("no data.pkl"));
}

TEST_F(InputFileTest, ProgramsWithoutStoredInputsHaveNone) {
  EXPECT_FALSE(stored_inputs(program).has_value());
}

}  // namespace
}  // namespace winze
