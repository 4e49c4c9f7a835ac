// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "winze/program/graph_writer.h"
#include "winze/program/program.h"
#include "winze/program/pt2_writer.h"

namespace winze {

/// What a program is written as.
struct WriteTarget {
  std::int64_t schema_minor = 0;
  std::string torch_version;  ///< of the program that is written
};

/// The release and schema to write: the wanted one, else the program's own, else the earliest that
/// can be written. Throws Error for a release before 2.9.
[[nodiscard]] WriteTarget choose_target(const ExportedProgram& program,
                                        const WriteOptions& options);

/// What writers of parts of the program share. Warnings go to `warnings`, unless null.
[[nodiscard]] WriteSession write_session(const ExportedProgram& program, const WriteTarget& target,
                                         std::vector<Diagnostic>* warnings);

}  // namespace winze
