// SPDX-License-Identifier: Apache-2.0
// Any bytes as the JSON of a program, or as a whole archive: read, or refused with an Error. What
// was read is checked and written, and what was written is read again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/unless_refused.h"
#include "winze/program/pt2_reader.h"
#include "winze/program/pt2_writer.h"
#include "winze/support/byte_sink.h"
#include "winze/support/zip_writer.h"

namespace {

using namespace winze;

std::string archive_of(std::string_view json) {
  std::string bytes;
  StringSink sink(bytes);
  ZipWriter zip(sink);
  zip.add("m/models/model.json", json);
  zip.add("m/data/weights/model_weights_config.json", R"({"config": {}})");
  zip.add("m/data/constants/model_constants_config.json", R"({"config": {}})");
  zip.add("m/archive_format", "pt2");
  zip.finish();
  return bytes;
}

std::string written(const ExportedProgram& program) {
  std::string bytes;
  StringSink sink(bytes);
  (void)write_pt2(program, sink);
  return bytes;
}

void read_write_read(const std::string& archive) {
  Context context;
  const auto program = unless_refused([&] { return read_pt2(context, Bytes::borrow(archive)); });
  if (!program) return;
  program->graph->lint();
  // A program may hold what no release can express.
  const auto first = unless_refused([&] { return written(*program); });
  if (!first) return;
  Context other;
  const ExportedProgram again = read_pt2(other, Bytes::borrow(*first));
  WINZE_CHECK(written(again) == *first, "what was written and read again is written otherwise");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_write_read(looks_like_pt2(text) ? std::string(text) : archive_of(text));
  return 0;
}
