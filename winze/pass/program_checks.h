// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "winze/support/diagnostic.h"

namespace winze {

struct ExportedProgram;

/// Everything that is wrong with a program, at every level of the verifier, recorded metas against
/// those that are inferred among them where `infers_metas`.
[[nodiscard]] std::vector<Diagnostic> check_whole(const ExportedProgram& program,
                                                  bool infers_metas);

/// What is wrong with the nodes that the open transaction edited, and with their neighbours; metas
/// that follow from them are inferred anew. O(edits).
[[nodiscard]] std::vector<Diagnostic> check_changed(const ExportedProgram& program);

/// One diagnostic for all findings: the first, with the others as notes. `what` begins its message.
[[nodiscard]] Diagnostic summary_of(const std::vector<Diagnostic>& findings, std::string what);

}  // namespace winze
