// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "winze/torch/host_value.h"
#include "winze/torch/torch_interface.h"

namespace winze {

/// Runs a program as `winze run` does and gives what is to be printed: a line for each output, and
/// for each input and buffer that the program may write to. \throws Error; the output file is then
/// as it was.
[[nodiscard]] std::string run_program(const ExportedProgram& program, const RunRequest& request,
                                      const std::function<void(std::string_view)>& say);

/// One line about a value: dtype and shape, smallest, largest and mean element, how many are NaN or
/// infinite, and a checksum of the bytes in C order.
[[nodiscard]] std::string value_summary(const HostValue& value);

}  // namespace winze
