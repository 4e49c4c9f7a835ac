// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

#include "winze/pass/pass_registry.h"

namespace winze {

/// What a plugin must have been built with to be loaded: version of Winze, compiler family, build
/// mode.
[[nodiscard]] std::string_view plugin_abi();

/// Loads a shared library and lets it register its passes. It stays loaded until the process ends.
/// \throws Error where the file is missing or no library, lacks a symbol it needs or the entry
/// point, was built against another version, or registers a name that is taken.
void load_pass_plugin(const std::filesystem::path& path, PassRegistry& registry);

}  // namespace winze
