// SPDX-License-Identifier: Apache-2.0
#include "winze/program/pickle_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "winze/support/error_of.h"

namespace winze {
namespace {

using ::testing::HasSubstr;
using namespace std::string_literals;

Where where() {
  return {.file = "a.pt2", .record = "data.pkl"};
}

std::string error_of_pickle(const std::string& pickle) {
  return winze::error_of([&] { return read_pickle(pickle, where()); });
}

TEST(PickleReader, ReadsAnEmptyDictionary) {
  const std::string text = "\x80\x02}q\0."s;
  const Pickle pickle = read_pickle(text, where());
  EXPECT_EQ(pickle[pickle.root].kind, PickleKind::dictionary);
  EXPECT_TRUE(pickle[pickle.root].children.empty());
}

TEST(PickleReader, ReadsKeysAndValues) {
  const std::string text = "\x80\x02}(X\x01\0\0\0aK\x05X\x01\0\0\0b\x88u."s;
  const Pickle pickle = read_pickle(text, where());
  const PickleObject& root = pickle[pickle.root];
  ASSERT_EQ(root.children.size(), 4U);
  EXPECT_EQ(pickle[root.children[0]].text, "a");
  EXPECT_EQ(pickle[root.children[1]].integer, 5);
  EXPECT_TRUE(pickle[root.children[3]].boolean);
}

TEST(PickleReader, ReadsNumbersOfEveryWidth) {
  const std::string text =
      "\x80\x02(K\xFFM\xFF\xFFJ\xFE\xFF\xFF\xFF\x8A\x08\0\0\0\0\0\0\0\x80\x8A\0G?\xF0\0\0\0\0\0\0t."s;
  const Pickle pickle = read_pickle(text, where());
  const auto& items = pickle[pickle.root].children;
  ASSERT_EQ(items.size(), 6U);
  EXPECT_EQ(pickle[items[0]].integer, 255);
  EXPECT_EQ(pickle[items[1]].integer, 65535);
  EXPECT_EQ(pickle[items[2]].integer, -2);
  EXPECT_EQ(pickle[items[3]].integer, INT64_MIN);
  EXPECT_EQ(pickle[items[4]].integer, 0);
  EXPECT_EQ(pickle[items[5]].real, 1.0);
}

TEST(PickleReader, MemoGivesTheSameObjectAgain) {
  const std::string text = "\x80\x02X\x01\0\0\0aq\x07h\x07\x86."s;
  const Pickle pickle = read_pickle(text, where());
  const auto& items = pickle[pickle.root].children;
  EXPECT_EQ(items[0], items[1]);
}

TEST(PickleReader, ReadsATensor) {
  const std::string text =
      "\x80\x02"
      "ctorch._utils\n_rebuild_tensor_v2\n((X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\0"
      "0X\x03\0\0\0cpuK\x06tQK\x01K\x02\x85K\x01\x85\x89"
      "ccollections\nOrderedDict\n)RtR."s;
  const Pickle pickle = read_pickle(text, where());
  const PickleObject& tensor = pickle[pickle.root];
  EXPECT_EQ(tensor.kind, PickleKind::tensor);
  ASSERT_EQ(tensor.children.size(), 6U);
  const PickleObject& storage = pickle[tensor.children[0]];
  EXPECT_EQ(storage.kind, PickleKind::storage);
  EXPECT_EQ(pickle[storage.children[0]].text, "torch.FloatStorage");
  EXPECT_EQ(pickle[storage.children[3]].integer, 6);
}

/// The pickle of a tensor that attributes were set on, rebuilt by `callee` as `class_name`.
std::string attributed_tensor(const std::string& callee, const std::string& class_name,
                              const std::string& arguments) {
  return "\x80\x02"
         "ctorch._tensor\n_rebuild_from_type_v2\n("s +
         callee + class_name + arguments + "}X\x04\0\0\0note]stR."s;
}

TEST(PickleReader, ReadsATensorWithAttributes) {
  const std::string arguments =
      "((X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\0"
      "0X\x03\0\0\0"
      "cpuK\x06tQK\x01K\x02\x85K\x01\x85\x89"
      "ccollections\nOrderedDict\n)Rt"s;
  const std::string rebuild = "ctorch._utils\n_rebuild_tensor_v2\n";
  const std::string text = attributed_tensor(rebuild, "ctorch\nTensor\n", arguments);
  const Pickle pickle = read_pickle(text, where());
  EXPECT_EQ(pickle[pickle.root].kind, PickleKind::tensor);
  EXPECT_EQ(pickle[pickle.root].children.size(), 6U);

  EXPECT_THAT(error_of_pickle(attributed_tensor(rebuild, "c__main__\nMyTensor\n", arguments)),
              HasSubstr("refers to \"__main__.MyTensor\""));
  EXPECT_THAT(error_of_pickle(attributed_tensor(rebuild, "ctorch\nfloat32\n", arguments)),
              HasSubstr("a class that is not torch.Tensor"));
  EXPECT_THAT(error_of_pickle(attributed_tensor("ctorch._tensor\n_rebuild_from_type_v2\n",
                                                "ctorch\nTensor\n", arguments)),
              HasSubstr("a class twice"));
  EXPECT_THAT(error_of_pickle(attributed_tensor("K\x01", "ctorch\nTensor\n", arguments)),
              HasSubstr("calls what is no global"));
  EXPECT_THAT(error_of_pickle(attributed_tensor(rebuild, "ctorch\nTensor\n", ")")),
              HasSubstr("with 0 arguments"));
}

TEST(PickleReader, RefusesEveryOtherGlobalByName) {
  const std::string error = error_of_pickle(
      "\x80\x02"
      "cos\nsystem\nX\x02\0\0\0ls\x85R."s);
  EXPECT_THAT(error, HasSubstr("the pickle refers to \"os.system\""));
  EXPECT_THAT(error, HasSubstr("at byte 2 of the pickle"));
  EXPECT_THAT(error, HasSubstr("data.pkl"));
}

TEST(PickleReader, RefusesAGlobalFromTheStackByName) {
  EXPECT_THAT(error_of_pickle("\x80\x04\x8C\x08"
                              "builtins\x8C\x04"
                              "eval\x93."s),
              HasSubstr("\"builtins.eval\""));
}

TEST(PickleReader, ANameHasToFitAsAWhole) {
  EXPECT_THAT(error_of_pickle("\x80\x02"
                              "ctorch._utils\nx_rebuild_tensor_v2\n."s),
              HasSubstr("refers to"));
}

TEST(PickleReader, RefusesOtherOpcodes) {
  EXPECT_THAT(error_of_pickle("\x80\x02i__main__\nEvil\n."s), HasSubstr("the opcode 'i'"));
  EXPECT_THAT(error_of_pickle("\x80\x02\x82\x01."s), HasSubstr("the opcode 0x82"));
  EXPECT_THAT(error_of_pickle("\x80\x02)\x81."s), HasSubstr("the opcode 0x81"));
}

TEST(PickleReader, RefusesToCallWhatIsNoFunction) {
  EXPECT_THAT(error_of_pickle("\x80\x02"
                              "ctorch\nfloat32\n)R."s),
              HasSubstr("the pickle calls torch.float32, which is no function"));
  EXPECT_THAT(error_of_pickle("\x80\x02K\x01)R."s),
              HasSubstr("the pickle calls what is no global"));
}

TEST(PickleReader, RefusesWrongArguments) {
  EXPECT_THAT(error_of_pickle("\x80\x02"
                              "ctorch._utils\n_rebuild_tensor_v2\n)R."s),
              HasSubstr("with 0 arguments"));
}

TEST(PickleReader, SaysWhereItEnds) {
  EXPECT_THAT(error_of_pickle(""), HasSubstr("ends in the middle of an opcode, at byte 0"));
  EXPECT_THAT(error_of_pickle("\x80\x02X\xFF\xFF\xFF\xFFz"s),
              HasSubstr("ends in the middle of an opcode, at byte 2"));
  EXPECT_THAT(error_of_pickle("\x80\x02"
                              "cabc"s),
              HasSubstr("ends in the middle of an opcode"));
}

TEST(PickleReader, ChecksTheStack) {
  EXPECT_THAT(error_of_pickle("\x80\x02."s), HasSubstr("finds nothing on the stack"));
  EXPECT_THAT(error_of_pickle("\x80\x02(."s), HasSubstr("finds nothing on the stack"));
  EXPECT_THAT(error_of_pickle("\x80\x02t."s), HasSubstr("finds no mark on the stack"));
  EXPECT_THAT(error_of_pickle("\x80\x02NN."s), HasSubstr("objects left over"));
  EXPECT_THAT(error_of_pickle("\x80\x02h\x05."s), HasSubstr("slot 5 of the memo, which is empty"));
  EXPECT_THAT(error_of_pickle("\x80\x02N(K\x01K\x02u."s),
              HasSubstr("items are set on what is no dictionary"));
  EXPECT_THAT(error_of_pickle("\x80\x02}(K\x01u."s),
              HasSubstr("a key of a dictionary has no value"));
  EXPECT_THAT(error_of_pickle("\x80\x02K\x01Q."s),
              HasSubstr("a persistent id of the pickle is no storage"));
}

TEST(PickleReader, RefusesIntegersBeyond64Bits) {
  EXPECT_THAT(error_of_pickle("\x80\x02\x8A\x09\0\0\0\0\0\0\0\0\x01."s),
              HasSubstr("more than 64 bits"));
}

TEST(PickleReader, RefusesStringsThatAreNotUtf8) {
  EXPECT_THAT(error_of_pickle("\x80\x02X\x01\0\0\0\xFF."s), HasSubstr("not UTF-8"));
}

TEST(PickleReader, RefusesNewProtocols) {
  EXPECT_THAT(error_of_pickle("\x80\x06N."s), HasSubstr("newer than 5"));
}

}  // namespace
}  // namespace winze
