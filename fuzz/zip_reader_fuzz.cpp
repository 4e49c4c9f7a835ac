// SPDX-License-Identifier: Apache-2.0
// Any bytes either open as an archive, all of whose records can be read or refused, or give an
// Error.
#include <cstdint>
#include <string_view>

#include "fuzz/unless_refused.h"
#include "winze/support/zip_reader.h"
#include "winze/support/zip_writer.h"

namespace {

void read_all(const winze::ZipReader& reader) {
  for (const winze::ZipEntry& entry : reader.entries()) {
    const auto content = winze::unless_refused([&] { return reader.read(entry); });
    WINZE_CHECK(!content || content->size() == entry.size,
                "a record has another size than it says");
  }
}

/// What was opened can be written, and says the same when it is read again.
void copy_stored(const winze::ZipReader& reader) {
  std::string out;
  winze::StringSink sink(out);
  winze::ZipWriter writer(sink);
  for (const winze::ZipEntry& entry : reader.entries()) {
    if (entry.method != winze::ZipMethod::stored) return;
    writer.add_unchanged(entry.name, reader.stored_range(entry), entry.crc32);
  }
  writer.finish();
  const winze::ZipReader again(winze::Bytes::own(std::move(out)), "copy.pt2");
  WINZE_CHECK(again.digest() == reader.digest(), "the copy differs from what was read");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto reader = winze::unless_refused([&] {
    return winze::ZipReader(winze::Bytes::borrow(bytes), "fuzz.pt2",
                            {.max_inflated_size = std::uint64_t{1} << 24U});
  });
  if (!reader) return 0;
  read_all(*reader);
  copy_stored(*reader);
  return 0;
}
