// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "winze/torch/executor.h"

namespace winze {

/// Compares inputs with what the program wants: number, kinds, dtypes, devices, shapes, and the
/// ranges of the symbols that the shapes give values to. \throws Error naming the input.
void check_inputs(const ExportedProgram& program, const std::vector<ExecutorInput>& wanted,
                  const std::vector<c10::IValue>& given);

}  // namespace winze
