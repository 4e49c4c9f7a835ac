// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <tsl/robin_map.h>

#include "winze/ir/text_names.h"
#include "winze/program/canonical_side.h"
#include "winze/program/program_diff.h"

namespace winze {

/// The nodes of one graph with hashes of what each computes.
class HashedGraph {
 public:
  HashedGraph(CanonicalSide& side, const Graph& graph);

  /// The nodes but the output, in order.
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  [[nodiscard]] const Graph& graph() const { return *graph_; }
  [[nodiscard]] CanonicalSide& side() { return *side_; }
  /// Position of a node in `nodes`.
  [[nodiscard]] std::uint32_t position(const Node& node) const {
    return positions_[node.id().index];
  }
  /// All that the node computes from, down to the inputs.
  [[nodiscard]] std::uint64_t hash(std::uint32_t position) const { return hashes_[position]; }
  /// Operator, or role of an input, alone.
  [[nodiscard]] std::uint64_t kind_hash(std::uint32_t position) const {
    return kind_hashes_[position];
  }
  /// That and the types of the results.
  [[nodiscard]] std::uint64_t typed_hash(std::uint32_t position) const {
    return typed_hashes_[position];
  }
  /// All of the graph in its order: equal for graphs that compute the same.
  [[nodiscard]] std::uint64_t whole() const { return whole_; }
  /// The node as a line of text.
  [[nodiscard]] std::string line(const Node& node) const;
  [[nodiscard]] std::string value(ValueId value) const;
  [[nodiscard]] std::string type(MetaId meta) const;
  /// Hash of an argument; a value counts as what computes it.
  std::uint64_t argument(const Node& node, const Argument& argument, int depth);

 private:
  [[nodiscard]] std::uint64_t combine(std::uint64_t hash, std::uint64_t value) const {
    return side_->combine(hash, value);
  }
  void add(const Node& node, std::uint32_t input_position);
  std::uint64_t arguments(const Node& node);

  CanonicalSide* side_;
  const Graph* graph_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> positions_;
  std::vector<std::uint64_t> hashes_;
  std::vector<std::uint64_t> kind_hashes_;
  std::vector<std::uint64_t> typed_hashes_;
  tsl::robin_map<const Graph*, std::uint64_t> nested_;
  std::uint64_t whole_ = 0;
  mutable std::unique_ptr<ValueNames> names_;
};

/// Appends the differences of two graphs and of those nested in calls that match.
void compare_graphs(CanonicalSide& a, const Graph& graph_a, CanonicalSide& b, const Graph& graph_b,
                    std::vector<Difference>& differences);

}  // namespace winze
