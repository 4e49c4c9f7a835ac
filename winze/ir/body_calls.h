// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "winze/ir/graph.h"

namespace winze {

/// What one input of a body is given.
struct BodyOperand {
  Argument argument;
  bool is_sliced = false;  ///< without its first dimension, which the operator runs over
};

/// What becomes of the values that a body returns.
enum class BodyResults : std::uint8_t {
  same,     ///< the call yields them
  stacked,  ///< each with one dimension more
  unknown,
};

/// One body that a higher-order call runs.
struct BodyCall {
  Graph* body = nullptr;
  std::vector<BodyOperand> operands;  ///< for each of its inputs, in order
  BodyResults results = BodyResults::unknown;
  bool is_loop = false;  ///< what one run returns is given to the next
};

/// The bodies of a call to a higher-order operator, after torch/_higher_order_ops; empty where the
/// correspondence is not known. O(arguments).
[[nodiscard]] std::vector<BodyCall> body_calls(const Node& node);

}  // namespace winze
