// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace winze {

/// Lets C++ errors arrive as Python's: `winze::Error` as `winze.Error` with message, node, source,
/// notes and hint.
void register_errors();

}  // namespace winze
