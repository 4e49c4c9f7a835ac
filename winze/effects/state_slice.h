// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "winze/effects/alias_analysis.h"
#include "winze/effects/backward_slice.h"
#include "winze/ir/graph.h"

namespace winze {

/// What is written without gradients to what outlives a run: the nodes whose results flow into such
/// a write to an input of the program, or into an output that the signature writes back to one.
///
/// A border of autograd (`detach`, a region without gradients) among them has to stay even in a
/// program that is only run: a parameter that is written in grad mode is an error, and a buffer
/// that gets a gradient keeps the history of the run alive. Not meant are writes of values that
/// carry gradients anyway, as of keys and values into a cache, and of values that nothing with a
/// gradient flows into.
[[nodiscard]] BackwardSlice state_slice(Graph& root, const AliasAnalysis& aliases);

}  // namespace winze
