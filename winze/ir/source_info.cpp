// SPDX-License-Identifier: Apache-2.0
#include "winze/ir/source_info.h"

#include <charconv>

#include <fmt/format.h>

namespace winze {
namespace {

/// Reads `File "f", line 12, in g` at the start of `text`.
std::optional<SourceLine> parse_frame(std::string_view text) {
  constexpr std::string_view opening = "File \"";
  constexpr std::string_view line_word = "\", line ";
  if (!text.starts_with(opening)) return std::nullopt;
  const std::size_t name_end = text.find(line_word, opening.size());
  if (name_end == std::string_view::npos) return std::nullopt;
  SourceLine frame;
  frame.file = text.substr(opening.size(), name_end - opening.size());
  const char* number = text.data() + name_end + line_word.size();
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(number, end, frame.line);
  if (error != std::errc()) return std::nullopt;
  std::string_view tail(rest, static_cast<std::size_t>(end - rest));
  if (tail.starts_with(", in ")) frame.function = tail.substr(5);
  return frame;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Whose code a file holds, the least telling first.
enum class FrameOwner : std::uint8_t { generated, torch, user };

FrameOwner owner_of(std::string_view file) {
  if (file.starts_with('<')) return FrameOwner::generated;
  const bool is_torch = file.starts_with("torch/") || file.find("-packages/torch/") != file.npos;
  return is_torch ? FrameOwner::torch : FrameOwner::user;
}

}  // namespace

std::string SourceLine::str() const {
  std::string text = fmt::format("{}:{}", file, line);
  if (!function.empty()) text += fmt::format(", in {}", function);
  if (!code.empty()) text += fmt::format(": {}", code);
  return text;
}

std::optional<SourceLine> user_source_line(std::string_view stack_trace) {
  std::optional<SourceLine> found;
  bool code_follows = false;
  while (!stack_trace.empty()) {
    const std::size_t end = stack_trace.find('\n');
    const std::string_view line = trimmed(stack_trace.substr(0, end));
    stack_trace = end == std::string_view::npos ? std::string_view() : stack_trace.substr(end + 1);
    if (std::optional<SourceLine> frame = parse_frame(line)) {
      code_follows = !found || owner_of(frame->file) >= owner_of(found->file);
      if (code_follows) found = frame;
    } else if (code_follows && !line.empty()) {
      found->code = line;
      code_follows = false;
    }
  }
  return found;
}

}  // namespace winze
