// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "winze/ir/text_printer.h"
#include "winze/ir/text_types.h"
#include "winze/program/graph_diff.h"

namespace winze {

HashedGraph::HashedGraph(CanonicalSide& side, const Graph& graph) : side_(&side), graph_(&graph) {
  // Inner graphs first: a call's hash takes in those of its bodies. Nesting is bounded by all
  // readers; what is deeper counts by its name alone.
  int depth = 1;
  for (const Graph* at = &graph; at->parent() != nullptr; at = at->parent()) ++depth;
  for (const Graph* nested : graph.subgraphs())
    nested_.emplace(nested, depth > text_max_depth ? 0 : HashedGraph(side, *nested).whole());
  positions_.resize(graph.node_capacity());
  std::uint32_t input_position = 0;
  for (const Node node : graph.nodes()) {
    if (node.is_output()) continue;
    add(node, input_position);
    if (!node.is_placeholder()) continue;
    const Argument spec = node.argument(0);
    const bool is_user_input = spec.kind() != ArgumentKind::input_spec ||
                               side.context().input_spec_of(spec).kind == InputKind::user_input;
    if (is_user_input) ++input_position;
  }
  for (const std::uint64_t hash : hashes_) whole_ = combine(whole_, hash);
  whole_ = combine(whole_, graph.is_single_tensor_return() ? 1 : 0);
  const Node output = graph.output_node();
  if (!output) return;
  const Argument values = output.argument(0);
  const Argument roles = output.argument(1);
  const std::uint32_t count = list_size(side.context(), values);
  for (std::uint32_t index = 0; index < count; ++index) {
    whole_ = combine(whole_, argument(output, list_element(output, values, index), 0));
    if (index < list_size(side.context(), roles))
      whole_ = combine(whole_, side.output_role(list_element(output, roles, index)));
  }
}

void HashedGraph::add(const Node& node, std::uint32_t input_position) {
  std::uint64_t kind = combine(static_cast<std::uint64_t>(node.kind()), 17);
  if (node.is_call()) {
    kind = combine(kind, side_->op(node.op()));
  } else if (node.is_placeholder()) {
    kind = combine(kind, side_->input_role(node, input_position));
  } else {
    kind = combine(kind, side_->constant(node.argument(0)));
  }
  std::uint64_t typed = combine(kind, node.value_count());
  for (std::uint32_t index = 0; index < node.value_count(); ++index) {
    typed = combine(typed, side_->meta(node.value(index).meta_id()));
  }
  positions_[node.id().index] = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back(node);
  kind_hashes_.push_back(kind);
  typed_hashes_.push_back(typed);
  hashes_.push_back(combine(typed, arguments(node)));
}

std::uint64_t HashedGraph::arguments(const Node& node) {
  if (!node.is_call()) return 0;
  std::uint64_t hash = 1;
  for (std::uint32_t index = 0; index < node.argument_count(); ++index) {
    hash = combine(hash, argument(node, node.argument(index), 0));
  }
  if (const ResultStructure* structure = graph_->result_structure(node)) {
    for (const std::int32_t group : structure->groups)
      hash = combine(hash, static_cast<std::uint32_t>(group));
    if (structure->is_single_tensor_return)
      hash = combine(hash, *structure->is_single_tensor_return ? 3 : 2);
  }
  return hash;
}

std::uint64_t HashedGraph::argument(const Node& node, const Argument& argument, int depth) {
  if (argument.is_value()) {
    const Value value = graph_->value_at(argument.value_id());
    return combine(hashes_[position(value.node())], value.index());
  }
  if (argument.kind() == ArgumentKind::graph)
    return nested_.at(&graph_->subgraph(argument.graph_id()));
  if (!argument.is_list() || argument.count() == 0 || depth > text_max_depth)
    return side_->constant(argument);
  std::uint64_t hash = combine(static_cast<std::uint64_t>(argument.kind()), argument.count());
  for (std::uint32_t index = 0; index < argument.count(); ++index) {
    hash = combine(hash, this->argument(node, node.element(argument, index), depth + 1));
  }
  return hash;
}

std::string HashedGraph::line(const Node& node) const {
  if (names_ == nullptr) names_ = std::make_unique<ValueNames>(*graph_);
  std::string text;
  TextPrinter printer(graph_->context(), text, {.sources = TextSources::none});
  printer.node(node, names_.get());
  return text;
}

std::string HashedGraph::value(ValueId value) const {
  if (names_ == nullptr) names_ = std::make_unique<ValueNames>(*graph_);
  std::string text;
  names_->append(text, value);
  return text;
}

std::string HashedGraph::type(MetaId meta) const {
  std::string text;
  append_type(text, graph_->context(), meta, Device{});
  return text;
}

}  // namespace winze
