// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "winze/program/program.h"
#include "winze/support/bytes.h"
#include "winze/torch/host_value.h"

namespace winze {

/// Inputs of one call, flat, in the order of the program's user inputs.
struct InputCase {
  std::string name;  ///< `case0`; empty where the file has but one
  std::vector<HostValue> values;
};

/// Reads a file of inputs, told apart by content: torch.save's (zip), `.npy`, `.npz`. Tensors and
/// plain containers of them are read; nothing is executed; everything else is an Error that names
/// it. `name` is what errors call the file.
///
/// - torch.save of `(args, kwargs)`, as in a `.pt2`; of a tuple or list of inputs; of one tensor;
///   of a dictionary by name of input.
/// - `.npy`: one tensor. `.npz`: arrays `arr_0`, `arr_1`, … in order, or named as the program's
///   inputs; with a `manifest.json` of recorded calls, each of these calls.
[[nodiscard]] std::vector<InputCase> read_input_file(const Bytes& content, const std::string& name,
                                                     const ExportedProgram& program);

/// The sample inputs stored in the program's archive, or nothing where it has none.
[[nodiscard]] std::optional<InputCase> stored_inputs(const ExportedProgram& program);

/// Any torch.save file in the zip format as a value. Tensors keep shared storages and strides.
[[nodiscard]] HostValue read_torch_value(const Bytes& content, const std::string& name);

/// A `.npy` file (versions 1 to 3) as a tensor; little-endian only. Arrays of objects or records
/// are refused by their dtype.
[[nodiscard]] HostTensor read_npy(const Bytes& content, const std::string& name);

}  // namespace winze
