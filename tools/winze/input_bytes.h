// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "winze/support/bytes.h"

namespace winze {

/// Whether the bytes are of a binary format: those have a zero byte soon, and a text never.
[[nodiscard]] bool looks_binary(std::string_view bytes);

/// The content of a file, mapped where it can be. Of a pipe or a device that is neither a zip
/// archive nor text only the beginning is read: the end may never come. Throws Error that names the
/// file.
[[nodiscard]] Bytes read_file(const std::string& path);
/// The same; `-` is standard input.
[[nodiscard]] Bytes read_bytes(const std::string& path);

}  // namespace winze
