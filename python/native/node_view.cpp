// SPDX-License-Identifier: Apache-2.0
// `winze.Node` and `winze.Value`.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "python/native/bindings.h"
#include "python/native/handles.h"
#include "winze/effects/call_effects.h"
#include "winze/ir/text_printer.h"
#include "winze/support/quote.h"

namespace winze {
namespace {

std::string_view kind_name(const Meta& meta) {
  switch (meta.kind) {
    case ValueKind::tensor:
      return "tensor";
    case ValueKind::sym_int:
      return "sym_int";
    case ValueKind::sym_float:
      return "sym_float";
    case ValueKind::sym_bool:
      return "sym_bool";
    default:
      return "other";
  }
}

std::string op_name(const Node& node) {
  switch (node.kind()) {
    case NodeKind::placeholder:
      return "placeholder";
    case NodeKind::get_attr:
      return "get_attr";
    case NodeKind::output:
      return "output";
    default:
      return "call_function";
  }
}

nb::object target(const NodeHandle& self) {
  const Node node = self.get();
  if (!node.is_call()) return nb::cast(std::string(node.target()));
  return target_to_python(self.graph, node.op());
}

std::string node_name(const NodeHandle& self) {
  const Node node = self.get();
  if (node.is_output()) return "output";
  if (!node.name().empty()) return std::string(node.name());
  if (node.value_count() > 0 && !node.value().name().empty()) {
    return std::string(node.value().name());
  }
  return fmt::format("_{}", node.id().index);
}

/// Arguments as torch.fx has them.
struct CallArguments {
  nb::list positional;
  nb::dict keywords;
};

CallArguments call_arguments(const NodeHandle& self) {
  const Node node = self.get();
  CallArguments result;
  if (node.is_output()) {
    result.positional.append(nb::tuple(argument_to_python(self.graph, node, node.argument(0))));
    return result;
  }
  if (!node.is_call()) return result;
  const auto& formals = node.graph().context().ops().get(node.op()).schema.arguments;
  const GivenArguments given = node.given_arguments();
  for (const std::uint32_t i : given.args)
    result.positional.append(argument_to_python(self.graph, node, node.argument_or_default(i)));
  for (const std::uint32_t i : given.kwargs) {
    result.keywords[std::string(formals[i].name).c_str()] =
        argument_to_python(self.graph, node, node.argument(i));
  }
  return result;
}

void set_argument(const NodeHandle& self, std::uint32_t index, nb::handle value) {
  const Node node = self.get();
  if (index >= node.argument_count()) {
    throw nb::index_error(
        fmt::format("{} has {} arguments", node.str(), node.argument_count()).c_str());
  }
  ArgumentsFromPython reader(self.graph);
  node.set_argument(index, reader.read(value));
}

/// Index of the argument that is `position` in `args`.
std::uint32_t index_of_position(Node node, std::uint32_t position) {
  if (!node.is_call()) return position;
  return node.graph().context().ops().get(node.op()).schema.index_of_position(position);
}

/// An argument that was none by position becomes one, and so do those before it.
void set_arg(const NodeHandle& self, std::uint32_t position, nb::handle value) {
  const Node node = self.get();
  const std::uint32_t index = index_of_position(node, position);
  const std::uint32_t before = node.is_call() ? node.positional_count() : 0;
  set_argument(self, index, value);
  if (node.is_call()) node.set_positional_count(std::max(before, index + 1));
}

/// An argument that is given by position stays so.
void set_kwarg(const NodeHandle& self, const std::string& name, nb::handle value) {
  const Node node = self.get();
  if (node.is_call()) {
    const auto& formals = node.graph().context().ops().get(node.op()).schema.arguments;
    const auto found = std::ranges::find(formals, name, &SchemaArgument::name);
    if (found != formals.end()) {
      const std::uint32_t before = node.positional_count();
      set_argument(self, static_cast<std::uint32_t>(found - formals.begin()), value);
      return node.set_positional_count(before);
    }
  }
  throw nb::type_error(fmt::format("{} has no argument {}", node.str(), quote(name)).c_str());
}

/// What is no longer given has its default; keyword arguments stay.
void set_args(const NodeHandle& self, nb::handle given) {
  if (PyTuple_Check(given.ptr()) == 0 && PyList_Check(given.ptr()) == 0)
    throw nb::type_error(
        fmt::format("args is {}; it is a tuple", nb::str(nb::repr(given)).c_str()).c_str());
  const nb::tuple args(given);
  const std::size_t before = nb::len(call_arguments(self).positional);
  const Node node = self.get();
  if (node.kind() == NodeKind::placeholder || node.kind() == NodeKind::get_attr)
    throw nb::type_error(fmt::format("{} takes no arguments", node.str()).c_str());
  if (node.is_output() && nb::len(args) != 1)
    throw nb::type_error("the output node takes one argument: what the graph returns");
  const auto count = static_cast<std::uint32_t>(nb::len(args));
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t index = index_of_position(node, i);
    const bool is_graph = index < node.argument_count() && nb::isinstance<GraphHandle>(args[i]);
    if (is_graph && node.argument(index).kind() == ArgumentKind::graph) continue;
    set_argument(self, index, args[i]);
  }
  for (std::uint32_t i = count; i < before; ++i)
    node.set_argument(index_of_position(node, i), Argument::default_value());
  if (node.is_call())
    node.set_positional_count(count == 0 ? 0 : index_of_position(node, count - 1) + 1);
}

/// What is no longer given has its default; positional arguments stay.
void set_kwargs(const NodeHandle& self, const nb::dict& kwargs) {
  const nb::dict before = call_arguments(self).keywords;
  for (const auto& [name, value] : kwargs) set_kwarg(self, nb::cast<std::string>(name), value);
  for (const auto& [name, value] : before) {
    if (kwargs.contains(name)) continue;
    const auto& formals = self.get().graph().context().ops().get(self.get().op()).schema.arguments;
    const auto found =
        std::ranges::find(formals, nb::cast<std::string>(name), &SchemaArgument::name);
    self.get().set_argument(static_cast<std::uint32_t>(found - formals.begin()),
                            Argument::default_value());
  }
}

nb::dict as_dict(const GraphHandle& graph, const std::vector<Node>& nodes) {
  nb::dict result;
  for (const Node node : nodes) result[node_to_python(graph, node)] = nb::none();
  return result;
}

/// Moves a node to another; one that goes between placeholders goes behind them.
void place(const NodeHandle& self, const NodeHandle& moved, bool before) {
  const Node node = self.get();
  if (node.is_placeholder() && !moved.get().is_placeholder()) {
    node.graph().last_placeholder().append(moved.get());
  } else if (before) {
    node.prepend(moved.get());
  } else {
    require_place_behind(node);
    node.append(moved.get());
  }
}

nb::object neighbour(const NodeHandle& self, bool next) {
  const Node node = next ? self.get().next() : self.get().prev();
  return node.valid() ? node_to_python(self.graph, node) : nb::none();
}

nb::object make_tensor_meta(const Context& context, const Meta& meta) {
  const auto numbers = [&](std::span<const SymInt> from) {
    nb::list result;
    for (const SymInt size : from) {
      if (size.is_constant()) {
        result.append(size.constant());
      } else {
        result.append(context.symbols().str(size));
      }
    }
    return nb::tuple(result);
  };
  return of_package("winze._metas", "TensorMeta")(
      std::string(full_name(meta.tensor.dtype)), numbers(meta.tensor.sizes),
      numbers(meta.tensor.strides), context.device_text(meta.tensor.device),
      meta.tensor.requires_grad);
}

/// A TensorMeta cannot be changed, so that all values of one meta have the same. A whole number is
/// shown as sizes are.
nb::object meta_of(const NodeHandle& self, Value value) {
  const Meta& meta = value.meta();
  if (meta.kind == ValueKind::sym_int && meta.has_expression) {
    const SymExpr expression = meta.expression;
    if (expression.is_constant()) return nb::cast(expression.constant());
    return nb::cast(value.graph().context().symbols().str(expression));
  }
  if (!meta.is_tensor()) return nb::none();
  std::vector<nb::object>& shown = self.graph.holder->shown_metas;
  const std::uint32_t index = value.meta_id().index;
  if (shown.size() <= index) shown.resize(index + 1);
  if (!shown[index].is_valid()) shown[index] = make_tensor_meta(value.graph().context(), meta);
  return shown[index];
}

/// What the pass and the program say of the node, and the meta of the torch.fx node that it is or
/// comes from.
nb::object meta_with(const NodeHandle& self, const nb::object& val) {
  const Node node = self.get();
  const Context& context = node.graph().context();
  nb::dict entries;
  entries["val"] = val;
  nb::object origin = nb::none();
  bool is_origin = false;
  if (node.source().valid()) {
    for (const SourceInfo::Entry& entry : context.source_info(node.source()).entries) {
      if (context.text(entry.key) == fx_node_key) {
        const std::string_view name = context.text(entry.value);
        origin = self.graph.holder->fx_node_named(name);
        is_origin = name == fx_node_name(node);
      } else {
        const auto [key, value] = meta_entry(*self.graph.holder, entry);
        entries[key] = value;
      }
    }
  }
  return of_package("winze._metas", "NodeMeta")(node_to_python(self.graph, node), entries, origin,
                                                is_origin);
}

nb::object meta(const NodeHandle& self) {
  const Node node = self.get();
  if (node.value_count() == 1) return meta_with(self, meta_of(self, node.value()));
  nb::list values;
  for (const Value value : node.values()) values.append(meta_of(self, value));
  return meta_with(self, nb::tuple(values));
}

/// Replaces what the node's meta says; which torch.fx node it comes from stays.
void set_entries(const NodeHandle& self, const nb::dict& entries) {
  const Node node = self.get();
  Context& context = node.graph().context();
  SourceInfo info;
  if (node.source().valid()) {
    info = context.source_info(node.source());
    std::erase_if(info.entries, [&](const SourceInfo::Entry& entry) {
      return context.text(entry.key) != fx_node_key;
    });
  }
  std::vector<nb::object>& objects = self.graph.holder->meta_objects;
  for (const auto& [key, value] : entries) {
    const auto name = nb::cast<std::string>(key);
    if (nb::isinstance<nb::str>(value)) {
      info.entries.push_back({context.string(name), context.string(nb::cast<std::string>(value))});
    } else {
      info.entries.push_back({context.string(fmt::format("{}{}", meta_object_prefix, name)),
                              context.string(std::to_string(objects.size()))});
      objects.push_back(nb::borrow(value));
    }
  }
  node.set_source(context.source(info));
}

void set_name(const NodeHandle& self, const std::string& name) {
  const Node node = self.get();
  if (node.value_count() == 1) {
    node.value().set_name(name);
  } else {
    node.set_name(name);
  }
}

/// As torch.fx's: of placeholders what they are annotated with.
nb::object type(const NodeHandle& self) {
  const Node node = self.get();
  if (!node.is_placeholder()) return nb::none();
  return of_package("winze._metas", "type_of")(kind_name(node.value().meta()));
}

bool is_impure(const NodeHandle& self, bool impure_random) {
  const Node node = self.get();
  if (node.is_placeholder() || node.is_output()) return true;
  if (!node.is_call()) return false;
  CallFacts facts = CallEffects(node.graph().context()).facts(node);
  if (!impure_random) facts.is_random = false;
  return facts.is_impure();
}

/// Every argument, those that are left out with the schema's default.
nb::object normalized_arguments(const NodeHandle& self, nb::handle /*root*/, nb::handle /*types*/,
                                nb::handle /*kwarg_types*/, bool only_kwargs) {
  const Node node = self.get();
  if (!node.is_call()) return nb::none();
  const CallArguments given = call_arguments(self);
  const Schema& schema = node.graph().context().ops().get(node.op()).schema;
  if (node.argument_count() != schema.arguments.size()) return nb::none();
  nb::list positional;
  nb::dict keywords;
  for (std::uint32_t i = 0; i < node.argument_count(); ++i) {
    const nb::object value = argument_to_python(self.graph, node, node.argument_or_default(i));
    if (!only_kwargs && i < nb::len(given.positional)) {
      positional.append(value);
    } else {
      keywords[std::string(schema.arguments[i].name).c_str()] = value;
    }
  }
  return of_package("winze._metas", "ArgsKwargsPair")(nb::tuple(positional), keywords);
}

/// The users of a node that are not among them any more.
nb::list users_that_left(const NodeHandle& self, const std::vector<Node>& before) {
  std::unordered_set<std::uint32_t> left;
  for (const Node user : self.get().users()) left.insert(user.id().index);
  nb::list changed;
  for (const Node user : before) {
    if (!left.contains(user.id().index)) changed.append(node_to_python(self.graph, user));
  }
  return changed;
}

nb::list replace_all_uses_with(const NodeHandle& self, nb::handle replacement,
                               const nb::object& delete_user_cb, bool propagate_meta) {
  const Node node = self.get();
  const std::vector<Node> users = node.users();
  if (!delete_user_cb.is_none()) {
    // Asked beforehand: the callback may raise.
    std::unordered_set<std::uint32_t> chosen;
    for (const Node user : users) {
      if (nb::cast<bool>(nb::bool_(delete_user_cb(node_to_python(self.graph, user)))))
        chosen.insert(user.id().index);
    }
    value_from_python(self.graph, nb::cast(self))
        .replace_uses_if(value_from_python(self.graph, replacement),
                         [&](Node user) { return chosen.contains(user.id().index); });
  } else if (nb::isinstance<NodeHandle>(replacement) && node.value_count() != 1) {
    node.replace_all_uses_with(nb::cast<NodeHandle>(replacement).get());
  } else {
    value_from_python(self.graph, nb::cast(self))
        .replace_all_uses_with(value_from_python(self.graph, replacement));
  }
  if (propagate_meta && nb::isinstance<NodeHandle>(replacement))
    nb::cast<NodeHandle>(replacement).get().set_source(node.source());
  return users_that_left(self, users);
}

nb::list results(const NodeHandle& self) {
  nb::list values;
  for (const Value value : self.get().values()) values.append(result_to_python(self.graph, value));
  return values;
}

/// Nodes are instances of torch.fx's too once that is loaded: passes tell nodes from constants by
/// that, and ask it of each argument, so that nothing of Python is called here.
PyObject* class_of_node(PyObject* self, void* /*closure*/) {
  static PyObject* const module_name = PyUnicode_InternFromString("torch.fx");
  static PyObject* const class_name = PyUnicode_InternFromString("Node");
  PyObject* fx = PyDict_GetItemWithError(PyImport_GetModuleDict(), module_name);
  PyObject* fx_node = fx == nullptr ? nullptr : PyObject_GetAttr(fx, class_name);
  if (fx_node != nullptr) return fx_node;
  PyErr_Clear();  // it is being loaded
  return Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(self)));
}

}  // namespace

