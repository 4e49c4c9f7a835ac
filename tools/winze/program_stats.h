// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "winze/program/program.h"

namespace winze {

/// What `winze print --stats` says: nodes by operator, inputs and outputs by role, weights by
/// dtype, symbols with their ranges, effects. Nested graphs are counted in. O(nodes + weights).
[[nodiscard]] std::string program_stats(const ExportedProgram& program);

/// `1 node`, `2 nodes`.
[[nodiscard]] std::string plural(std::uint64_t count, std::string_view word);
/// `80.3 MB`, in powers of 1000.
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);

}  // namespace winze
