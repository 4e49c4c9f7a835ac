// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "winze/program/program.h"

namespace winze {

/// A copy of all that a program holds beside its graph. Bytes are shared, not copied.
class ProgramSnapshot {
 public:
  explicit ProgramSnapshot(const ExportedProgram& program);
  /// Puts the program back as it was, the graph aside.
  void restore(ExportedProgram& program) &&;

 private:
  ExportedProgram copy_;
};

}  // namespace winze
