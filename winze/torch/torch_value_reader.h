// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "winze/support/bytes.h"
#include "winze/support/diagnostic.h"
#include "winze/torch/host_value.h"

namespace winze {

/// Reads a file of torch.save (the zip format) as a value: tensors, tuples, lists, dictionaries,
/// None, bools, ints, floats, complex numbers and strings. Everything else is an Error that names
/// it; nothing is imported or executed. Tensors refer to the bytes of the file; those that share
/// storage there share it here.
[[nodiscard]] HostValue read_torch_value(const Bytes& content, const Where& where);

}  // namespace winze
