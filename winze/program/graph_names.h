// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "winze/ir/graph.h"
#include "winze/support/string_map.h"

namespace winze {

/// Names for everything in one graph, each unique in it, as torch.fx wants them: names that were
/// given are kept, except for the later of two that are equal and for what is no Python identifier;
/// the others are made from the operator's name as torch.fx makes them (`add`, `add_1`, `getitem`,
/// `topk_unused_1`). Nested graphs are apart. O(nodes).
class GraphNames {
 public:
  explicit GraphNames(const Graph& graph);

  [[nodiscard]] std::string_view of(Value value) const { return value_names_[value.id().index]; }
  /// The name of the torch.fx node: that of its value where it has one and is not a list or tuple.
  [[nodiscard]] std::string_view of(Node node) const { return node_names_[node.id().index]; }
  /// A name for the attribute that holds a nested graph, near to `wanted`.
  [[nodiscard]] std::string_view add_attribute(std::string_view wanted);

 private:
  void take_given_names(const Graph& graph);
  void make_missing_names(const Graph& graph);
  void make_result_names(const Graph& graph, Node node);
  [[nodiscard]] bool take(std::string_view name);
  [[nodiscard]] std::string_view make(std::string_view wanted);

  std::vector<std::string_view> value_names_;
  std::vector<std::string_view> node_names_;
  StringViewSet used_;
  StringMap<std::uint32_t> next_suffix_;
  std::deque<std::string> made_;
};

/// How many values each result of a call has, and whether it is a list: the recorded structure,
/// else what the operator's schema says.
[[nodiscard]] ResultStructure result_structure_of(Node node);

}  // namespace winze
