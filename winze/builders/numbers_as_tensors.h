// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace winze {

/// Whether PyTorch's Python functions of this name (`add`, `copy_`) take a number for a tensor
/// (torch/csrc/utils/python_arg_parser.cpp, should_allow_numbers_as_tensors).
[[nodiscard]] bool allows_numbers_as_tensors(std::string_view name);

}  // namespace winze
