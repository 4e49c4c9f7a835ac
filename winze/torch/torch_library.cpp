// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/torch_library.h"

#include <dlfcn.h>

#include <filesystem>
#include <string_view>
#include <system_error>

#include "winze/support/diagnostic.h"
#include "winze/support/quote.h"

namespace winze {
namespace {

using InterfaceFunction = const TorchInterface* (*)();

constexpr std::string_view library_name = WINZE_TORCH_LIBRARY;

std::filesystem::path library_path() {
  const std::filesystem::path folder =
      std::filesystem::read_symlink("/proc/self/exe").parent_path();
  for (const std::filesystem::path& candidate :
       {folder / library_name, folder / ".." / "lib" / library_name}) {
    std::error_code ignored;
    if (std::filesystem::exists(candidate, ignored)) return candidate.lexically_normal();
  }
  throw Error(fmt::format("running programs needs {}, which is neither in {} nor in ../lib",
                          library_name, quote(folder.string())),
              "build Winze anew, or put the library beside the command");
}

const TorchInterface& load() {
  if (library_name.empty()) {
    throw Error("this build of Winze cannot run programs: it was built without libtorch",
                "`scripts/setup.sh base` installs PyTorch into .venv; then build anew with "
                "-DWINZE_TORCH=ON");
  }
  const std::string path = library_path().string();
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* told = dlerror();
    const std::string_view reason = told == nullptr ? "unknown reason" : told;
    const bool lacks_torch =
        reason.find("libtorch") < reason.find(' ') || reason.find("libc10") < reason.find(' ');
    throw Error(
        fmt::format("cannot load {}: {}", quote(path), reason),
        lacks_torch
            ? "PyTorch is no longer where it was when Winze was built; build anew"
            : "it takes Winze's core from the program that loads it, which has to export its "
              "symbols (CMake: ENABLE_EXPORTS)");
  }
  void* symbol = dlsym(library, "winze_torch_interface");
  if (symbol == nullptr) fail("{} is not Winze's library for running programs", quote(path));
  return *reinterpret_cast<InterfaceFunction>(symbol)();
}

}  // namespace

const TorchInterface& load_torch_library() {
  static const TorchInterface& interface = load();
  return interface;
}

}  // namespace winze
