// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "python/native/program_holder.h"

namespace winze {

namespace nb = nanobind;

/// A function or class of the package that is written in Python.
[[nodiscard]] nb::object of_package(const char* module, const char* name);

/// A graph as Python holds it. Every use asks whether it is still there.
struct GraphHandle {
  SharedProgram holder;
  Graph* graph = nullptr;

  /// \throws Error where the program was closed or the nested graph erased.
  [[nodiscard]] Graph& get() const;
  bool operator==(const GraphHandle& other) const { return graph == other.graph; }
};

/// A node as Python holds it.
struct NodeHandle {
  GraphHandle graph;
  NodeId id;
  std::uint32_t epoch = 0;

  NodeHandle(GraphHandle owner, Node node);
  /// \throws Error where the node was erased, or passes ran since the handle was made.
  [[nodiscard]] Node get() const;
  bool operator==(const NodeHandle& other) const {
    return graph == other.graph && id == other.id && epoch == other.epoch;
  }
};

/// One of several results of a node.
struct ValueHandle {
  NodeHandle node;
  std::uint32_t index = 0;
  bool operator==(const ValueHandle& other) const {
    return node == other.node && index == other.index;
  }
};

/// What Python shows for a node: one object as long as anyone holds it, so that `is` holds as it
/// does in torch.fx.
[[nodiscard]] nb::object node_to_python(const GraphHandle& graph, Node node);
/// What Python shows for a graph: one object as long as anyone holds it.
[[nodiscard]] nb::object graph_to_python(const GraphHandle& graph);
/// What Python shows for one of the results of a node: one object as long as anyone holds it.
[[nodiscard]] nb::object result_to_python(const GraphHandle& graph, Value value);
/// What Python shows for a value: its node where that yields it alone, else a Value.
[[nodiscard]] nb::object value_to_python(const GraphHandle& graph, Value value);
/// The value that a Node with one result, or a Value, stands for. \throws Error for other objects.
[[nodiscard]] Value value_from_python(const GraphHandle& graph, nb::handle object);
/// The callable that an operator stands for; its name while torch is not loaded.
[[nodiscard]] nb::object target_to_python(const GraphHandle& graph, OpId op);
/// A number, text, dtype, layout, memory format or device, or None, as Python shows it; null for
/// every other kind of argument. While torch is not loaded dtypes and their like are their names.
[[nodiscard]] nb::object constant_to_python(const Context& context, const Argument& argument);
/// An argument of `node` as Python shows it.
[[nodiscard]] nb::object argument_to_python(const GraphHandle& graph, Node node,
                                            const Argument& argument);

/// The key under which a node's source names the torch.fx node that it comes from.
inline constexpr std::string_view fx_node_key = "fx_node";
/// Keys of a source with this prefix stand for `ProgramHolder::meta_objects`, by index.
inline constexpr std::string_view meta_object_prefix = "object:";
/// The name of the torch.fx node of which a native node was made when its graph was read.
[[nodiscard]] std::string fx_node_name(Node node);
/// Key and value that an entry of a node's source has in the node's meta.
[[nodiscard]] std::pair<nb::str, nb::object> meta_entry(const ProgramHolder& holder,
                                                        const SourceInfo::Entry& entry);

/// Reads arguments given from Python; lists live as long as this.
class ArgumentsFromPython {
 public:
  explicit ArgumentsFromPython(GraphHandle graph) : graph_(std::move(graph)) {}
  /// \throws Error for what no graph can hold.
  [[nodiscard]] Argument read(nb::handle object, int depth = 0);

 private:
  GraphHandle graph_;
  std::vector<std::unique_ptr<std::vector<Argument>>> lists_;
};

/// The operator that a target (a name, or an operator of torch) stands for. An overload that is not
/// known yet is added with the schema that torch has of it. \throws Error.
[[nodiscard]] OpId op_from_python(const GraphHandle& graph, nb::handle target);
/// The same for the target of a call: of a packet it is the overload that PyTorch chooses for these
/// arguments.
[[nodiscard]] OpId op_from_python(const GraphHandle& graph, nb::handle target, nb::handle args,
                                  nb::handle kwargs);
/// The same for the target that is looked for: of a packet all of its overloads.
[[nodiscard]] std::vector<OpId> ops_from_python(const GraphHandle& graph, nb::handle target);

}  // namespace winze
