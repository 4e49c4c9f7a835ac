// SPDX-License-Identifier: Apache-2.0
#include <nanobind/nanobind.h>

#include "python/native/bindings.h"
#include "python/native/errors.h"

namespace nb = nanobind;

NB_MODULE(_native, module) {
  // Objects that Python itself keeps until its end are no fault of a user.
  nb::set_leak_warnings(false);
  module.doc() = "The native part of Winze; use the package `winze`.";
  module.attr("__version__") = WINZE_VERSION;
  winze::register_errors();
  winze::bind_programs(module);
  winze::bind_graph_view(module);
  winze::bind_node_view(module);
  winze::bind_fx_bridge(module);
}
