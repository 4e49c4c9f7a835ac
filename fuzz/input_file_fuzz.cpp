// SPDX-License-Identifier: Apache-2.0
// Any bytes as a file of inputs: read, or refused with an Error. Every tensor that is read lies in
// its storage.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "winze/program/program_text.h"
#include "winze/torch/input_file.h"
#include "winze/torch/npy_reader.h"
#include "winze/torch/torch_value_reader.h"

namespace {

constexpr std::string_view program_text =
    "graph forward(%x: input f32[2], %n: input i64[]) {\n  return %x\n}\n";

void touch(const winze::HostValue& value) {
  const winze::HostTensor* tensor = value.tensor();
  // A stride of 0 makes a large tensor of few bytes.
  constexpr std::int64_t most = 1 << 16;
  if (tensor == nullptr || tensor->sizes.size() > 64) return;
  std::int64_t count = 1;
  for (const std::int64_t size : tensor->sizes) {
    if (size > most || (count *= size) > most) return;
  }
  WINZE_CHECK(static_cast<std::int64_t>(winze::contiguous_bytes(*tensor).size()) ==
                  count * winze::element_size(tensor->dtype),
              "not all elements are there");
}

void read(const winze::Bytes& content) {
  winze::Context context;
  const winze::ExportedProgram program = winze::parse_program(context, program_text, "fuzz.wz");
  for (const winze::InputCase& one : winze::read_input_file(content, "fuzz", program)) {
    for (const winze::HostValue& value : one.values) touch(value);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    read(winze::Bytes::copy(bytes));
  } catch (const winze::Error&) {
  }
  return 0;
}
