// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "python/native/program_holder.h"
#include "winze/pass/pass_manager.h"

namespace winze {

/// Every pass of this build and of these plugins.
[[nodiscard]] PassRegistry passes_with(const std::vector<std::string>& plugins);

/// Runs a pipeline in text form over the program and gives the report as JSON. Python's lock is
/// held. \throws Error where a pass failed; the program is then as it was before that pass.
[[nodiscard]] std::string run_passes(ProgramHolder& holder, const std::string& pipeline,
                                     const PassRegistry& registry,
                                     const PassManagerOptions& options);

}  // namespace winze
