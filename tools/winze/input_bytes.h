// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "winze/support/bytes.h"

namespace winze {

/// Whether the bytes are of a binary format: those have a zero byte soon, and a text never.
[[nodiscard]] bool looks_binary(std::string_view bytes);

/// The most text that is read of what cannot be mapped, unless the caller says otherwise: some
/// millions of nodes. Of a zip archive, which holds weights, it is `default_read_limit`.
inline constexpr std::uint64_t text_read_limit = std::uint64_t{1} << 30U;

/// The content of a file, mapped where it can be. A pipe or a device is read to its end, which may
/// never come: so no more than `limit` bytes (0 for the usual), and only the beginning of what is
/// neither a zip archive nor text. Throws Error that names the file.
[[nodiscard]] Bytes read_file(const std::string& path, std::uint64_t limit = 0);
/// The same; `-` is standard input.
[[nodiscard]] Bytes read_bytes(const std::string& path, std::uint64_t limit = 0);

}  // namespace winze
