// SPDX-License-Identifier: Apache-2.0
#include "winze/support/bytes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "winze/support/diagnostic.h"

namespace winze {
namespace {

using ::testing::HasSubstr;

std::string temporary_path(const std::string& name) {
  return ::testing::TempDir() + "winze_bytes_" + std::to_string(::getpid()) + "_" + name;
}

TEST(Bytes, SharesOneBufferAmongSlices) {
  Bytes part;
  {
    const Bytes whole = Bytes::copy("hello world, this is a longer text");
    part = whole.slice(6, 5).slice(1, 3);
    EXPECT_EQ(part.data(), whole.data() + 7);
  }
  EXPECT_EQ(part.string_view(), "orl");
}

TEST(Bytes, SlicesUpToTheEndButNotBeyond) {
  const Bytes bytes = Bytes::borrow("abc");
  EXPECT_EQ(bytes.slice(3, 0).size(), 0U);
  EXPECT_THROW(static_cast<void>(bytes.slice(3, 1)), InternalError);
  EXPECT_THROW(static_cast<void>(bytes.slice(4, 0)), InternalError);
  EXPECT_THROW(static_cast<void>(bytes.slice(1, ~std::size_t{0})), InternalError);
}

TEST(Bytes, KeepsAShortOwnedStringInPlace) {
  Bytes bytes = Bytes::own("ab");  // shorter than what a string holds without a buffer
  const std::byte* data = bytes.data();
  const Bytes moved = std::move(bytes);
  EXPECT_EQ(moved.data(), data);
  EXPECT_EQ(moved.string_view(), "ab");
}

TEST(MapFile, MapsAFileBeyondTheLifeOfItsName) {
  const std::string path = temporary_path("map");
  std::ofstream(path) << "content";
  const Bytes bytes = map_file(path);
  ::unlink(path.c_str());
  EXPECT_EQ(bytes.string_view(), "content");
}

TEST(MapFile, CopiesPartsOfSlices) {
  const std::string path = temporary_path("copy");
  std::ofstream(path) << "0123456789";
  for (const Bytes& bytes : {map_file(path), Bytes::copy("0123456789")}) {
    std::string part(3, ' ');
    bytes.slice(2, 6).copy_to(part, 3);
    EXPECT_EQ(part, "567");
    EXPECT_THROW(bytes.slice(2, 6).copy_to(part, 4), InternalError);
    EXPECT_NO_THROW(Bytes().copy_to({}, 0));
  }
  ::unlink(path.c_str());
}

TEST(MapFile, MapsPagesOfAnyPart) {
  const std::string path = temporary_path("pages");
  const std::string text(100'000, 'x');
  std::ofstream(path) << text;
  const Bytes whole = map_file(path);
  whole.map_pages();
  const Bytes part = whole.slice(5'000, 60'001);
  part.map_pages();
  EXPECT_EQ(part.string_view(), text.substr(5'000, 60'001));
  whole.slice(text.size(), 0).map_pages();
  Bytes().map_pages();
  Bytes::copy("heap").map_pages();
  ASSERT_EQ(::truncate(path.c_str(), 0), 0);
  part.map_pages();  // there is nothing to map any more; reading it would tell
  ::unlink(path.c_str());
}

TEST(MapFile, SaysThatAFileWasShortened) {
  const std::string path = temporary_path("short");
  std::ofstream(path) << "0123456789";
  const Bytes bytes = map_file(path);
  ASSERT_EQ(::truncate(path.c_str(), 4), 0);
  std::string part(3, ' ');
  EXPECT_THROW(bytes.copy_to(part, 5), Error);
  ::unlink(path.c_str());
}

TEST(MapFile, ReadsAnEmptyFile) {
  const std::string path = temporary_path("empty");
  std::ofstream(path) << "";
  EXPECT_TRUE(map_file(path).empty());
  ::unlink(path.c_str());
}

TEST(MapFile, ReadsAPipe) {
  const std::string path = temporary_path("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const std::string content(200'000, 'x');
  std::thread writer([&] { std::ofstream(path) << content; });
  const Bytes bytes = map_file(path);
  writer.join();
  ::unlink(path.c_str());
  EXPECT_EQ(bytes.string_view(), content);
}

TEST(MapFile, NamesWhatCannotBeOpened) {
  try {
    map_file("/nowhere/at/all.pt2");
    FAIL() << "the file was read";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "/nowhere/at/all.pt2: error: cannot read: No such file or directory");
  }
  try {
    map_file(::testing::TempDir());
    FAIL() << "the folder was read";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("cannot read: it is a folder"));
  }
}

TEST(ReadStream, ReadsToTheEnd) {
  std::istringstream stream(std::string(100'000, 'a') + "b");
  const Bytes bytes = read_stream(stream, "stdin");
  EXPECT_EQ(bytes.size(), 100'001U);
  EXPECT_EQ(bytes.string_view().back(), 'b');
}

TEST(ReadStream, ReadsAStandardFile) {
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  std::fputs("some text", file);
  std::fseek(file, 0, SEEK_SET);
  EXPECT_EQ(read_stream(file, "stdin").string_view(), "some text");
  std::fclose(file);
}

TEST(ReadStream, StopsAtItsLimit) {
  std::istringstream fits("12345");
  EXPECT_EQ(read_stream(fits, "stdin", 5).size(), 5U);
  std::istringstream stream(std::string(300'000, 'a'));
  try {
    read_stream(stream, "stdin", 5);
    FAIL() << "the limit was passed";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "stdin: error: holds more than the 5 bytes that are read\n"
                 "  hint: save it as a file, which is mapped and not read");
  }
}

}  // namespace
}  // namespace winze
