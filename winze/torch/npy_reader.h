// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "winze/support/bytes.h"
#include "winze/torch/host_value.h"

namespace winze {

/// Whether the bytes begin as a `.npy` file does.
[[nodiscard]] bool looks_like_npy(std::string_view bytes);

/// A `.npy` file as a tensor, without copying its bytes (numpy/lib/format.py; versions 1 to 3).
/// Arrays in Fortran order get strides. Throws Error, which calls the file `name`, where it is
/// malformed, big-endian, or of a dtype that no tensor has: objects, records, strings.
[[nodiscard]] HostTensor read_npy(const Bytes& content, const std::string& name);

}  // namespace winze
