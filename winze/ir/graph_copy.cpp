// SPDX-License-Identifier: Apache-2.0
// Copies of nodes and graphs, and dead code.
#include "winze/ir/graph.h"
#include "winze/schema/op.h"

namespace winze {
namespace {

/// Copies nodes from one graph into another of the same context.
class Copier {
 public:
  Copier(const Graph& from, Graph& to, std::function<Value(Value)> map)
      : from_(from), to_(to), map_(std::move(map)) {}

  Node copy(Node node) {
    metas_.clear();
    for (std::uint32_t index = 0; index < node.value_count(); ++index)
      metas_.push_back(node.value(index).meta_id());
    if (node.kind() == NodeKind::placeholder) {
      const Node made = to_.placeholder(node.value().name(), metas_[0], node.argument(0));
      made.set_source(node.source());
      return made;
    }
    if (node.kind() == NodeKind::get_attr) {
      const Node made = to_.get_attr(node.target(), metas_[0]);
      finish(node, made);
      return made;
    }
    arguments_.clear();
    lists_.clear();
    for (std::uint32_t index = 0; index < node.argument_count(); ++index) {
      arguments_.push_back(mapped(node, node.argument(index)));
    }
    Node made;
    if (node.is_output()) {
      made = to_.output(elements_of(arguments_[0]), elements_of(arguments_[1]));
    } else {
      const CallOptions options{.source = node.source(),
                                .structure = from_.result_structure(node),
                                .positional_count = from_.given_positional_count(node)};
      made = to_.call_function(node.op(), arguments_, metas_, options);
    }
    finish(node, made);
    return made;
  }

  Argument mapped(Node node, const Argument& argument) {
    if (argument.is_value()) return Argument(map_(from_.value_at(argument.value_id())));
    if (argument.kind() == ArgumentKind::graph)
      return copy_graph(from_.subgraph(argument.graph_id()));
    if (!argument.is_list() || argument.count() == 0) return argument;
    auto elements = std::make_unique<std::vector<Argument>>();
    for (std::uint32_t index = 0; index < argument.count(); ++index) {
      elements->push_back(mapped(node, node.element(argument, index)));
    }
    lists_.push_back(std::move(elements));
    return Argument(std::span<const Argument>(*lists_.back()));
  }

 private:
  static std::span<const Argument> elements_of(const Argument& list) {
    return list.is_external() ? list.external_elements() : std::span<const Argument>();
  }

  void finish(Node node, Node made) {
    made.set_source(node.source());
    if (!node.name().empty()) made.set_name(node.name());
    for (std::uint32_t index = 0; index < node.value_count(); ++index) {
      if (const std::string_view name = node.value(index).name(); !name.empty())
        made.value(index).set_name(name);
    }
  }

  Argument copy_graph(const Graph& nested);

  const Graph& from_;
  Graph& to_;
  std::function<Value(Value)> map_;
  std::vector<Argument> arguments_;
  std::vector<MetaId> metas_;
  std::vector<std::unique_ptr<std::vector<Argument>>> lists_;
};

/// Copies every node of `from` into `to`, which must hold nothing yet.
void copy_all(const Graph& from, Graph& to) {
  RecordArray<ValueId> copies;  // by value of `from`
  copies.resize(from.value_capacity());
  Copier copier(from, to, [&](Value value) { return to.value_at(copies[value.id().index]); });
  for (const Node node : from.nodes()) {
    const Node made = copier.copy(node);
    for (std::uint32_t index = 0; index < node.value_count(); ++index)
      copies[node.value(index).id().index] = made.value(index).id();
  }
  to.set_is_single_tensor_return(from.is_single_tensor_return());
  to.set_unknown_fields(from.unknown_fields());
}

// Nested graphs nest at most as deep as readers allow, so the recursion is bounded.
Argument Copier::copy_graph(const Graph& nested) {
  const GraphId id = to_.add_subgraph(nested.name());
  copy_all(nested, to_.subgraph(id));
  return Argument::graph(id);
}

}  // namespace

Node Graph::node_copy(Node node, const std::function<Value(Value)>& map) {
  return Copier(node.graph(), *this, map).copy(node);
}

std::vector<Argument> Graph::graph_copy(const Graph& other,
                                        tsl::robin_map<std::uint32_t, Value>& values) {
  Copier copier(other, *this, [&](Value value) { return values.at(value.id().index); });
  std::vector<Node> copied;  // the other graph may be this one
  for (const Node node : other.nodes()) copied.push_back(node);
  for (const Node node : copied) {
    if (node.is_output()) continue;
    if (node.is_placeholder() && values.contains(node.value().id().index)) continue;
    WINZE_CHECK(!node.is_placeholder(), "graph_copy is given no value for placeholder {}",
                node.str());
    const Node made = copier.copy(node);
    for (std::uint32_t index = 0; index < node.value_count(); ++index) {
      values[node.value(index).id().index] = made.value(index);
    }
  }
  std::vector<Argument> returned;
  if (const Node end = other.output_node()) {
    const Argument list = end.argument(0);
    for (std::uint32_t index = 0; index < list.count(); ++index) {
      const Argument element = end.element(list, index);
      returned.push_back(element.is_value() ? Argument(values.at(element.value_id().index))
                                            : element);
    }
  }
  return returned;
}

std::unique_ptr<Graph> Graph::clone() const {
  auto copy = std::make_unique<Graph>(*context_, name_);
  copy->reserve(alive_, values_.size(), slots_.size());
  copy_all(*this, *copy);
  return copy;
}

std::size_t Graph::eliminate_dead_code() {
  return eliminate_dead_code(
      [this](Node node) { return !context_->ops().get(node.op()).is_pure(); });
}

std::size_t Graph::eliminate_dead_code(const std::function<bool(Node)>& is_impure) {
  std::size_t erased = 0;
  for (NodeId at = last_; at.valid();) {
    const Node node = node_at(at);
    at = nodes_[at.index].prev;
    if (node.is_call() || node.kind() == NodeKind::get_attr) {
      if (node.has_no_uses() && (!node.is_call() || !is_impure(node))) {
        erase_node(node);
        ++erased;
      }
    }
  }
  for (Graph* nested : subgraphs()) erased += nested->eliminate_dead_code(is_impure);
  return erased;
}

}  // namespace winze
