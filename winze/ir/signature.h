// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "winze/ir/argument.h"
#include "winze/ir/ids.h"

namespace winze {

/// What a placeholder of a program is for (torch.export.graph_signature.InputKind).
enum class InputKind : std::uint8_t {
  user_input,
  parameter,
  buffer,
  tensor_constant,
  custom_obj,
  constant_input,
  token
};

/// The role of one placeholder. Interned by the Context; a placeholder of a nested graph has none.
struct InputSpec {
  InputKind kind = InputKind::user_input;
  StringId target;  ///< fully qualified name in the module: for parameter, buffer, tensor_constant,
                    ///< custom_obj
  bool persistent = true;  ///< for buffer: whether the state dict holds it
  StringId name;           ///< for constant_input: the input's name
  Argument constant;       ///< for constant_input and for user inputs that are constants
  bool operator==(const InputSpec&) const = default;
};

/// What a returned value of a program is for (torch.export.graph_signature.OutputKind).
enum class OutputKind : std::uint8_t {
  user_output,
  loss_output,
  buffer_mutation,
  parameter_mutation,
  gradient_to_parameter,
  gradient_to_user_input,
  user_input_mutation,
  token,
};

/// The role of one returned value. Interned by the Context.
struct OutputSpec {
  OutputKind kind = OutputKind::user_output;
  StringId target;  ///< buffer, parameter or user input that the value is written to
  bool operator==(const OutputSpec&) const = default;
};

[[nodiscard]] std::string_view name_of(InputKind kind);
[[nodiscard]] std::string_view name_of(OutputKind kind);

}  // namespace winze
