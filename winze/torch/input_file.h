// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "winze/program/program.h"
#include "winze/support/bytes.h"
#include "winze/torch/host_value.h"

namespace winze {

/// The placeholders that a caller passes values for, in order: user inputs and the constants that
/// export fixed.
[[nodiscard]] std::vector<Node> user_inputs(const ExportedProgram& program);

/// The value that export fixed a user input to, or nothing for inputs that vary.
[[nodiscard]] std::optional<HostValue> fixed_value(Node placeholder);

/// Inputs of one call, flat: one for each of `user_inputs`.
struct InputCase {
  std::string name;  ///< `case0`; empty where the file has but one
  std::vector<HostValue> values;
};

/// Reads a file of inputs, told apart by content. Tensors and plain containers of them are read;
/// nothing is executed; everything else is an Error that names it. `name` is what errors call the
/// file. At least one case is returned, each with as many values as the program has inputs; whether
/// these fit is for the run to say.
///
/// - torch.save of `(args, kwargs)`, as in a `.pt2`; of a tuple or list of inputs; of one tensor;
///   of a dictionary by name of input.
/// - `.npy`: one tensor.
/// - `.npz`: arrays `arr_0`, `arr_1`, …, or named as the program's inputs.
/// - `.npz` with a `manifest.json` of recorded calls: `{"cases": [{"inputs": [VALUE, …]}, …]}`,
///   where a VALUE is `{"kind": "tensor", "npy": MEMBER, "dtype": …, "shape": […], "strides": […]}`
///   or `{"kind": "none" | "bool" | "int" | "float" | "str", "value": …}`. bfloat16 and float8 are
///   stored as integers of the same width.
[[nodiscard]] std::vector<InputCase> read_input_file(const Bytes& content, const std::string& name,
                                                     const ExportedProgram& program);

/// The sample inputs stored in the program's archive, or nothing where it has none.
[[nodiscard]] std::optional<InputCase> stored_inputs(const ExportedProgram& program);

}  // namespace winze
