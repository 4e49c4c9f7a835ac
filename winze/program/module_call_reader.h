// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "winze/program/graph_reader.h"
#include "winze/program/read_session.h"

namespace winze {

/// Reads a program's `module_call_graph`, after its graph. A signature that speaks of values which
/// the graph does not have is dropped with a warning: without it the module cannot be unflattened,
/// but the program is whole.
void read_module_call_graph(ReadSession& session, GraphReader& graph, JsonValue value);

}  // namespace winze
