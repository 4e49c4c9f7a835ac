// SPDX-License-Identifier: Apache-2.0
// The entry of the shared library that commands load when they run programs.
#include <ATen/Version.h>

#include "winze/torch/torch_interface.h"

extern "C" const winze::TorchInterface* winze_torch_interface() {
  static const winze::TorchInterface interface = {.torch_version = "2.13.0"};
  return &interface;
}
