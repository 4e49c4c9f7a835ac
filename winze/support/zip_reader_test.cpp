// SPDX-License-Identifier: Apache-2.0
#include "winze/support/zip_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libdeflate.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "winze/support/digest.h"
#include "winze/support/error_of.h"
#include "winze/support/zip_format.h"

namespace winze {
namespace {

using ::testing::HasSubstr;
using zip::append_number;

std::uint32_t crc_of(const std::string& text) {
  return libdeflate_crc32(0, text.data(), text.size());
}

std::string deflated(const std::string& text) {
  libdeflate_compressor* compressor = libdeflate_alloc_compressor(9);
  std::string out(libdeflate_deflate_compress_bound(compressor, text.size()), '\0');
  out.resize(
      libdeflate_deflate_compress(compressor, text.data(), text.size(), out.data(), out.size()));
  libdeflate_free_compressor(compressor);
  return out;
}

/// One record, each field of which may be made to lie.
struct Part {
  std::string name;
  std::string data;
  std::uint32_t crc = 0;
  std::uint32_t size = 0;
  std::uint32_t compressed = 0;
  std::uint16_t method = zip::method_stored;
  std::uint16_t flags = 0;
  std::uint16_t disk = 0;
  std::string local_name;
  std::uint16_t local_method = zip::method_stored;
  std::uint32_t local_size = 0;
  std::optional<std::uint32_t> offset;
  std::string extra;
  std::string local_extra;
};

Part stored(const std::string& name, const std::string& data) {
  const auto size = static_cast<std::uint32_t>(data.size());
  return {.name = name,
          .data = data,
          .crc = crc_of(data),
          .size = size,
          .compressed = size,
          .local_name = name,
          .local_size = size};
}

Part compressed(const std::string& name, const std::string& data) {
  Part part = stored(name, deflated(data));
  part.crc = crc_of(data);
  part.method = part.local_method = zip::method_deflate;
  part.size = part.local_size = static_cast<std::uint32_t>(data.size());
  return part;
}

struct End {
  std::uint16_t disk = 0;
  int extra_count = 0;
  int extra_size = 0;
  int extra_offset = 0;
  bool zip64 = false;
  std::string comment;
};

void append_local(std::string& out, const Part& part) {
  append_number(out, zip::local_signature);
  append_number(out, std::uint16_t{20});
  append_number(out, part.flags);
  append_number(out, part.local_method);
  append_number(out, std::uint32_t{0});
  append_number(out, part.crc);
  append_number(out, static_cast<std::uint32_t>(part.compressed));
  append_number(out, part.local_size);
  append_number(out, static_cast<std::uint16_t>(part.local_name.size()));
  append_number(out, static_cast<std::uint16_t>(part.local_extra.size()));
  out += part.local_name + part.local_extra + part.data;
}

void append_central(std::string& out, const Part& part, std::uint32_t offset) {
  append_number(out, zip::central_signature);
  append_number(out, std::uint32_t{0});
  append_number(out, part.flags);
  append_number(out, part.method);
  append_number(out, std::uint32_t{0});
  append_number(out, part.crc);
  append_number(out, part.compressed);
  append_number(out, part.size);
  append_number(out, static_cast<std::uint16_t>(part.name.size()));
  append_number(out, static_cast<std::uint16_t>(part.extra.size()));
  append_number(out, std::uint16_t{0});
  append_number(out, part.disk);
  append_number(out, std::uint16_t{0});
  append_number(out, std::uint32_t{0});
  append_number(out, part.offset.value_or(offset));
  out += part.name + part.extra;
}

std::string archive(const std::vector<Part>& parts, const End& end = {}) {
  std::string out;
  std::string central;
  for (const Part& part : parts) {
    append_central(central, part, static_cast<std::uint32_t>(out.size()));
    append_local(out, part);
  }
  const auto offset =
      static_cast<std::uint32_t>(out.size()) + static_cast<std::uint32_t>(end.extra_offset);
  const auto size =
      static_cast<std::uint32_t>(central.size()) + static_cast<std::uint32_t>(end.extra_size);
  const auto count = static_cast<std::uint16_t>(static_cast<int>(parts.size()) + end.extra_count);
  out += central;
  if (end.zip64) {
    const std::uint64_t at = out.size();
    append_number(out, zip::zip64_end_signature);
    append_number(out, std::uint64_t{44});
    append_number(out, std::uint32_t{0});
    append_number(out, std::uint64_t{0});
    append_number(out, std::uint64_t{count});
    append_number(out, std::uint64_t{count});
    append_number(out, std::uint64_t{size});
    append_number(out, std::uint64_t{offset});
    append_number(out, zip::zip64_locator_signature);
    append_number(out, std::uint32_t{0});
    append_number(out, at);
    append_number(out, std::uint32_t{1});
  }
  append_number(out, zip::end_signature);
  append_number(out, end.disk);
  append_number(out, end.disk);
  append_number(out, end.zip64 ? zip::saturated16 : count);
  append_number(out, end.zip64 ? zip::saturated16 : count);
  append_number(out, end.zip64 ? zip::saturated32 : size);
  append_number(out, end.zip64 ? zip::saturated32 : offset);
  append_number(out, static_cast<std::uint16_t>(end.comment.size()));
  return out + end.comment;
}

ZipReader open(const std::string& bytes, ZipLimits limits = {}) {
  return {Bytes::copy(bytes), "a.pt2", limits};
}

std::string error_of_reading(const std::string& bytes) {
  return error_of([&] { open(bytes); });
}

TEST(ZipReader, ListsRecordsInOrder) {
  const ZipReader reader =
      open(archive({stored("r/b", "two"), stored("r/a", ""), compressed("r/c", "ccc")}));
  ASSERT_EQ(reader.entries().size(), 3U);
  EXPECT_EQ(reader.entries()[0].name, "r/b");
  EXPECT_EQ(reader.entries()[0].size, 3U);
  EXPECT_EQ(reader.entries()[1].name, "r/a");
  EXPECT_EQ(reader.entries()[2].method, ZipMethod::deflate);
  EXPECT_EQ(reader.find("r/c"), &reader.entries()[2]);
  EXPECT_EQ(reader.find("r/d"), nullptr);
  EXPECT_EQ(error_of([&] { static_cast<void>(reader.get("r/d")); }),
            "a.pt2: r/d: error: the archive has no such record");
}

TEST(ZipReader, GivesStoredContentWithoutCopy) {
  const ZipReader reader = open(archive({stored("a", "first"), stored("b", "second")}));
  const Bytes content = reader.stored_range(reader.get("b"));
  EXPECT_EQ(content.string_view(), "second");
  EXPECT_EQ(content.data(), reader.bytes().data() + reader.get("b").data_offset);
}

TEST(ZipReader, InflatesAndChecksContent) {
  const std::string text(100'000, 'x');
  const ZipReader reader = open(archive({compressed("a", text), compressed("empty", "")}));
  EXPECT_EQ(reader.read(reader.get("a")).string_view(), text);
  EXPECT_EQ(reader.read(reader.get("empty")).size(), 0U);
  EXPECT_EQ(error_of([&] { static_cast<void>(reader.stored_range(reader.get("a"))); }),
            "a.pt2: a: error: the record is compressed and cannot be mapped\n"
            "  hint: store it without compression");
}

TEST(ZipReader, OpensAnEmptyArchive) {
  EXPECT_TRUE(open(archive({})).entries().empty());
}

TEST(ZipReader, AllowsAComment) {
  EXPECT_EQ(
      open(archive({stored("a", "x")}, {.comment = "PK\x05\x06 a comment that looks like an end"}))
          .entries()
          .size(),
      1U);
}

TEST(ZipReader, ReadsZip64EndRecords) {
  const ZipReader reader = open(archive({stored("a", "x"), stored("b", "y")}, {.zip64 = true}));
  EXPECT_EQ(reader.read(reader.get("b")).string_view(), "y");
}

TEST(ZipReader, ReadsZip64Sizes) {
  Part part = stored("a", "content");
  append_number(part.extra, std::uint16_t{0x4242});  // another field before it
  append_number(part.extra, std::uint16_t{1});
  part.extra += '?';
  append_number(part.extra, zip::zip64_extra_id);
  append_number(part.extra, std::uint16_t{16});
  append_number(part.extra, std::uint64_t{7});
  append_number(part.extra, std::uint64_t{7});
  part.size = part.compressed = part.local_size = zip::saturated32;
  const ZipReader reader = open(archive({part}));
  EXPECT_EQ(reader.read(reader.get("a")).string_view(), "content");
}

TEST(ZipReader, IgnoresSizesOfLocalHeadersWithDescriptors) {
  Part part = stored("a", "content");
  part.flags = zip::flag_descriptor;
  part.local_size = 0;
  EXPECT_EQ(open(archive({part})).entries()[0].size, 7U);
}

TEST(ZipReader, SkipsTheLocalExtraField) {
  Part part = stored("a", "content");
  part.local_extra = std::string("FB\x03\0ZZZ", 7);
  const ZipReader reader = open(archive({part}));
  EXPECT_EQ(reader.stored_range(reader.get("a")).string_view(), "content");
}

TEST(ZipReader, TellsArchivesApartByTheirDigest) {
  const std::string digest = open(archive({stored("a", "x"), stored("b", "y")})).digest();
  EXPECT_EQ(digest.size(), 32U);
  EXPECT_EQ(open(archive({stored("b", "y"), stored("a", "x")})).digest(), digest)
      << "order does not matter";
  EXPECT_NE(open(archive({stored("a", "x"), stored("b", "z")})).digest(), digest);
  EXPECT_NE(open(archive({stored("a", "x"), stored("c", "y")})).digest(), digest);
  EXPECT_NE(open(archive({stored("a", "x")})).digest(), digest);
}

TEST(ZipReader, KnowsArchivesByTheirFirstBytes) {
  EXPECT_TRUE(ZipReader::looks_like_zip(archive({stored("a", "x")})));
  EXPECT_TRUE(ZipReader::looks_like_zip(archive({})));
  EXPECT_FALSE(ZipReader::looks_like_zip("PK"));
  EXPECT_FALSE(ZipReader::looks_like_zip("program \"x\""));
}

TEST(ZipReader, RefusesWhatIsNoArchive) {
  EXPECT_EQ(error_of_reading("hello"), "a.pt2: error: not a zip archive: no end record");
  EXPECT_EQ(error_of_reading(""), "a.pt2: error: not a zip archive: no end record");
}

TEST(ZipReader, RefusesEveryTruncation) {
  for (const bool zip64 : {false, true}) {
    const std::string whole =
        archive({stored("a", "content"), compressed("b", "text")}, {.zip64 = zip64});
    for (std::size_t size = 0; size < whole.size(); ++size) {
      EXPECT_NE(error_of_reading(whole.substr(0, size)), "") << size;
    }
    EXPECT_NE(error_of_reading(whole + "x"), "");
  }
  EXPECT_EQ(error_of_reading(archive({stored("a", "content")}).substr(0, 60)),
            "a.pt2: error: the archive is truncated: no end record\n"
            "  hint: copy or export the file again");
}

TEST(ZipReader, SurvivesEveryFlippedBit) {
  const std::string whole =
      archive({stored("ab/c", "content"), compressed("ab/d", "some text")}, {.zip64 = true});
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    try {
      const ZipReader reader = open(flipped);
      for (const ZipEntry& entry : reader.entries()) static_cast<void>(reader.read(entry));
    } catch (const Error& error) {
      EXPECT_STRNE(error.what(), "") << "bit " << bit;
    }
  }
}

TEST(ZipReader, RefusesOverlappingRecords) {
  Part second = stored("b", "y");
  second.offset = 0;
  second.local_name = "b";
  EXPECT_EQ(error_of_reading(archive({stored("b2", "x"), second})),
            "a.pt2: b: error: the local header has another name than the central directory");
  // A record whose header is inside of the content of another.
  std::string inner;
  append_local(inner, stored("b", "y"));
  Part outer = stored("a", inner);
  second.offset = zip::local_size + 1;
  EXPECT_EQ(error_of_reading(archive({outer, second})),
            "a.pt2: b: error: the record overlaps \"a\"");
}

TEST(ZipReader, RefusesOneRecordListedTwice) {
  EXPECT_EQ(error_of_reading(archive({stored("a", "x"), stored("a", "y")})),
            "a.pt2: a: error: two records have this name");
}

TEST(ZipReader, RefusesOffsetsOutside) {
  Part part = stored("a", "x");
  part.offset = 1000;
  EXPECT_EQ(
      error_of_reading(archive({part})),
      "a.pt2: a: error: the record begins at 1000, outside of the archive's 32 bytes of content");
  part = stored("a", "x");
  part.offset = 1;
  EXPECT_THAT(error_of_reading(archive({stored("bc", "x"), part})),
              HasSubstr("no local header at 1"));
  part = stored("a", "x");
  part.size = part.compressed = part.local_size = 50;
  EXPECT_EQ(error_of_reading(archive({part})),
            "a.pt2: a: error: the record's 50 bytes at 0 reach past the 32 bytes of content");
}

TEST(ZipReader, RefusesDirectoriesThatLie) {
  const std::vector<Part> parts = {stored("a", "x")};
  EXPECT_THAT(error_of_reading(archive(parts, {.extra_count = 1})),
              HasSubstr("too small (47 bytes) for 2 records"));
  EXPECT_THAT(error_of_reading(archive(parts, {.extra_count = -1})),
              HasSubstr("has 47 bytes behind its 0 records"));
  EXPECT_THAT(error_of_reading(archive(parts, {.extra_size = 1})),
              HasSubstr("lies outside of the 79 bytes before it"));
  EXPECT_THAT(error_of_reading(archive(parts, {.extra_offset = 1})), HasSubstr("lies outside"));
  EXPECT_THAT(error_of_reading(archive(parts, {.extra_size = 1, .extra_offset = -1})),
              HasSubstr("damaged at record 0"));
  EXPECT_THAT(error_of_reading(archive(parts, {.extra_size = -2})), HasSubstr("too small"));
  EXPECT_THAT(error_of_reading(archive(parts, {.extra_size = -1})),
              HasSubstr("ends inside of record 0"));
}

TEST(ZipReader, BoundsTheNumberOfRecords) {
  EXPECT_EQ(
      error_of([] { open(archive({stored("a", "x"), stored("b", "y")}), {.max_entries = 1}); }),
      "a.pt2: error: the archive has 2 records, more than the 1 allowed");
}

TEST(ZipReader, RefusesContradictingEndRecords) {
  std::string bytes = archive({stored("a", "x")}, {.zip64 = true});
  bytes[bytes.size() - 14] = 5;  // the count of the plain end record
  bytes[bytes.size() - 13] = 0;
  bytes[bytes.size() - 12] = 5;
  bytes[bytes.size() - 11] = 0;
  EXPECT_THAT(error_of_reading(bytes),
              HasSubstr("the end record and the zip64 end record contradict each other"));
}

TEST(ZipReader, RefusesAMisplacedZip64End) {
  std::string bytes = archive({stored("a", "x")}, {.zip64 = true});
  bytes[bytes.size() - zip::end_size - 12] = 1;  // where the locator says the record is
  EXPECT_THAT(error_of_reading(bytes), HasSubstr("the zip64 end record is not at 1"));
}

TEST(ZipReader, RefusesSeveralDisks) {
  constexpr const char* message = "an archive of several disks is not supported";
  EXPECT_THAT(error_of_reading(archive({stored("a", "x")}, {.disk = 1})), HasSubstr(message));
  Part part = stored("a", "x");
  part.disk = 2;
  EXPECT_THAT(error_of_reading(archive({part})), HasSubstr(message));
}

TEST(ZipReader, RefusesEncryptedAndUnknownRecords) {
  Part part = stored("a", "x");
  part.flags = zip::flag_encrypted;
  EXPECT_EQ(error_of_reading(archive({part})), "a.pt2: a: error: the record is encrypted");
  part.flags = zip::flag_patch;
  EXPECT_EQ(error_of_reading(archive({part})),
            "a.pt2: a: error: the record is a patch of another file");
  part.flags = 0;
  part.method = part.local_method = 14;
  EXPECT_EQ(error_of_reading(archive({part})),
            "a.pt2: a: error: unknown compression method 14\n"
            "  hint: store the record, or compress it with deflate");
}

TEST(ZipReader, RefusesUnsafeNames) {
  const auto fault = [](const std::string& name) {
    return error_of_reading(archive({stored(name, "x")}));
  };
  EXPECT_EQ(fault("../a"), "a.pt2: ../a: error: record 0 has an unsafe name: it contains \"..\"");
  EXPECT_THAT(fault("a/../b"), HasSubstr("it contains \"..\""));
  EXPECT_THAT(fault("a/.."), HasSubstr("it contains \"..\""));
  EXPECT_THAT(fault("./a"), HasSubstr("it contains \".\""));
  EXPECT_THAT(fault("/etc/passwd"), HasSubstr("it is an absolute path"));
  EXPECT_THAT(fault("a\\b"), HasSubstr("it contains a backslash"));
  EXPECT_THAT(fault(std::string("a\0b", 3)), HasSubstr("it contains a NUL byte"));
  EXPECT_THAT(fault(""), HasSubstr("it is empty"));
  EXPECT_THAT(fault("a//b"), HasSubstr("a part of the path is empty"));
  EXPECT_EQ(fault("a\xff\n"),
            "a.pt2: \"a\\xff\\n\": error: record 0 has an unsafe name: it is not valid UTF-8");
  EXPECT_THAT(fault(std::string(5000, 'n')),
              HasSubstr("has 5000 bytes, more than the 4096 allowed"));
  EXPECT_EQ(fault("a..b/.data/c..."), "");
  EXPECT_EQ(fault("folder/"), "");
}

TEST(ZipReader, RefusesLocalHeadersThatDisagree) {
  Part part = stored("a", "x");
  part.local_name = "b";
  EXPECT_THAT(error_of_reading(archive({part})),
              HasSubstr("another name than the central directory"));
  part = stored("a", "x");
  part.local_method = zip::method_deflate;
  EXPECT_THAT(error_of_reading(archive({part})),
              HasSubstr("another compression method than the central directory"));
  part = stored("a", "x");
  part.local_size = 2;
  EXPECT_THAT(error_of_reading(archive({part})),
              HasSubstr("another size or CRC than the central directory"));
}

TEST(ZipReader, RefusesStoredRecordsOfTwoSizes) {
  Part part = stored("a", "xyz");
  part.size = 2;
  EXPECT_THAT(error_of_reading(archive({part})),
              HasSubstr("the stored record says 2 bytes and 3 bytes"));
}

TEST(ZipReader, RefusesBombs) {
  Part part = compressed("a", std::string(1000, 'x'));
  part.size = part.local_size = 100'000'000;
  EXPECT_THAT(error_of_reading(archive({part})),
              HasSubstr("bytes to 100000000, more than 200 times as many"));
  part = compressed("a", std::string(1000, 'x'));
  EXPECT_THAT(error_of([&] { open(archive({part}), {.max_inflated_size = 999}); }),
              HasSubstr("would inflate to 1000 bytes, more than the 999 allowed"));
}

TEST(ZipReader, InflatesNoMoreThanWasDeclared) {
  Part part = compressed("a", std::string(1000, 'x'));
  for (const std::uint32_t size : {999U, 1001U, 0U}) {
    part.size = part.local_size = size;
    const ZipReader reader = open(archive({part}));
    EXPECT_EQ(
        error_of([&] { static_cast<void>(reader.read(reader.get("a"))); }),
        fmt::format("a.pt2: a: error: the record does not inflate to the {} bytes it says", size));
  }
}

TEST(ZipReader, RefusesDamagedContent) {
  Part part = stored("a", "content");
  part.crc ^= 1;
  const ZipReader reader = open(archive({part}));
  EXPECT_EQ(reader.stored_range(reader.get("a")).string_view(), "content")
      << "mapped without a check";
  EXPECT_THAT(error_of([&] { reader.check_crc(reader.get("a")); }),
              HasSubstr("the content is damaged: its CRC is "));
  part = compressed("a", std::string(1000, 'x'));
  part.data[0] = '\xff';
  const ZipReader damaged = open(archive({part}));
  EXPECT_THAT(error_of([&] { static_cast<void>(damaged.read(damaged.get("a"))); }),
              HasSubstr("the compressed content is damaged"));
}

TEST(ZipReader, RefusesShortZip64Fields) {
  Part part = stored("a", "x");
  part.size = zip::saturated32;
  append_number(part.extra, zip::zip64_extra_id);
  append_number(part.extra, std::uint16_t{4});
  append_number(part.extra, std::uint32_t{1});
  EXPECT_THAT(error_of_reading(archive({part})),
              HasSubstr("the zip64 field of the record is too short"));
}

}  // namespace
}  // namespace winze
