// SPDX-License-Identifier: Apache-2.0
#include "winze/pass/plugin.h"

#include <dlfcn.h>

#include <string>

#include "winze/support/diagnostic.h"
#include "winze/support/quote.h"

namespace winze {
namespace {

using AbiFunction = const char* (*)();
using RegisterFunction = void (*)(PassRegistry&);

template <typename Function>
Function find_symbol(void* library, const char* name, const std::string& path) {
  void* symbol = dlsym(library, name);
  if (symbol == nullptr) {
    throw Error(fmt::format("{} is no pass plugin: it has no symbol {}", quote(path), name),
                "say WINZE_PASS_PLUGIN(register_passes); once, outside every namespace");
  }
  return reinterpret_cast<Function>(symbol);
}

void check_abi(void* library, const std::string& path) {
  const std::string_view theirs = find_symbol<AbiFunction>(library, "winze_plugin_abi", path)();
  if (theirs == WINZE_PLUGIN_ABI) return;
  throw Error(fmt::format("{} was built for {}, this is {}", quote(path), quote(theirs),
                          quote(WINZE_PLUGIN_ABI)),
              "build the plugin against the headers and the compiler settings of this Winze");
}

}  // namespace

void load_pass_plugin(const std::filesystem::path& path, PassRegistry& registry) {
  const std::string file = path.string();
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) fail("there is no plugin {}", quote(file));
  // A name without a slash would be looked for in the system's folders.
  void* library = dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    fail("cannot load plugin {}: {}", quote(file), reason == nullptr ? "unknown reason" : reason);
  }
  check_abi(library, file);
  const auto register_passes =
      find_symbol<RegisterFunction>(library, "winze_register_passes", file);
  PassRegistry with_plugin = registry;
  try {
    register_passes(with_plugin);
  } catch (const Error& error) {
    throw Error(fmt::format("plugin {}: {}", quote(file), error.diagnostic().message),
                error.diagnostic().hint);
  }
  registry = std::move(with_plugin);
}

}  // namespace winze
