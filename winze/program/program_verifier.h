// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "winze/ir/verifier.h"
#include "winze/program/program.h"

namespace winze {

/// Verifies a program: its graph as `verify(const Graph&, …)` does, and at the level `semantics`
/// also the roles of inputs and outputs, the dialect, the weights behind parameters, buffers and
/// constants, the ranges of symbols, and the module call graph. O(nodes, arguments and weights); no
/// byte of a weight is read.
[[nodiscard]] std::vector<Diagnostic> verify(const ExportedProgram& program, VerifyLevel level);

}  // namespace winze
