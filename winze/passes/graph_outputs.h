// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "winze/ir/graph.h"

namespace winze {

/// Whether a program returns gradients of its parameters or inputs: it is a step of training.
[[nodiscard]] bool returns_gradients(const Graph& graph);

/// Whether the value stands among what its graph returns. O(uses).
[[nodiscard]] bool is_returned_directly(Value value);

}  // namespace winze
