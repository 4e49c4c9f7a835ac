// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "winze/ir/graph.h"

namespace winze {

/// Whether a program returns gradients of its parameters or inputs: it is a step of training.
[[nodiscard]] bool returns_gradients(const Graph& graph);

}  // namespace winze
