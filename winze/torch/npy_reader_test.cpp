// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/npy_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "winze/support/diagnostic.h"
#include "winze/support/error_of.h"

namespace winze {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace std::string_literals;

std::string npy(const std::string& header, const std::string& data) {
  return "\x93NUMPY\x01\0"s + static_cast<char>(header.size() & 0xFFU) +
         static_cast<char>(header.size() >> 8U) + header + data;
}

HostTensor read(const std::string& bytes) {
  return read_npy(Bytes::copy(bytes), "a.npy");
}

std::string error_of(const std::string& bytes) {
  return winze::error_of([&] { return read(bytes); });
}

TEST(NpyReader, ReadsAnArray) {
  const HostTensor tensor = read(npy(
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n", std::string(24, 'x')));
  EXPECT_EQ(tensor.type_text(), "f32[2, 3]");
  EXPECT_THAT(tensor.strides, ElementsAre(3, 1));
  EXPECT_EQ(contiguous_bytes(tensor).string_view(), std::string(24, 'x'));
}

TEST(NpyReader, ReadsFortranOrderAsStrides) {
  const HostTensor tensor =
      read(npy("{'descr': '<i8', 'fortran_order': True, 'shape': (2, 3)}", std::string(48, '\0')));
  EXPECT_THAT(tensor.strides, ElementsAre(1, 2));
}

TEST(NpyReader, ReadsScalarsAndEmptyArrays) {
  EXPECT_EQ(read(npy("{'descr': '|b1', 'fortran_order': False, 'shape': ()}", "\1")).type_text(),
            "b8[]");
  EXPECT_EQ(read(npy("{'descr': '<c16', 'fortran_order': False, 'shape': (0, 5)}", "")).type_text(),
            "c128[0, 5]");
}

TEST(NpyReader, RefusesWhatNoTensorIs) {
  EXPECT_THAT(error_of(npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "x")),
              HasSubstr("dtype \"|O\", which no tensor has"));
  EXPECT_THAT(
      error_of(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "x")),
      HasSubstr("array of records"));
  EXPECT_THAT(error_of(npy("{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}", "xxxx")),
              HasSubstr("big-endian"));
}

TEST(NpyReader, MalformedFilesAreOneError) {
  EXPECT_THAT(error_of("abc"), HasSubstr("\"a.npy\" is no .npy file"));
  EXPECT_THAT(error_of("\x93NUMPY\x01\0\xFF"s), HasSubstr("is cut off"));
  EXPECT_THAT(error_of("\x93NUMPY\x01\0\xFF\0{'descr'"s), HasSubstr("is cut off"));
  EXPECT_THAT(error_of("\x93NUMPY\x09\0\x01\0      "s), HasSubstr("version 9"));
  EXPECT_THAT(error_of("\x93NUMPY\x02\0\xFF\xFF\xFF\x7F      "s),
              HasSubstr("header of 2147483647 bytes"));
  EXPECT_THAT(error_of(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", "xxxx")),
              HasSubstr("holds 4 bytes of elements, but its header speaks of 8"));
  EXPECT_THAT(error_of(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", "")),
              HasSubstr("no natural number"));
  EXPECT_THAT(
      error_of(
          npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4)}", "")),
      HasSubstr("too many elements"));
  EXPECT_THAT(error_of(npy("{'descr': '<f4', 'shape': ()}", "xxxx")), HasSubstr("lacks"));
  EXPECT_THAT(error_of(npy("{'descr': '<f4', 'fortran_order': Maybe, 'shape': ()}", "xxxx")),
              HasSubstr("no 'False'"));
  EXPECT_THAT(error_of(npy("{'x': 1}", "")), HasSubstr("the key \"x\""));
  EXPECT_THAT(
      error_of(npy("{'descr': '<f4', 'fortran_order': False, 'shape': ()} import os", "xxxx")),
      HasSubstr("something follows its header"));
}

}  // namespace
}  // namespace winze
