// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "winze/program/program.h"
#include "winze/torch/host_value.h"

namespace winze {

/// The same program computed in float64: weights, dtypes of arguments and metas of real dtypes
/// become float64, of complex ones complex128; calls that choose a dtype by default are given one.
/// Integers, bools and what they decide stay as they are. In the context of `program`.
/// \throws Error where that cannot be done: elements are looked at as another dtype, weights of a
/// low precision that are not plain tensors.
[[nodiscard]] ExportedProgram promote_to_float64(const ExportedProgram& program);

/// An input for it.
[[nodiscard]] HostValue promote_to_float64(const HostValue& value);

}  // namespace winze
