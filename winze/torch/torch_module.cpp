// SPDX-License-Identifier: Apache-2.0
// The entry of the shared library that commands load when they run programs.
#include "winze/torch/check.h"
#include "winze/torch/compare_programs.h"
#include "winze/torch/run_program.h"
#include "winze/torch/torch_interface.h"

extern "C" const winze::TorchInterface* winze_torch_interface() {
  static const winze::TorchInterface interface = {
      .torch_version = WINZE_TORCH_VERSION,
      .run = winze::run_program,
      .compare = winze::compare_as_requested,
      .check = winze::run_checked,
  };
  return &interface;
}
