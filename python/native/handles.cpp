// SPDX-License-Identifier: Apache-2.0
#include "python/native/handles.h"

#include <nanobind/stl/string.h>

#include <algorithm>

#include "winze/ir/text_printer.h"

namespace winze {
namespace {

nb::object targets(const char* function) {
  return of_package("winze._targets", function);
}

std::string shown(nb::handle object) {
  return nb::repr(object).c_str();
}

nb::object& slot(std::vector<nb::object>& shown, std::uint32_t index) {
  if (shown.size() <= index) shown.resize(std::max<std::size_t>(index + 1, 2 * shown.size()));
  return shown[index];
}

/// What a weak reference refers to, or a new object to which it refers then.
template <typename Make>
nb::object shown_once(nb::object& reference, const Make& make) {
  if (reference.is_valid()) {
    nb::object known = reference();
    if (!known.is_none()) return known;
  }
  nb::object made = nb::cast(make());
  reference = nb::weakref(made);
  return made;
}

}  // namespace

nb::object of_package(const char* module, const char* name) {
  return nb::module_::import_(module).attr(name);
}

Graph& GraphHandle::get() const {
  holder->check_open();
  Graph& root = *holder->program->graph;
  if (graph == &root) return root;
  const std::vector<Graph*> all = root.all_graphs();
  if (std::ranges::find(all, graph) == all.end()) {
    throw Error("this nested graph is gone: the call that had it was erased");
  }
  return *graph;
}

NodeHandle::NodeHandle(GraphHandle owner, Node node)
    : graph(std::move(owner)), id(node.id()), epoch(graph.holder->epoch) {}

Node NodeHandle::get() const {
  Graph& owner = graph.get();
  if (epoch != graph.holder->epoch) {
    throw Error("this node is of before: passes have run over the program since",
                "look the node up anew (graph.nodes, graph.find_nodes)");
  }
  const Node node = owner.node_at(id);
  if (!node.is_alive()) throw Error("this node was erased");
  return node;
}

nb::object graph_to_python(const GraphHandle& graph) {
  return shown_once(graph.holder->shown_graphs[graph.graph], [&] { return graph; });
}

nb::object node_to_python(const GraphHandle& graph, Node node) {
  return shown_once(slot(graph.holder->shown_nodes[graph.graph], node.id().index),
                    [&] { return NodeHandle(graph, node); });
}

nb::object result_to_python(const GraphHandle& graph, Value value) {
  return shown_once(slot(graph.holder->shown_values[graph.graph], value.id().index),
                    [&] { return ValueHandle{NodeHandle(graph, value.node()), value.index()}; });
}

nb::object value_to_python(const GraphHandle& graph, Value value) {
  const Node node = value.node();
  return node.value_count() == 1 ? node_to_python(graph, node) : result_to_python(graph, value);
}

Value value_from_python(const GraphHandle& graph, nb::handle object) {
  Value value;
  if (nb::isinstance<ValueHandle>(object)) {
    const auto handle = nb::cast<ValueHandle>(object);
    value = handle.node.get().value(handle.index);
  } else if (nb::isinstance<NodeHandle>(object)) {
    const Node node = nb::cast<NodeHandle>(object).get();
    if (node.value_count() != 1) {
      throw Error(fmt::format("{} has {} results", node.str(), node.value_count()),
                  "say which: node.results[0]");
    }
    value = node.value();
  } else {
    throw nb::type_error(fmt::format("a node is expected, not {}", shown(object)).c_str());
  }
  if (&value.graph() != graph.graph) {
    throw Error(fmt::format("{} belongs to another graph", value.node().str()));
  }
  return value;
}

nb::object target_to_python(const GraphHandle& graph, OpId op) {
  std::vector<nb::object>& shown = graph.holder->shown_ops;
  if (op.index < shown.size() && shown[op.index].is_valid()) return shown[op.index];
  const Context& context = graph.get().context();
  nb::object target = targets("resolve")(std::string(context.ops().qualified_name(op)));
  if (nb::isinstance<nb::str>(target)) return target;  // torch may be loaded, or know it, later
  if (shown.size() <= op.index) shown.resize(op.index + 1);
  shown[op.index] = target;
  return target;
}

nb::object constant_to_python(const Context& context, const Argument& argument) {
  const auto named = [](const char* kind, std::string_view name) {
    return targets("constant")(kind, std::string(name));
  };
  switch (argument.kind()) {
    case ArgumentKind::none:
      return nb::none();
    case ArgumentKind::integer:
      return nb::cast(argument.integer());
    case ArgumentKind::floating:
      return nb::cast(argument.floating());
    case ArgumentKind::boolean:
      return nb::cast(argument.boolean());
    case ArgumentKind::string:
      return nb::cast(std::string(context.text(argument.string_id())));
    case ArgumentKind::complex: {
      const std::complex<double> number = context.complex_of(argument);
      return nb::steal(PyComplex_FromDoubles(number.real(), number.imag()));
    }
    case ArgumentKind::dtype:
      return named("dtype", full_name(argument.dtype()));
    case ArgumentKind::layout:
      return named("layout", name_of(argument.layout()));
    case ArgumentKind::memory_format:
      return named("memory_format", name_of(argument.memory_format()));
    case ArgumentKind::device:
      return named("device", context.device_text(argument.device()));
    default:
      return {};
  }
}

nb::object argument_to_python(const GraphHandle& graph, Node node, const Argument& argument) {
  Context& context = node.graph().context();
  switch (argument.kind()) {
    case ArgumentKind::default_value:
    case ArgumentKind::input_spec:
    case ArgumentKind::output_spec:
      return nb::none();
    case ArgumentKind::value:
      return value_to_python(graph, node.graph().value_at(argument.value_id()));
    case ArgumentKind::op:
      return target_to_python(graph, argument.op());
    case ArgumentKind::graph:
      return graph_to_python({graph.holder, &node.graph().subgraph(argument.graph_id())});
    case ArgumentKind::custom_object:
      return nb::cast(std::string(context.text(context.custom_object_of(argument).name)));
    default:
      break;
  }
  if (nb::object constant = constant_to_python(context, argument); constant.is_valid()) {
    return constant;
  }
  nb::list elements;
  for (std::uint32_t i = 0; i < list_size(context, argument); ++i) {
    elements.append(argument_to_python(graph, node, list_element(node, argument, i)));
  }
  return elements;
}

std::string fx_node_name(Node node) {
  return fmt::format("{}:{}", node.graph().serial(), node.id().index);
}

std::pair<nb::str, nb::object> meta_entry(const ProgramHolder& holder,
                                          const SourceInfo::Entry& entry) {
  const std::string_view key = holder.context->text(entry.key);
  const std::string value(holder.context->text(entry.value));
  if (!key.starts_with(meta_object_prefix))
    return {nb::str(key.data(), key.size()), nb::str(value.c_str(), value.size())};
  const std::string_view name = key.substr(meta_object_prefix.size());
  const std::size_t index = std::stoul(value);
  return {nb::str(name.data(), name.size()),
          index < holder.meta_objects.size() ? holder.meta_objects[index] : nb::none()};
}

Argument ArgumentsFromPython::read(nb::handle object, int depth) {
  Context& context = graph_.get().context();
  PyObject* raw = object.ptr();
  if (object.is_none()) return Argument::none();
  if (nb::isinstance<NodeHandle>(object) || nb::isinstance<ValueHandle>(object)) {
    return value_from_python(graph_, object);
  }
  if (PyBool_Check(raw) != 0) return Argument(raw == Py_True);
  if (PyLong_Check(raw) != 0) {
    std::int64_t integer = 0;
    if (!nb::try_cast(object, integer))
      throw nb::value_error(fmt::format("{} does not fit into 64 bits", shown(object)).c_str());
    return Argument(integer);
  }
  if (PyFloat_Check(raw) != 0) return Argument(PyFloat_AsDouble(raw));
  if (PyComplex_Check(raw) != 0) {
    return context.complex(PyComplex_RealAsDouble(raw), PyComplex_ImagAsDouble(raw));
  }
  if (PyUnicode_Check(raw) != 0) return context.string_argument(nb::cast<std::string>(object));
  if ((PyList_Check(raw) != 0 || PyTuple_Check(raw) != 0) && depth < 8) {
    auto elements = std::make_unique<std::vector<Argument>>();
    for (const nb::handle element : object) elements->push_back(read(element, depth + 1));
    if (elements->empty()) return Argument::empty_list();
    lists_.push_back(std::move(elements));
    return Argument(std::span<const Argument>(*lists_.back()));
  }
  const nb::object described = targets("describe")(object);
  if (described.is_none()) {
    throw nb::type_error(fmt::format("{} cannot be an argument in a graph", shown(object)).c_str());
  }
  const auto kind = nb::cast<std::string>(described[0]);
  const auto text = nb::cast<std::string>(described[1]);
  if (kind == "dtype") {
    if (const auto dtype = scalar_type_from_name(text)) return Argument(*dtype);
  } else if (kind == "layout") {
    if (const auto layout = layout_from_name(text)) return Argument(*layout);
  } else if (kind == "memory_format") {
    if (const auto format = memory_format_from_name(text)) return Argument(*format);
  } else if (kind == "device") {
    const std::size_t colon = text.find(':');
    Device device{.type = context.device_type(text.substr(0, colon))};
    if (colon != std::string::npos)
      device.index = static_cast<std::int16_t>(std::stoi(text.substr(colon + 1)));
    return Argument(device);
  }
  throw Error(fmt::format("{} {} is not known", kind, text));
}

OpId op_from_python(const GraphHandle& graph, nb::handle target) {
  ProgramHolder& holder = *graph.holder;
  const auto known = holder.given_ops.find(target.ptr());
  if (known != holder.given_ops.end()) return known->second.op;
  const auto name = nb::cast<std::string>(targets("name_of")(target));
  OpRegistry& registry = graph.get().context().ops();
  OpId op = registry.find(name);
  if (!op.is_valid()) {
    const nb::object schema = targets("schema_of")(target);
    op = schema.is_none() ? registry.find_or_throw(name)
                          : registry.add(nb::cast<std::string>(schema));
  }
  if (!nb::isinstance<nb::str>(target)) {
    holder.given_ops.emplace(target.ptr(), ProgramHolder::GivenOp{nb::borrow(target), op});
  }
  return op;
}

OpId op_from_python(const GraphHandle& graph, nb::handle target, nb::handle args,
                    nb::handle kwargs) {
  if (nb::isinstance<nb::str>(target) || graph.holder->given_ops.contains(target.ptr()))
    return op_from_python(graph, target);
  return op_from_python(graph,
                        of_package("winze._inference", "overload_for")(target, args, kwargs));
}

std::vector<OpId> ops_from_python(const GraphHandle& graph, nb::handle target) {
  if (!nb::isinstance<nb::str>(target) && !graph.holder->given_ops.contains(target.ptr())) {
    const nb::object packet = targets("packet_of")(target);
    if (!packet.is_none())
      return graph.get().context().ops().overloads(nb::cast<std::string>(packet));
  }
  return {op_from_python(graph, target)};
}

}  // namespace winze
