// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/torch_error.h"

#include <string_view>

namespace winze {
namespace {

/// The allocator's message, which begins with a place in C++: `[enforce fail at alloc_cpu.cpp:127]
/// err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 40 bytes. Error code
/// 12 (Cannot allocate memory)`.
constexpr std::string_view allocation_marker = "can't allocate memory: you tried to allocate ";

}  // namespace

std::string message_of(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return "out of memory";
  const auto* torch_error = dynamic_cast<const c10::Error*>(&error);
  std::string text(torch_error != nullptr ? torch_error->what_without_backtrace() : error.what());
  for (const char* marker : {"\nException raised from", "\nC++ CapturedTraceback"}) {
    if (const std::size_t at = text.find(marker); at != std::string::npos) text.resize(at);
  }
  while (!text.empty() && text.back() == '\n') text.pop_back();
  if (const std::size_t at = text.find(allocation_marker); at != std::string::npos) {
    const std::size_t begin = at + allocation_marker.size();
    return "out of memory: it wants " + text.substr(begin, text.find(". ", begin) - begin);
  }
  return text;
}

}  // namespace winze
