// SPDX-License-Identifier: Apache-2.0
#include "tools/winze/input_bytes.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "winze/program/pt2_reader.h"
#include "winze/support/diagnostic.h"

namespace winze {
namespace {

[[noreturn]] void fail_reading(const std::string& name, std::string_view reason) {
  throw Error(
      Diagnostic{.message = fmt::format("cannot read: {}", reason), .where = {.file = name}});
}

[[noreturn]] void fail_too_long(const std::string& name, std::string_view text,
                                std::uint64_t limit) {
  Diagnostic diagnostic;
  diagnostic.message = fmt::format("there are more than {} bytes of {} to read, or no end of it",
                                   limit, looks_like_pt2(text) ? "an archive" : "text");
  diagnostic.where.file = name;
  diagnostic.hint = "--read-limit raises the limit; a file is mapped and has none";
  throw Error(std::move(diagnostic));
}

/// Reads what cannot be mapped, such as a pipe, to its end. The end may never come: of what cannot
/// be a program only the beginning is read, which is enough to say so.
Bytes read_to_end(std::FILE* file, const std::string& name, std::uint64_t given_limit) {
  constexpr std::size_t step = std::size_t{1} << 16U;
  std::string text;
  while (true) {
    const std::size_t used = text.size();
    text.resize(std::max(text.capacity(), used + step));
    const std::size_t count = std::fread(text.data() + used, 1, text.size() - used, file);
    const bool is_all = used + count < text.size();
    text.resize(used + count);
    if (is_all && std::ferror(file) != 0) fail_reading(name, std::strerror(errno));
    const std::uint64_t usual_limit = looks_like_pt2(text) ? default_read_limit : text_read_limit;
    const std::uint64_t limit = given_limit != 0 ? given_limit : usual_limit;
    if (text.size() > limit) fail_too_long(name, text, limit);
    const bool is_refused = used == 0 && !looks_like_pt2(text) && looks_binary(text);
    if (is_all || is_refused) break;
  }
  text.shrink_to_fit();
  return Bytes::own(std::move(text));
}

}  // namespace

bool looks_binary(std::string_view bytes) {
  return bytes.substr(0, 4096).find('\0') != std::string_view::npos;
}

Bytes read_file(const std::string& path, std::uint64_t limit) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (!std::filesystem::is_character_file(status) && !std::filesystem::is_fifo(status))
    return map_file(path);
  const auto close = [](std::FILE* file) { std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(path.c_str(), "rb"), close);
  if (file == nullptr) fail_reading(path, std::strerror(errno));
  return read_to_end(file.get(), path, limit);
}

Bytes read_bytes(const std::string& path, std::uint64_t limit) {
  return path == "-" ? read_to_end(stdin, "standard input", limit) : read_file(path, limit);
}

}  // namespace winze
