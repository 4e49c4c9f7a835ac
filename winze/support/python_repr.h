// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace winze {

/// Appends what Python's `repr` gives for a float: the shortest digits that read back as the same
/// double, `1.0`, `1e+16`, `1e-05`, `inf`, `-inf`, `nan`.
void append_python_float(std::string& out, double value);
[[nodiscard]] std::string python_float(double value);

/// Appends what Python's `repr` gives for a str of this UTF-8 text. Bytes that are not UTF-8 come
/// out as Python shows surrogate escapes, such as `\udcff`.
void append_python_string(std::string& out, std::string_view text);
[[nodiscard]] std::string python_string(std::string_view text);

}  // namespace winze
