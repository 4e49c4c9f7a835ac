// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "winze/ir/graph.h"

namespace winze {

/// Calls `visit(Argument)` for `argument` and, where it is a list, for its elements instead, at any
/// depth (the IR bounds it).
template <typename Visit>
void for_each_leaf(Node node, const Argument& argument, const Visit& visit) {
  if (!argument.is_list()) {
    visit(argument);
    return;
  }
  for (std::uint32_t i = 0; i < argument.count(); ++i)
    for_each_leaf(node, node.element(argument, i), visit);
}

/// Calls `visit(Value)` for each value that stands in `argument`, in order.
template <typename Visit>
void for_each_value(Node node, const Argument& argument, const Visit& visit) {
  for_each_leaf(node, argument, [&](const Argument& leaf) {
    if (leaf.is_value()) visit(node.graph().value_at(leaf.value_id()));
  });
}

/// The same for all arguments of a node.
template <typename Visit>
void for_each_input(Node node, const Visit& visit) {
  const std::uint32_t count = node.argument_count();
  for (std::uint32_t i = 0; i < count; ++i) for_each_value(node, node.argument(i), visit);
}

/// Calls `visit(Graph&)` for each graph that a node holds as an argument.
template <typename Visit>
void for_each_body(Node node, const Visit& visit) {
  const std::uint32_t count = node.argument_count();
  for (std::uint32_t i = 0; i < count; ++i) {
    for_each_leaf(node, node.argument(i), [&](const Argument& leaf) {
      if (leaf.kind() == ArgumentKind::graph) visit(node.graph().subgraph(leaf.graph_id()));
    });
  }
}

}  // namespace winze
