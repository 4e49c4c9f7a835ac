// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "winze/program/graph_writer.h"

namespace winze {

/// Writes the schema's GraphSignature of a program's graph. Placeholders and outputs without a role
/// are user inputs and user outputs.
void write_signature(WriteSession& session, GraphWriter& graph, JsonWriter& writer);

/// Writes the schema's list of ModuleCallEntry. A signature that refers to a value which is gone is
/// left out, with a warning.
void write_module_call_graph(WriteSession& session, GraphWriter& graph, JsonWriter& writer);

}  // namespace winze
