// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>

#include "winze/builders/arguments.h"
#include "winze/ir/graph.h"

// What the generated builders are made of.
namespace winze {

/// Makes a call at the insertion point, as Graph::call_function does, with the metas that the
/// operator's shape rule gives for these arguments. About a microsecond.
///
/// Throws Error, with the call and the user's line, where PyTorch would refuse the arguments, where
/// something has to hold that the ranges of the symbols do not prove, and where the operator has no
/// rule or its rule cannot tell; nothing is made then.
Node call_function(Graph& graph, OpId op, std::span<const Argument> arguments,
                   const CallOptions& options = {});
Node call_function(Graph& graph, OpId op, std::initializer_list<Argument> arguments,
                   const CallOptions& options = {});

/// The same for the first of these overloads that takes values and numbers where they are given:
/// for overloads that differ in nothing else. Where none does it is the first, which says so.
Node call_function(Graph& graph, std::initializer_list<OpId> overloads,
                   std::initializer_list<Argument> arguments);

/// The graph, for overloads that are taken only where the ones before them cannot be: PyTorch's
/// parser tries them in order, and making this of a graph costs overload resolution a conversion.
class GraphOfLaterOverload {
 public:
  GraphOfLaterOverload(Graph& graph) : graph_(&graph) {}  // NOLINT(google-explicit-constructor)
  operator Graph&() const { return *graph_; }             // NOLINT(google-explicit-constructor)

 private:
  Graph* graph_;
};

/// The values of a call that yields so many.
template <std::size_t count>
[[nodiscard]] std::array<Value, count> values_of(const Node& node) {
  std::array<Value, count> values;
  for (std::uint32_t index = 0; index < count; ++index) values[index] = node.value(index);
  return values;
}

}  // namespace winze
