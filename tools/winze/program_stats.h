// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "winze/program/program.h"

namespace winze {

/// What `winze print --stats` says: nodes by operator, inputs and outputs by role, weights by
/// dtype, symbols with their ranges, effects. Nested graphs are counted in. O(nodes + weights).
[[nodiscard]] std::string program_stats(const ExportedProgram& program);

/// `80.3 MB`, in powers of 1000.
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);

}  // namespace winze
