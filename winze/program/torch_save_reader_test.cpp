// SPDX-License-Identifier: Apache-2.0
#include "winze/program/torch_save_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "winze/program/test_archive.h"
#include "winze/support/error_of.h"

namespace winze {
namespace {

using ::testing::HasSubstr;
using namespace std::string_literals;

std::string text(std::string_view value) {
  return "X"s + static_cast<char>(value.size()) + "\0\0\0"s + std::string(value);
}

/// The pickle of a float tensor of the storage `key`.
std::string tensor(std::string_view key, int size, int stride, int offset, int storage_size,
                   std::string_view storage_class = "FloatStorage") {
  const auto number = [](int value) { return "K"s + static_cast<char>(value); };
  return "ctorch._utils\n_rebuild_tensor_v2\n(("s + text("storage") + "ctorch\n" +
         std::string(storage_class) + "\n" + text(key) + text("cpu") + number(storage_size) + "tQ" +
         number(offset) + number(size) + "\x85" + number(stride) + "\x85\x89" +
         "ccollections\nOrderedDict\n)RtR";
}

std::string parameter(const std::string& data) {
  return "ctorch._utils\n_rebuild_parameter\n"s + data + "\x88" +
         "ccollections\nOrderedDict\n)R\x87R";
}

/// One that attributes were set on.
std::string attributed_parameter(const std::string& data) {
  return "ctorch._utils\n_rebuild_parameter_with_state\n("s + data + "\x88" +
         "ccollections\nOrderedDict\n)R}" + text("note") + "\x88stR";
}

std::string dictionary(const std::string& items) {
  return "\x80\x02}("s + items + "u.";
}

class TorchSaveTest : public ::testing::Test {
 protected:
  void read(const test::Records& records) {
    read_torch_save(program, program.state_dict, Bytes::own(test::make_zip(records)),
                    {.file = "a.pt2", .record = "w.pt"});
  }
  std::string error_of(const test::Records& records) {
    return winze::error_of([&] { read(records); });
  }
  Context context;
  ExportedProgram program{context};
};

TEST_F(TorchSaveTest, ReadsParametersAndBuffersOverOneStorage) {
  read({{"archive/data.pkl", dictionary(text("w") + parameter(tensor("0", 2, 1, 0, 4)) + text("b") +
                                        tensor("0", 2, 1, 2, 4))},
        {"archive/data/0", std::string(16, '\2')},
        {"archive/byteorder", "little"}});
  ASSERT_EQ(program.state_dict.size(), 2U);
  const Weight* w = program.state_dict.find("w");
  const Weight* b = program.state_dict.find("b");
  EXPECT_TRUE(w->is_param);
  EXPECT_TRUE(context.meta(w->meta).tensor.requires_grad);
  EXPECT_FALSE(b->is_param);
  EXPECT_EQ(w->storage, b->storage);
  EXPECT_EQ(context.meta(b->meta).tensor.storage_offset, SymInt(2));
  EXPECT_EQ(program.storage(*w).bytes.size(), 16U);
}

TEST_F(TorchSaveTest, ReadsAParameterWithAttributes) {
  read({{"archive/data.pkl", dictionary(text("w") + attributed_parameter(tensor("0", 2, 1, 0, 4)))},
        {"archive/data/0", std::string(16, '\2')},
        {"archive/byteorder", "little"}});
  const Weight* w = program.state_dict.find("w");
  ASSERT_NE(w, nullptr);
  EXPECT_TRUE(w->is_param);
  EXPECT_TRUE(context.meta(w->meta).tensor.requires_grad);
}

TEST_F(TorchSaveTest, NothingAtAllIsAnEmptyDictionary) {
  read_torch_save(program, program.state_dict, Bytes(), {});
  EXPECT_TRUE(program.state_dict.empty());
}

TEST_F(TorchSaveTest, TensorsHaveToFitTheirStorage) {
  EXPECT_THAT(error_of({{"archive/data.pkl", dictionary(text("w") + tensor("0", 5, 1, 0, 4))},
                        {"archive/data/0", std::string(16, '\2')}}),
              HasSubstr("weight \"w\" does not fit"));
  EXPECT_THAT(
      error_of({{"archive/data.pkl", dictionary(text("w") + tensor("0", 2, 1, 0, 9))},
                {"archive/data/0", std::string(16, '\2')}}),
      HasSubstr("has 9 elements by the pickle, but its record \"archive/data/0\" only 16 bytes"));
  EXPECT_THAT(error_of({{"archive/data.pkl", dictionary(text("w") + tensor("1", 2, 1, 0, 4))},
                        {"archive/data/0", std::string(16, '\2')}}),
              HasSubstr("archive/data/1"));
}

TEST_F(TorchSaveTest, OnlyTensorsMayBeInTheDictionary) {
  EXPECT_THAT(error_of({{"archive/data.pkl", dictionary(text("w") + "K\x05")}}),
              HasSubstr("\"w\" is no plain tensor"));
  EXPECT_THAT(error_of({{"archive/data.pkl", "\x80\x02K\x05."s}}),
              HasSubstr("something else than a dictionary"));
  EXPECT_THAT(error_of({{"archive/data.pkl", dictionary("K\x05" + tensor("0", 2, 1, 0, 4))}}),
              HasSubstr("is no string"));
}

TEST_F(TorchSaveTest, UnknownStoragesAreRefusedByName) {
  EXPECT_THAT(error_of({{"archive/data.pkl",
                         dictionary(text("w") + tensor("0", 2, 1, 0, 4, "QInt8Storage"))}}),
              HasSubstr("\"torch.QInt8Storage\""));
}

TEST_F(TorchSaveTest, OtherFormatsAreNamed) {
  const auto message = [&](const std::string& bytes) {
    try {
      read_torch_save(program, program.state_dict, Bytes::own(bytes),
                      {.file = "a.pt2", .record = "w.pt"});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return ""s;
  };
  EXPECT_THAT(message("\x80\x02\x8a\x0a"), HasSubstr("before PyTorch 1.6"));
  EXPECT_THAT(message(test::make_zip({{"a/b", "c"}})), HasSubstr("no data.pkl"));
  EXPECT_THAT(
      message(test::make_zip({{"archive/data.pkl", dictionary("")}, {"archive/byteorder", "big"}})),
      HasSubstr("big-endian"));
}

}  // namespace
}  // namespace winze
