// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "winze/ir/graph.h"
#include "winze/symbolic/range.h"

namespace winze {

/// A bound on the elements `v` of an input: `scale * v + shift` has to be in `[low, high)`.
struct ElementBound {
  std::int64_t scale = 1;
  std::int64_t shift = 0;
  SymInt low;
  SymInt high;
};

/// What a graph does with the elements of one of its inputs, as far as this says which values make
/// sense there.
struct InputUse {
  std::vector<ElementBound> bounds;  ///< it indexes something, or a run-time number must fit
  bool is_distinct = false;          ///< places that are written: two writes to one have no order
  bool is_truth = false;             ///< serves as 0 or 1: cast to bool, compared with 0, negated
  bool is_additive_mask = false;     ///< added to attention scores
  bool is_positive = false;          ///< argument of a logarithm or a root
  bool is_fraction = false;          ///< a probability, or an argument in (-1, 1)
  bool is_divisor = false;           ///< integers are divided by it
  bool is_offsets = false;           ///< starts of bags: sorted, from 0
  SymInt offsets_end;                ///< for `is_offsets`: the number of elements in all bags
};

/// Follows the value of a placeholder through views, copies, casts, sums with constants and calls
/// of nested graphs, and gathers what its uses ask. O(uses), at most a fixed number of them.
[[nodiscard]] InputUse find_input_use(Value input);

}  // namespace winze
