// SPDX-License-Identifier: Apache-2.0
#include "winze/support/zip_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "winze/support/diagnostic.h"
#include "winze/support/zip_reader.h"

namespace winze {
namespace {

using ::testing::HasSubstr;

std::string written(const std::function<void(ZipWriter&)>& add) {
  std::string out;
  StringSink sink(out);
  ZipWriter writer(sink);
  add(writer);
  writer.finish();
  EXPECT_EQ(writer.size(), out.size());
  return out;
}

TEST(ZipWriter, WritesWhatTheReaderReads) {
  const std::string bytes = written([](ZipWriter& writer) {
    writer.add("m/models/model.json", "{}");
    writer.add("m/empty", "");
    writer.add("m/data/weights/weight_0", Bytes::copy(std::string(1000, 'w')));
    writer.add("m/\u00e4", "x");
  });
  const ZipReader reader(Bytes::copy(bytes), "a.pt2");
  ASSERT_EQ(reader.entries().size(), 4U);
  EXPECT_EQ(reader.read(reader.get("m/models/model.json")).string_view(), "{}");
  EXPECT_EQ(reader.read(reader.get("m/empty")).size(), 0U);
  EXPECT_EQ(reader.read(reader.get("m/data/weights/weight_0")).string_view(),
            std::string(1000, 'w'));
  EXPECT_EQ(reader.read(reader.get("m/\u00e4")).string_view(), "x");
}

TEST(ZipWriter, AlignsContent) {
  const std::string bytes = written([](ZipWriter& writer) {
    for (std::size_t i = 0; i < 200; ++i) {
      writer.add(fmt::format("r{:n>{}}", "", i), std::string_view(std::string(i * 7 % 131, 'x')));
    }
  });
  const ZipReader reader(Bytes::copy(bytes), "a.pt2");
  for (const ZipEntry& entry : reader.entries()) {
    EXPECT_EQ(entry.data_offset % ZipWriter::alignment, 0U) << entry.name;
    reader.check_crc(entry);
  }
}

TEST(ZipWriter, WritesTheSameBytesForTheSameContent) {
  const auto add = [](ZipWriter& writer) { writer.add("a/b", "content"); };
  EXPECT_EQ(written(add), written(add));
}

TEST(ZipWriter, CopiesRecordsWithTheCrcTheyHad) {
  const std::string first = written([](ZipWriter& writer) { writer.add("a", "content"); });
  const ZipReader reader(Bytes::copy(first), "a.pt2");
  const ZipEntry& entry = reader.get("a");
  const std::string second = written([&](ZipWriter& writer) {
    writer.add_unchanged("a", reader.stored_range(entry), entry.crc32);
  });
  EXPECT_EQ(second, first);
}

TEST(ZipWriter, RefusesContentThatWasShortenedMeanwhile) {
  const std::string path = ::testing::TempDir() + "/winze_shortened";
  for (const std::size_t size : {std::size_t{100000}, (std::size_t{4} << 20U) + 1000}) {
    std::ofstream(path) << std::string(size, 'w');
    const Bytes mapped = map_file(path);
    // Of the larger one only the last part, which is small, is gone.
    std::filesystem::resize_file(path, size < 1000000 ? 0 : std::size_t{4} << 20U);
    std::string out;
    StringSink sink(out);
    ZipWriter writer(sink);
    try {
      writer.add_unchanged("w", mapped.slice(0, mapped.size()), 1);
      FAIL() << "nothing is thrown";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("a mapped file was shortened while it was read"));
    }
  }
  std::filesystem::remove(path);
}

TEST(ZipWriter, WritesManyRecords) {
  const std::string bytes = written([](ZipWriter& writer) {
    for (int i = 0; i < 70'000; ++i) writer.add(fmt::format("r{}", i), "");
  });
  const ZipReader reader(Bytes::copy(bytes), "a.pt2");
  EXPECT_EQ(reader.entries().size(), 70'000U);
  EXPECT_NE(reader.find("r69999"), nullptr);
}

/// Keeps what is small and counts the rest, so that content beyond 4 GiB costs no memory.
class SparseSink final : public ByteSink {
 public:
  using ByteSink::write;
  void write(std::span<const std::byte> bytes) override {
    if (bytes.size() < 4096) {
      StringSink(tail_).write(bytes);
    } else {
      tail_.clear();
    }
    size_ += bytes.size();
  }
  [[nodiscard]] const std::string& tail() const { return tail_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  std::string tail_;
  std::uint64_t size_ = 0;
};

TEST(ZipWriter, UsesZip64BeyondFourGigabytes) {
  constexpr std::uint64_t huge = (std::uint64_t{1} << 32U) + (std::uint64_t{1} << 20U);
  SparseSink sink;
  ZipWriter writer(sink);
  const char anything = 0;
  // Of parts as large as the content comes in (the last has 1 MiB), the sink looks at sizes alone:
  // no byte beyond the first is touched.
  writer.add_unchanged("a/huge", Bytes::share(nullptr, &anything, huge), 0x12345678);
  const std::uint64_t offset = writer.size();
  writer.add("a/behind", "x");
  writer.finish();
  EXPECT_EQ(sink.size(), writer.size());
  const auto has_u64 = [&](std::uint64_t value) {
    const std::string_view bytes(reinterpret_cast<const char*>(&value), sizeof value);
    return sink.tail().find(bytes) != std::string::npos;
  };
  EXPECT_TRUE(has_u64(huge)) << "the size of the first record";
  EXPECT_TRUE(has_u64(offset)) << "where the second one begins";
  EXPECT_THAT(sink.tail(), HasSubstr("PK\x06\x06"));
  EXPECT_THAT(sink.tail(), HasSubstr("PK\x06\x07"));
}

TEST(ZipWriter, RefusesNamesThatAReaderWouldRefuse) {
  std::string out;
  StringSink sink(out);
  ZipWriter writer(sink);
  writer.add("a", "x");
  const auto message = [&](const std::string& name) {
    try {
      writer.add(name, "x");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message("a"), "error: the archive has a record \"a\" already");
  EXPECT_EQ(message("../a"),
            "error: the archive cannot hold a record named \"../a\": it contains \"..\"");
  EXPECT_THAT(message(std::string(5000, 'n')), HasSubstr("has 5000 bytes, more than 4096"));
}

TEST(ZipWriter, RefusesRecordsAfterTheEnd) {
  std::string out;
  StringSink sink(out);
  ZipWriter writer(sink);
  writer.finish();
  EXPECT_THROW(writer.add("a", "x"), InternalError);
  EXPECT_THROW(writer.finish(), InternalError);
}

}  // namespace
}  // namespace winze
