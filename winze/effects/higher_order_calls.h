// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "winze/ir/graph.h"

namespace winze {

/// What a call to a higher-order operator passes to the body it runs: one argument for each
/// placeholder of the body, in order. Nothing where the operator combines them in another way
/// (associative_scan, flex_attention). O(arguments).
[[nodiscard]] std::optional<std::vector<Argument>> body_operands(Node call, const Graph& body);

/// Whether an operator runs its body repeatedly and feeds what one run returns to the next.
[[nodiscard]] bool is_loop(Node call);

}  // namespace winze
