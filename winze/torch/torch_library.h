// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "winze/torch/torch_interface.h"

namespace winze {

/// Loads `libwinze_torch.so`, and with it libtorch, at the first call; it stays loaded. It is
/// looked for beside the running program, then in `../lib`. Takes some 0.3 s and 200 MB. For one
/// thread at a time.
///
/// \throws Error where this build has no such part, or it or libtorch cannot be loaded.
[[nodiscard]] const TorchInterface& load_torch_library();

}  // namespace winze
