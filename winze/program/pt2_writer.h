// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "winze/program/program.h"
#include "winze/support/byte_sink.h"
#include "winze/support/diagnostic.h"

namespace winze {

struct WriteOptions {
  /// PyTorch release whose schema is written, `2.9` or later (`2.13`, `2.13.0`); empty for that of
  /// the program, or the earliest that can be written where that is older.
  std::string torch_version;
};

/// Writes a program as `torch.export.save` of the wanted release lays it out. Unchanged weights are
/// copied by range with their recorded CRC. Returns warnings: what could not be kept. Throws Error
/// where the program has weights without bytes, or holds what that release cannot express: before
/// the first byte, unless the sink is transactional.
std::vector<Diagnostic> write_pt2(const ExportedProgram& program, ByteSink& sink,
                                  const WriteOptions& options = {});

/// The JSON of the program alone, as it stands in `models/NAME.json`.
[[nodiscard]] std::string program_json(const ExportedProgram& program,
                                       const WriteOptions& options = {},
                                       std::vector<Diagnostic>* warnings = nullptr);

}  // namespace winze
