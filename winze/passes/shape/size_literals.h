// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "winze/ir/graph.h"
#include "winze/support/integer_map.h"

namespace winze {

/// Where sizes of the example stand in a program as numbers: in the arguments of calls, as
/// `view(x, [2, 8])`, or as a size of a weight or of an input that stayed.
class SizeLiterals {
 public:
  /// Looks for these numbers.
  explicit SizeLiterals(std::vector<std::int64_t> numbers) : numbers_(std::move(numbers)) {}

  [[nodiscard]] bool empty() const { return numbers_.empty(); }

  /// One of the numbers that a result has as a size, where an argument that takes sizes has it or
  /// nothing but arguments makes the result, as `arange(0, 18, 3)`.
  [[nodiscard]] std::optional<std::int64_t> in(const Node& call) const;
  /// The same, and numbers that are operands of arithmetic, as the divisor of a mean, or returned.
  /// Numbers so small that they mostly are no sizes are left out.
  [[nodiscard]] std::optional<std::int64_t> left_in(const Node& node) const;
  /// A size of the value that is one of the numbers.
  [[nodiscard]] std::optional<std::int64_t> size_of(Value value) const;

  /// Finds for each value where its numbers come from. O(values and arguments).
  void trace(Graph& root);
  /// After `trace`: the call that has such a number, or the input of the program that has such a
  /// size, nearest before the node; the node itself where it is one; none where there is none.
  [[nodiscard]] Node behind(const Node& node) const;

 private:
  [[nodiscard]] bool has(std::int64_t number) const;
  [[nodiscard]] Node origin_of(Value value) const;
  [[nodiscard]] Node origin_of_inputs(const Node& node) const;
  void trace(Graph& graph, bool is_root);
  void trace_bodies(const Node& call);

  std::vector<std::int64_t> numbers_;
  IntegerMap<Node> origins_;  ///< by graph and value
};

}  // namespace winze
