// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "winze/ir/graph.h"
#include "winze/shape/shape_env.h"

namespace winze {

/// The elements of a tensor that a call is given; null where they are not known.
using ElementLookup = std::function<const std::vector<SymExpr>*(Value value)>;

/// The elements of the first result of a call, in row-major order, where those of its inputs tell
/// them; its metas give sizes and strides. Nothing for operators that have no rule here, and where
/// something is not known.
/// \throws Error where an element leaves the range of integers.
[[nodiscard]] std::optional<std::vector<SymExpr>> infer_elements(const Node& call,
                                                                 std::uint32_t result,
                                                                 const ElementLookup& lookup);

}  // namespace winze
