// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace winze {

struct ExportedProgram;

/// One text file with which a failure can be seen again: the command in the first line, in the form
/// that lit runs, the failure as a comment, and the program.
[[nodiscard]] std::string reproducer_text(const ExportedProgram& program, std::string_view pipeline,
                                          std::string_view failure);

}  // namespace winze
