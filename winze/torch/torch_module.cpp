// SPDX-License-Identifier: Apache-2.0
// The entry of the shared library that commands load when they run programs.
#include "winze/torch/check.h"
#include "winze/torch/compare_programs.h"
#include "winze/torch/run_program.h"
#include "winze/torch/torch_error.h"
#include "winze/torch/torch_interface.h"

namespace {

/// The same function, whose exceptions are Winze's: a stack trace of libtorch's helps nobody.
template <auto function>
struct Translated;
template <typename Result, typename... Parameters, Result (*function)(Parameters...)>
struct Translated<function> {
  static Result call(Parameters... parameters) {
    return winze::with_torch_errors([&] { return function(parameters...); });
  }
};

}  // namespace

extern "C" const winze::TorchInterface* winze_torch_interface() {
  static const winze::TorchInterface interface = {
      .torch_version = WINZE_TORCH_VERSION,
      .run = Translated<winze::run_program>::call,
      .compare = Translated<winze::compare_as_requested>::call,
      .check = Translated<winze::run_checked>::call,
  };
  return &interface;
}
