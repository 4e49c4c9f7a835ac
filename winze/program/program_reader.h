// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "winze/program/program.h"
#include "winze/support/bytes.h"
#include "winze/support/diagnostic.h"

namespace winze {

/// Reads the JSON of a program (the schema's ExportedProgram, `models/NAME.json`) into `program`,
/// weights aside. `where` gives file and record for errors.
void read_program_json(ExportedProgram& program, const Bytes& json, const Where& where,
                       std::vector<Diagnostic>* warnings);

}  // namespace winze
