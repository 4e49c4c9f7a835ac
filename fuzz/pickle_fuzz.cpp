// SPDX-License-Identifier: Apache-2.0
// Any bytes as a pickle: read, or refused with an Error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/unless_refused.h"
#include "winze/program/pickle_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto pickle =
      winze::unless_refused([&] { return winze::read_pickle(text, {.record = "data.pkl"}); });
  if (!pickle) return 0;
  WINZE_CHECK(pickle->root < pickle->objects.size(), "the root is no object");
  for (const winze::PickleObject& object : pickle->objects) {
    for (const std::uint32_t child : object.children) {
      WINZE_CHECK(child < pickle->objects.size(), "a child is no object");
    }
  }
  return 0;
}
