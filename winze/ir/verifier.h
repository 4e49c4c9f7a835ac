// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "winze/ir/graph.h"
#include "winze/support/diagnostic.h"

namespace winze {

/// How much is verified; each level includes those before it.
enum class VerifyLevel : std::uint8_t {
  structure,  ///< links, order, use lists, index by operator, ownership of nested graphs
  schema,     ///< arguments and results fit the operator's schema, in the one canonical spelling
  meta,       ///< kinds of values, ranks, sizes, bound symbols, bodies of higher-order operators
  semantics,  ///< what needs the program: roles of inputs and outputs, dialect, weights
};

[[nodiscard]] std::string_view name_of(VerifyLevel level);
[[nodiscard]] std::optional<VerifyLevel> verify_level_from_name(std::string_view name);

/// Verifies a graph and all nested in it. Gives back every finding, at most 1000 and one that says
/// how many more there are; nothing means that all is well. A graph whose storage is broken yields
/// the findings of `structure` alone, since nothing else can be read from it. O(nodes and
/// arguments).
[[nodiscard]] std::vector<Diagnostic> verify(const Graph& graph, VerifyLevel level);

/// Verifies some nodes of one graph and what touches them: links to their neighbours, their
/// arguments and results, and the users of their results. What is wrong elsewhere is not found.
/// Erased nodes are passed over. O(their arguments, results and uses).
[[nodiscard]] std::vector<Diagnostic> verify(std::span<const Node> nodes, VerifyLevel level);

}  // namespace winze
