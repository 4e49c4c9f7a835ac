// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

namespace winze {

// Each adds its classes and functions to the module.
void bind_programs(nanobind::module_& module);
void bind_graph_view(nanobind::module_& module);
void bind_node_view(nanobind::module_& module);
void bind_fx_bridge(nanobind::module_& module);

}  // namespace winze
