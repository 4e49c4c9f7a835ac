// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

#include "winze/pass/pass_registry.h"

/// Version of the interface that plugins are built against: the headers of the components up to
/// `pass`. Raised with every incompatible change to them.
#define WINZE_PLUGIN_ABI_VERSION "2"

#ifdef WINZE_CHECK_HANDLES
#define WINZE_PLUGIN_HANDLES "checked"
#else
#define WINZE_PLUGIN_HANDLES "unchecked"
#endif

#if defined(_GLIBCXX_RELEASE)
#define WINZE_PLUGIN_LIBRARY "libstdc++"
#else
#define WINZE_PLUGIN_LIBRARY "libc++"
#endif

/// What a plugin must have in common with its host: version, layout of handles, standard library.
#define WINZE_PLUGIN_ABI \
  "winze-" WINZE_PLUGIN_ABI_VERSION " " WINZE_PLUGIN_LIBRARY " handles-" WINZE_PLUGIN_HANDLES

/// Makes a shared library a plugin. `register_passes` is a function that takes a PassRegistry& and
/// adds the library's passes, and what it has to add to contexts: operators and shape rules. Once
/// in a library, outside every namespace.
#define WINZE_PASS_PLUGIN(register_passes)                                           \
  extern "C" __attribute__((visibility("default"))) const char* winze_plugin_abi() { \
    return WINZE_PLUGIN_ABI;                                                         \
  }                                                                                  \
  extern "C" __attribute__((visibility("default"))) void winze_register_passes(      \
      ::winze::PassRegistry& registry) {                                             \
    register_passes(registry);                                                       \
  }                                                                                  \
  static_assert(true, "a semicolon follows")

namespace winze {

/// Loads a shared library and lets it register its passes. It stays loaded until the process ends.
/// \throws Error where the file is missing or no library, lacks a symbol, was built against another
/// version, or registers a name that is taken; then no pass of it is registered.
void load_pass_plugin(const std::filesystem::path& path, PassRegistry& registry);

}  // namespace winze
