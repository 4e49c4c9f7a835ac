// SPDX-License-Identifier: Apache-2.0
// `winze.Node` and `winze.Value`.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <unordered_set>

#include "python/native/bindings.h"
#include "python/native/handles.h"
#include "winze/ir/text_printer.h"
#include "winze/support/quote.h"

namespace winze {
namespace {

nb::object targets(const char* function) {
  return nb::module_::import_("winze._targets").attr(function);
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

/// Arguments as torch.fx has them: by position up to the first default or keyword-only one.
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
  const Schema& schema = node.graph().context().ops().get(node.op()).schema;
  bool by_keyword = false;
  for (std::uint32_t i = 0; i < node.argument_count(); ++i) {
    const Argument argument = node.argument(i);
    const bool is_formal = i < schema.arguments.size();
    by_keyword =
        by_keyword || (is_formal && (schema.arguments[i].kwarg_only || argument.is_default()));
    if (argument.is_default()) continue;
    const nb::object value = argument_to_python(self.graph, node, argument);
    if (by_keyword && is_formal) {
      result.keywords[std::string(schema.arguments[i].name).c_str()] = value;
    } else {
      result.positional.append(value);
    }
  }
  return result;
}

void set_arg(const NodeHandle& self, std::uint32_t index, nb::handle value) {
  const Node node = self.get();
  if (index >= node.argument_count()) {
    throw nb::index_error(
        fmt::format("{} has {} arguments", node.str(), node.argument_count()).c_str());
  }
  ArgumentsFromPython reader(self.graph);
  node.set_argument(index, reader.read(value));
}

void set_kwarg(const NodeHandle& self, const std::string& name, nb::handle value) {
  const Node node = self.get();
  if (node.is_call()) {
    const auto& formals = node.graph().context().ops().get(node.op()).schema.arguments;
    const auto found = std::ranges::find(formals, name, &SchemaArgument::name);
    if (found != formals.end())
      return set_arg(self, static_cast<std::uint32_t>(found - formals.begin()), value);
  }
  throw nb::type_error(fmt::format("{} has no argument {}", node.str(), quote(name)).c_str());
}

/// What is no longer given has its default; keyword arguments stay.
void set_args(const NodeHandle& self, const nb::tuple& args) {
  const std::size_t before = nb::len(call_arguments(self).positional);
  const Node node = self.get();
  if (node.kind() == NodeKind::placeholder || node.kind() == NodeKind::get_attr)
    throw nb::type_error(fmt::format("{} takes no arguments", node.str()).c_str());
  for (std::uint32_t i = 0; i < nb::len(args); ++i) {
    const bool is_graph = i < node.argument_count() && nb::isinstance<GraphHandle>(args[i]);
    if (is_graph && node.argument(i).kind() == ArgumentKind::graph) continue;
    set_arg(self, i, args[i]);
  }
  for (auto i = static_cast<std::uint32_t>(nb::len(args)); i < before; ++i)
    node.set_argument(i, Argument::default_value());
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
  for (const Node node : nodes) result[nb::cast(NodeHandle(graph, node))] = nb::none();
  return result;
}

nb::object neighbour(const NodeHandle& self, bool next) {
  const Node node = next ? self.get().next() : self.get().prev();
  return node.valid() ? nb::cast(NodeHandle(self.graph, node)) : nb::none();
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
  return targets("TensorMeta")(std::string(full_name(meta.tensor.dtype)),
                               numbers(meta.tensor.sizes), numbers(meta.tensor.strides),
                               context.device_text(meta.tensor.device), meta.tensor.requires_grad);
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

nb::dict meta(const NodeHandle& self) {
  const Node node = self.get();
  const Context& context = node.graph().context();
  nb::dict result;
  if (node.value_count() == 1) {
    result["val"] = meta_of(self, node.value());
  } else {
    nb::list values;
    for (const Value value : node.values()) values.append(meta_of(self, value));
    result["val"] = nb::tuple(values);
  }
  if (node.source().valid()) {
    for (const SourceInfo::Entry& entry : context.source_info(node.source()).entries) {
      result[std::string(context.text(entry.key)).c_str()] = std::string(context.text(entry.value));
    }
  }
  return result;
}

void replace_all_uses_with(const NodeHandle& self, nb::handle replacement,
                           const nb::object& delete_user_cb) {
  const Node node = self.get();
  if (!delete_user_cb.is_none()) {
    // Asked beforehand: the callback may raise.
    std::unordered_set<std::uint32_t> chosen;
    for (const Node user : node.users()) {
      if (nb::cast<bool>(nb::bool_(delete_user_cb(NodeHandle(self.graph, user)))))
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
}

nb::list results(const NodeHandle& self) {
  nb::list values;
  for (std::uint32_t i = 0; i < self.get().value_count(); ++i) values.append(ValueHandle{self, i});
  return values;
}

std::string line(const NodeHandle& self) {
  return self.get().str();
}

}  // namespace

void bind_node_view(nb::module_& module) {
  nb::class_<NodeHandle>(module, "Node", "A node, with the names and meaning of torch.fx.Node.")
      .def_prop_ro("op", [](const NodeHandle& self) { return op_name(self.get()); })
      .def_prop_ro("target", &target)
      .def_prop_ro("name", &node_name)
      .def_prop_ro("graph", [](const NodeHandle& self) { return self.graph; })
      .def_prop_rw(
          "args", [](const NodeHandle& self) { return nb::tuple(call_arguments(self).positional); },
          &set_args)
      .def_prop_rw(
          "kwargs", [](const NodeHandle& self) { return call_arguments(self).keywords; },
          &set_kwargs)
      .def_prop_ro("meta", &meta)
      .def_prop_ro("users",
                   [](const NodeHandle& self) { return as_dict(self.graph, self.get().users()); })
      .def_prop_ro("all_input_nodes",
                   [](const NodeHandle& self) {
                     nb::list nodes;
                     for (const Node node : self.get().all_input_nodes()) {
                       nodes.append(NodeHandle(self.graph, node));
                     }
                     return nodes;
                   })
      .def_prop_ro("results", &results, "Its results one by one.")
      .def_prop_ro("next", [](const NodeHandle& self) { return neighbour(self, true); })
      .def_prop_ro("prev", [](const NodeHandle& self) { return neighbour(self, false); })
      .def("update_arg", &set_arg, nb::arg("idx"), nb::arg("arg"))
      .def("update_kwarg", &set_kwarg, nb::arg("key"), nb::arg("arg").none())
      .def("replace_all_uses_with", &replace_all_uses_with, nb::arg("replace_with"),
           nb::arg("delete_user_cb") = nb::none())
      .def(
          "replace_input_with",
          [](const NodeHandle& self, nb::handle old_input, nb::handle new_input) {
            self.get().replace_input_with(value_from_python(self.graph, old_input),
                                          value_from_python(self.graph, new_input));
          },
          nb::arg("old_input"), nb::arg("new_input"))
      .def("append",
           [](const NodeHandle& self, const NodeHandle& node) { self.get().append(node.get()); })
      .def("prepend",
           [](const NodeHandle& self, const NodeHandle& node) { self.get().prepend(node.get()); })
      .def("format_node", &line)
      .def("__str__", &node_name)
      .def("__repr__", &node_name)
      .def("__lt__", [](const NodeHandle& self,
                        const NodeHandle& other) { return self.get().before(other.get()); })
      .def("__eq__",
           [](const NodeHandle& self, const nb::object& other) {
             return nb::isinstance<NodeHandle>(other) && nb::cast<NodeHandle>(other) == self;
           })
      .def("__hash__", [](const NodeHandle& self) { return std::hash<NodeId>()(self.id); });
  nb::class_<ValueHandle>(module, "Value", "One of several results of a node.")
      .def_prop_ro("node", [](const ValueHandle& self) { return self.node; })
      .def_ro("index", &ValueHandle::index)
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