void bind_node_view(nb::module_& module) {
  const auto in_python = [](const char* name) {
    return [name](nb::handle self, const nb::args& args) {
      return of_package("winze._view", name)(self, *args);
    };
  };
  // A class cannot be given a property of this name later: it is one of its slots.
  static PyGetSetDef properties[] = {{"__class__", class_of_node, nullptr, nullptr, nullptr}, {}};
  static PyType_Slot slots[] = {{Py_tp_getset, properties}, {0, nullptr}};
  nb::class_<NodeHandle>(module, "Node", nb::type_slots(slots), nb::is_weak_referenceable(),
                         "A node, with the names and meaning of torch.fx.Node.")
      .def_prop_ro("op", [](const NodeHandle& self) { return op_name(self.get()); })
      .def_prop_rw("target", &target, in_python("set_target"))
      .def_prop_rw("name", &node_name, &set_name)
      .def_prop_ro("type", &type)
      .def_prop_ro("graph", [](const NodeHandle& self) { return graph_to_python(self.graph); })
      .def_prop_rw(
          "args", [](const NodeHandle& self) { return nb::tuple(call_arguments(self).positional); },
          &set_args)
      .def_prop_rw(
          "kwargs", [](const NodeHandle& self) { return call_arguments(self).keywords; },
          &set_kwargs)
      .def_prop_rw("meta", &meta,
                   [](const NodeHandle& self, const nb::object& entries) {
                     set_entries(self, nb::cast<nb::dict>(
                                           of_package("winze._metas", "not_inferred")(entries)));
                   })
      .def("_set_entries", &set_entries)
      .def_prop_ro("_kind",
                   [](const NodeHandle& self) {
                     const Node node = self.get();
                     return node.value_count() == 1 ? kind_name(node.value().meta()) : "other";
                   })
      .def_prop_ro("users",
                   [](const NodeHandle& self) { return as_dict(self.graph, self.get().users()); })
      .def_prop_ro("all_input_nodes",
                   [](const NodeHandle& self) {
                     nb::list nodes;
                     for (const Node node : self.get().all_input_nodes()) {
                       nodes.append(node_to_python(self.graph, node));
                     }
                     return nodes;
                   })
      .def_prop_ro("results", &results, "Its results one by one.")
      .def_prop_ro("next", [](const NodeHandle& self) { return neighbour(self, true); })
      .def_prop_ro("prev", [](const NodeHandle& self) { return neighbour(self, false); })
      .def("update_arg", &set_arg, nb::arg("idx"), nb::arg("arg").none())
      .def("update_kwarg", &set_kwarg, nb::arg("key"), nb::arg("arg").none())
      .def("replace_all_uses_with", &replace_all_uses_with, nb::arg("replace_with"),
           nb::arg("delete_user_cb") = nb::none(), nb::kw_only(), nb::arg("propagate_meta") = false,
           "Gives the users, or those that `delete_user_cb` chooses, another value; gives those "
           "that changed. Users before the replacement, and itself, keep this one.")
      .def("is_impure", &is_impure, nb::arg("impure_random") = true)
      .def("normalized_arguments", &normalized_arguments, nb::arg("root") = nb::none(),
           nb::arg("arg_types") = nb::none(), nb::arg("kwarg_types") = nb::none(),
           nb::arg("normalize_to_only_use_kwargs") = false)
      .def("insert_arg", in_python("insert_arg"))
      .def(
          "replace_input_with",
          [](const NodeHandle& self, nb::handle old_input, nb::handle new_input) {
            self.get().replace_input_with(value_from_python(self.graph, old_input),
                                          value_from_python(self.graph, new_input));
          },
          nb::arg("old_input"), nb::arg("new_input"))
      .def("append",
           [](const NodeHandle& self, const NodeHandle& node) { place(self, node, false); })
      .def("prepend",
           [](const NodeHandle& self, const NodeHandle& node) { place(self, node, true); })
      .def("format_node", [](const NodeHandle& self, const nb::args&,
                             const nb::kwargs&) { return self.get().str(); })
      .def_prop_rw("stack_trace", in_python("stack_trace"), in_python("set_stack_trace"))
      .def("__getattr__", in_python("missing_of_node"))
      .def("__str__", &node_name)
      .def("__repr__", &node_name)
      .def("__lt__", [](const NodeHandle& self,
                        const NodeHandle& other) { return self.get().before(other.get()); })
      .def("__gt__", [](const NodeHandle& self,
                        const NodeHandle& other) { return other.get().before(self.get()); })
      .def("__le__", [](const NodeHandle& self,
                        const NodeHandle& other) { return !other.get().before(self.get()); })
      .def("__ge__", [](const NodeHandle& self,
                        const NodeHandle& other) { return !self.get().before(other.get()); })
      .def("__eq__",
           [](const NodeHandle& self, const nb::object& other) {
             return nb::isinstance<NodeHandle>(other) && nb::cast<NodeHandle>(other) == self;
           })
      .def("__hash__", [](const NodeHandle& self) { return std::hash<NodeId>()(self.id); });
  nb::class_<ValueHandle>(module, "Value", nb::is_weak_referenceable(),
                          "One of several results of a node.")
      .def_prop_ro(
          "node",
          [](const ValueHandle& self) { return node_to_python(self.node.graph, self.node.get()); })
      .def_ro("index", &ValueHandle::index)
      .def_prop_ro("graph",
                   [](const ValueHandle& self) { return graph_to_python(self.node.graph); })
      .def_prop_ro("meta",
                   [](const ValueHandle& self) {
                     const Value value = self.node.get().value(self.index);
                     return meta_with(self.node, meta_of(self.node, value));
                   })
      .def_prop_ro("_kind",
                   [](const ValueHandle& self) {
                     return kind_name(self.node.get().value(self.index).meta());
                   })
      .def("replace_all_uses_with",
           [](const ValueHandle& self, nb::handle replacement) {
             self.node.get()
                 .value(self.index)
                 .replace_all_uses_with(value_from_python(self.node.graph, replacement));
           })
      .def_prop_ro("users",
                   [](const ValueHandle& self) {
                     return as_dict(self.node.graph, self.node.get().value(self.index).users());
                   })
      .def("__eq__",
           [](const ValueHandle& self, const nb::object& other) {
             return nb::isinstance<ValueHandle>(other) && nb::cast<ValueHandle>(other) == self;
           })
      .def("__hash__",
           [](const ValueHandle& self) { return std::hash<NodeId>()(self.node.id) + self.index; })
      .def("__repr__", [](const ValueHandle& self) {
        return fmt::format("{}[{}]", node_name(self.node), self.index);
      });
}

}  // namespace winze
