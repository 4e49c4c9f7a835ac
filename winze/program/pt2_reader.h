// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "winze/program/program.h"
#include "winze/support/bytes.h"
#include "winze/support/diagnostic.h"

namespace winze {

struct ReadOptions {
  std::string file_name = "<memory>";  ///< for errors and for `ExportedProgram::archive`
  std::string model;  ///< which program of an archive of several; empty where there is one
  std::vector<Diagnostic>* warnings = nullptr;  ///< where warnings go; null drops them
};

/// Whether the bytes may be a `.pt2` (a zip archive) rather than text.
[[nodiscard]] bool looks_like_pt2(std::string_view bytes);

/// Names of the programs in an archive, in the archive's order.
[[nodiscard]] std::vector<std::string> list_models(const Bytes& archive,
                                                   const std::string& file_name);

/// Reads an exported program as torch 2.7 to 2.14 write it. Nothing is executed, no weight is read;
/// the program keeps the mapping alive. Throws Error naming file, record and JSON path. O(size of
/// the JSON).
[[nodiscard]] ExportedProgram read_pt2(Context& context, const Bytes& archive,
                                       const ReadOptions& options = {});

/// Gives a program without bytes (one that was read as text) the weights of an archive, by name,
/// and where it has none the example inputs and other records that the archive carries. Throws
/// Error where the archive lacks one, or has it with another dtype or shape.
void attach_weights(ExportedProgram& program, const Bytes& archive,
                    const ReadOptions& options = {});

}  // namespace winze
