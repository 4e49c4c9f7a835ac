// SPDX-License-Identifier: Apache-2.0
#include "winze/pass/reproducer.h"

#include <fmt/format.h>

#include "winze/program/program.h"
#include "winze/program/program_text.h"

namespace winze {
namespace {

/// A word for the shell, in single quotes.
std::string shell_quote(std::string_view text) {
  std::string quoted = "'";
  for (char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string comment(std::string_view text) {
  std::string lines = "// ";
  for (char c : text) {
    lines += c;
    if (c == '\n') lines += "// ";
  }
  return lines + "\n";
}

}  // namespace

std::string reproducer_text(const ExportedProgram& program, std::string_view pipeline,
                            std::string_view failure) {
  return fmt::format("// RUN: winze lower %s --passes {} -o -\n{}\n{}", shell_quote(pipeline),
                     comment(failure), print_program(program));
}

}  // namespace winze
