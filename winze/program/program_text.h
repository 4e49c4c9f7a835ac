// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "winze/ir/text_printer.h"
#include "winze/program/program.h"

namespace winze {

/// The whole program as text, but for the bytes of weights that came with an archive: those are
/// named by record. `parse_program` reads it back to a program that prints to the same bytes and
/// that, once it has its weights (`attach_weights`), writes the same `.pt2`. docs/text-format.md
/// has the grammar. O(nodes).
[[nodiscard]] std::string print_program(const ExportedProgram& program,
                                        const TextPrintOptions& options = {});

/// Reads a program from text. `file` is what errors call it. A text whose header gives no `schema`
/// counts as written by hand: what it leaves out is filled in (roles of inputs and outputs, weights
/// without bytes for the roles that name one, opset, verifiers, the call of the root module).
/// One whose header has the word `summary`, as what `winze print` writes, gives a warning of what
/// it leaves out. \throws Error with line, column and the line itself.
[[nodiscard]] ExportedProgram parse_program(Context& context, std::string_view text,
                                            std::string_view file = {},
                                            std::vector<Diagnostic>* warnings = nullptr);

}  // namespace winze
