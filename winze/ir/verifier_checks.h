// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "winze/ir/graph.h"
#include "winze/ir/verifier.h"
#include "winze/ir/verifier_findings.h"

// The parts of the verifier. Each but the first wants graphs whose storage is known to be sound.
namespace winze {

/// Storage of a graph and all nested in it. Returns whether the rest may be read.
bool check_structure(const Graph& graph, Findings& findings);

/// All levels up to `level` that a graph and those nested in it have without a program. Returns
/// whether the storage is sound.
bool check_graph(const Graph& graph, VerifyLevel level, Findings& findings);

/// Arguments and number of results of a call against the schema.
void check_schema(const Node& node, Findings& findings);

/// Whether a value of this kind may stand where the schema has `type`. Kinds that are not known
/// fit.
[[nodiscard]] bool fits_type(ValueKind kind, const Type& type);

/// Metas of a node's values by themselves and against the schema's results.
void check_meta(const Node& node, Findings& findings);

/// That every symbol in a graph, and in those nested in it, is bound where it occurs first.
void check_symbols(const Graph& graph, Findings& findings);

/// That the inputs and outputs of the graphs that a higher-order call runs agree with its operands
/// and results, where the correspondence is known.
void check_bodies(const Node& node, Findings& findings);

}  // namespace winze
