// SPDX-License-Identifier: Apache-2.0
// `winze.Graph`: the native graph with torch.fx's names.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_map>

#include "python/native/bindings.h"
#include "python/native/handles.h"
#include "winze/builders/call.h"
#include "winze/ir/schema_position.h"
#include "winze/ir/text_printer.h"
#include "winze/shape/shape_rules.h"
#include "winze/support/quote.h"

namespace winze {
namespace {

/// Steps through the nodes; safe under edits, since indices of erased nodes are not given out again
/// while a NodeRange lives.
class NodesIterator {
 public:
  explicit NodesIterator(GraphHandle graph)
      : graph_(std::move(graph)),
        range_(std::make_unique<NodeRange>(graph_.get().nodes())),
        current_(range_->begin()) {}
  NodesIterator(const NodesIterator&) = delete;
  NodesIterator& operator=(const NodesIterator&) = delete;
  ~NodesIterator() {
    // The graph may be gone with the program's own or with the call that held it.
    try {
      static_cast<void>(graph_.get());
    } catch (...) {
      range_.release();  // NOLINT(bugprone-unused-return-value): left to the program
    }
  }

  nb::object next() {
    static_cast<void>(graph_.get());
    if (started_) ++current_;
    started_ = true;
    if (current_ == range_->end()) throw nb::stop_iteration();
    return node_to_python(graph_, *current_);
  }

 private:
  GraphHandle graph_;
  std::unique_ptr<NodeRange> range_;
  NodeIterator current_;
  bool started_ = false;
};

/// What `graph.inserting_before(node)` gives: the point is set already, and left at the end of a
/// `with`.
class InsertionContext {
 public:
  /// Without a node it is before every call, or behind the last one.
  InsertionContext(GraphHandle graph, const std::optional<NodeHandle>& node, bool before)
      : graph_(std::move(graph)), depth_(points().depth()) {
    Graph& native = graph_.get();
    if (node && &node->get().graph() != &native)
      throw Error(fmt::format("{} belongs to another graph", node->get().str()));
    const Node last_input = native.last_placeholder();
    if (node && before) {
      points().set_before(node->get());
    } else if (node) {
      points().set_after(node->get());
    } else if (!before) {
      points().set_before(native.output_node());
    } else if (last_input) {
      points().set_after(last_input);
    } else {
      points().set_before(native.first());
    }
  }

  void exit() const {
    if (!graph_.holder->closed) points().leave(*graph_.holder->program->graph, depth_);
  }

 private:
  [[nodiscard]] InsertionPoints& points() const { return graph_.holder->insertion_points; }

  GraphHandle graph_;
  std::size_t depth_;
};

/// What `like=` yields: a node or a value of the same program.
std::vector<MetaId> metas_like(const GraphHandle& self, nb::handle like) {
  const bool is_value = nb::isinstance<ValueHandle>(like);
  if (!is_value && !nb::isinstance<NodeHandle>(like))
    throw nb::type_error(
        fmt::format("like is {}; it is a node", nb::str(nb::repr(like)).c_str()).c_str());
  const NodeHandle handle =
      is_value ? nb::cast<ValueHandle>(like).node : nb::cast<NodeHandle>(like);
  const Node node = handle.get();
  if (handle.graph.holder != self.holder)
    throw Error(fmt::format("{} belongs to another program", node.str()),
                "give a node like= of this one");
  if (is_value) return {node.value(nb::cast<ValueHandle>(like).index).meta_id()};
  std::vector<MetaId> metas;
  for (const Value value : node.values()) metas.push_back(value.meta_id());
  return metas;
}

/// The metas of tensors that Python described: (dtype, sizes, strides, device) for each.
std::vector<MetaId> metas_of(Context& context, const nb::object& results) {
  std::vector<MetaId> metas;
  for (const nb::handle result : results) {
    std::vector<SymInt> sizes;
    std::vector<SymInt> strides;
    for (const nb::handle size : nb::object(result[1]))
      sizes.emplace_back(nb::cast<std::int64_t>(size));
    for (const nb::handle stride : nb::object(result[2])) {
      strides.emplace_back(nb::cast<std::int64_t>(stride));
    }
    const auto dtype = scalar_type_from_name(nb::cast<std::string>(result[0]));
    const auto device = nb::cast<std::string>(result[3]);
    metas.push_back(context.tensor_meta(
        {.dtype = dtype.value_or(ScalarType::unknown),
         .device = {.type = context.device_type(device.substr(0, device.find(':')))},
         .sizes = sizes,
         .strides = strides}));
  }
  return metas;
}

SourceId source_like(const nb::object& like) {
  return nb::isinstance<NodeHandle>(like) ? nb::cast<NodeHandle>(like).get().source() : SourceId{};
}

/// Without `like` what the call yields is inferred natively; for operators without a shape rule it
/// is what running them over tensors without data says.
nb::object make_call(const GraphHandle& self, nb::handle target, const nb::object& args,
                     const nb::object& kwargs, nb::handle /*type_expr*/,
                     const std::optional<std::string>& name, const nb::object& like) {
  Graph& graph = self.get();
  const nb::tuple listed = args.is_none() ? nb::tuple() : nb::tuple(args);
  const nb::dict given = kwargs.is_none() ? nb::dict() : nb::cast<nb::dict>(kwargs);
  const OpId op = op_from_python(self, target, listed, given);
  ArgumentsFromPython reader(self);
  std::vector<Argument> positional;
  for (const nb::handle argument : listed) positional.push_back(reader.read(argument));
  std::vector<std::string> names;
  std::vector<NamedArgument> keywords;
  names.reserve(given.size());
  for (const auto& [key, value] : given) {
    names.push_back(nb::cast<std::string>(key));
    keywords.push_back({names.back(), reader.read(value)});
  }
  Context& context = graph.context();
  const std::vector<Argument> arguments =
      in_schema_position(context.ops().get(op), positional, keywords);
  const CallOptions options{.source = source_like(like),
                            .name = name ? std::string_view(*name) : std::string_view(),
                            .positional_count = static_cast<std::uint32_t>(positional.size())};
  if (like.is_none() && ShapeRules::of(context).has_rule(op))
    return node_to_python(self, winze::call_function(graph, op, arguments, options));
  const std::vector<MetaId> metas =
      like.is_none() ? metas_of(context, of_package("winze._inference", "infer")(
                                             target_to_python(self, op), listed, given))
                     : metas_like(self, like);
  return node_to_python(self, graph.call_function(op, arguments, metas, options));
}

MetaId only_meta_like(const GraphHandle& self, const nb::object& like) {
  const std::vector<MetaId> metas = metas_like(self, like);
  if (metas.size() != 1)
    throw Error(fmt::format("the node given as like= has {} results", metas.size()),
                "say which: like=node.results[0]");
  return metas.front();
}

nb::object placeholder(const GraphHandle& self, const std::string& name, nb::handle /*type_expr*/,
                       const nb::object& like) {
  Graph& graph = self.get();
  for (const Node input : graph.placeholders()) {
    if (input.value().name() == name)
      throw Error(fmt::format("the graph has a placeholder {} already", quote(name)),
                  "give the new one another name");
  }
  const MetaId meta =
      like.is_none() ? graph.context().plain_meta(ValueKind::unknown) : only_meta_like(self, like);
  const Argument role = graph.parent() != nullptr
                            ? Argument::none()
                            : graph.context().input_spec({.kind = InputKind::user_input});
  return node_to_python(self, graph.placeholder(name, meta, role));
}

/// What the module of a torch.fx graph has under this name.
MetaId meta_of_attribute(const GraphHandle& self, const std::string& name) {
  const auto module = self.holder->modules.find(self.graph);
  if (module == self.holder->modules.end())
    throw Error(fmt::format("what attribute {} holds is not known", quote(name)),
                "give get_attr a node like= it");
  return metas_of(self.get().context(),
                  of_package("winze._inference", "attribute")(module->second, name))
      .front();
}

nb::object get_attr(const GraphHandle& self, const std::string& qualified_name,
                    nb::handle /*type_expr*/, const nb::object& like) {
  const MetaId meta =
      like.is_none() ? meta_of_attribute(self, qualified_name) : only_meta_like(self, like);
  return node_to_python(self, self.get().get_attr(qualified_name, meta));
}

/// A call that torch.fx's graph holds in another form: with structured arguments, or with a nested
/// graph that stands there once.
bool stands_for_another_form(Node node) {
  if (!node.is_call()) return false;
  if (node.graph().context().ops().get(node.op()).is_opaque()) return true;
  for (std::uint32_t i = 0; i < node.argument_count(); ++i) {
    if (node.argument(i).kind() == ArgumentKind::graph) return true;
  }
  return false;
}

/// The callback is asked about every input beforehand: it may raise.
nb::object node_copy(const GraphHandle& self, const NodeHandle& node,
                     const nb::object& arg_transform) {
  const Node original = node.get();
  if (original.is_output())
    throw Error(fmt::format("{} cannot be copied: a graph has one output", original.str()),
                "change what the output node returns: output.args, output.replace_input_with");
  if (node.graph.holder != self.holder)
    throw Error(fmt::format("{} belongs to another program", original.str()),
                "copy nodes between the graphs of one program");
  if (!self.holder->modules.empty() && stands_for_another_form(original))
    throw Error(fmt::format("{} cannot be copied in a torch.fx graph", original.str()),
                "keep the call, and change its inputs");
  std::unordered_map<std::uint32_t, Value> values;
  for (const Value input : original.input_values()) {
    const nb::object given = value_to_python(node.graph, input);
    values.emplace(input.id().index,
                   value_from_python(
                       self, arg_transform.is_none() ? given : nb::object(arg_transform(given))));
  }
  return node_to_python(self, self.get().node_copy(original, [&](Value value) {
    return values.at(value.id().index);
  }));
}

std::vector<Node> find_calls(const GraphHandle& self, nb::handle target, bool sort) {
  const std::vector<OpId> ops = ops_from_python(self, target);
  if (ops.size() == 1) return self.get().find_nodes(ops.front(), sort);
  std::vector<Node> found;
  for (const OpId op : ops) {
    const std::vector<Node> calls = self.get().find_nodes(op, false);
    found.insert(found.end(), calls.begin(), calls.end());
  }
  if (sort) std::ranges::sort(found, [](Node a, Node b) { return a.before(b); });
  return found;
}

nb::list find_nodes(const GraphHandle& self, const std::string& op, const nb::object& target,
                    bool sort) {
  Graph& graph = self.get();
  std::vector<Node> found;
  if (op == "call_function") {
    found = target.is_none() ? graph.find_nodes(NodeKind::call_function, sort)
                             : find_calls(self, target, sort);
  } else if (op == "placeholder" || op == "get_attr" || op == "output") {
    found = graph.find_nodes(op == "placeholder" ? NodeKind::placeholder
                             : op == "get_attr"  ? NodeKind::get_attr
                                                 : NodeKind::output,
                             sort);
  } else if (op != "call_module" && op != "call_method") {  // of which a native graph has none
    throw nb::value_error(fmt::format("op is {}; a graph has placeholder, get_attr, call_function "
                                      "and output nodes",
                                      quote(op))
                              .c_str());
  }
  nb::list nodes;
  for (const Node node : found) {
    if (op == "call_function" || target.is_none() ||
        nb::cast<std::string>(target) == node.target()) {
      nodes.append(node_to_python(self, node));
    }
  }
  return nodes;
}

void erase_node(const GraphHandle& self, const NodeHandle& handle) {
  const Node node = handle.get();
  if (&node.graph() != self.graph)
    throw Error(fmt::format("{} belongs to another graph", node.str()));
  if (node.is_output())
    throw Error(fmt::format("{} cannot be erased: a graph has one output", node.str()),
                "change what the output node returns: output.args, output.replace_input_with");
  self.get().erase_node(node);
}

bool eliminate_dead_code(const GraphHandle& self, const nb::object& is_impure_node) {
  if (is_impure_node.is_none()) return self.get().eliminate_dead_code() != 0;
  return self.get().eliminate_dead_code([&](Node node) {
    const GraphHandle owner{self.holder, &node.graph()};
    return nb::cast<bool>(nb::bool_(is_impure_node(node_to_python(owner, node))));
  }) != 0;
}

/// The module of a torch.fx graph; None of other graphs.
nb::object owning_module(const GraphHandle& self) {
  static_cast<void>(self.get());
  const auto module = self.holder->modules.find(self.graph);
  return module == self.holder->modules.end() ? nb::none() : module->second;
}

nb::dict symbol_ranges(const GraphHandle& self) {
  const SymbolicContext& symbols = self.get().context().symbols();
  nb::dict ranges;
  for (const SymExpr symbol : symbols.symbols()) {
    const Range range = symbols.range(symbol);
    const auto end = [](std::int64_t value, std::int64_t infinite) -> nb::object {
      return value == infinite ? nb::none() : nb::object(nb::int_(value));
    };
    ranges[symbols.symbol_name(symbol).c_str()] =
        nb::make_tuple(end(range.lo, Range::minus_infinity), end(range.hi, Range::infinity));
  }
  return ranges;
}

}  // namespace

void bind_graph_view(nb::module_& module) {
  const auto in_python = [](const char* name) {
    return [name](nb::handle self, const nb::args& args, const nb::kwargs& kwargs) {
      return of_package("winze._view", name)(self, *args, **kwargs);
    };
  };
  nb::class_<NodesIterator>(module, "NodesIterator")
      .def("__iter__", [](nb::object self) { return self; })
      .def("__next__", &NodesIterator::next);
  nb::class_<InsertionContext>(module, "InsertionContext")
      .def("__enter__", [](const InsertionContext&) {})
      .def("__exit__", [](const InsertionContext& self, const nb::args&) { self.exit(); });
  nb::class_<GraphHandle>(module, "Graph", nb::is_weak_referenceable(),
                          "A native graph, with the names and the meaning of torch.fx.Graph.")
      .def_prop_ro("nodes",
                   [](const GraphHandle& self) { return of_package("winze._view", "Nodes")(self); })
      .def("iterate", [](const GraphHandle& self) { return std::make_unique<NodesIterator>(self); })
      .def("__len__", [](const GraphHandle& self) { return self.get().size(); })
      .def("find_nodes", &find_nodes, nb::kw_only(), nb::arg("op"), nb::arg("target") = nb::none(),
           nb::arg("sort") = true,
           "The nodes of a kind, or the calls to a target. Takes time only for what it finds.")
      .def("call_function", &make_call, nb::arg("the_function"), nb::arg("args") = nb::none(),
           nb::arg("kwargs") = nb::none(), nb::arg("type_expr") = nb::none(),
           nb::arg("name") = nb::none(), nb::kw_only(), nb::arg("like") = nb::none(),
           "A new call at the insertion point; of a packet it is the overload that its arguments "
           "choose. What it yields is inferred; `like` is a node that yields the same, where it "
           "cannot be.")
      .def("placeholder", &placeholder, nb::arg("name"), nb::arg("type_expr") = nb::none(),
           nb::kw_only(), nb::arg("like") = nb::none(),
           "A new input, after the last one. `like` is a node whose dtype, sizes and strides it "
           "has; without it they are not known.")
      .def("get_attr", &get_attr, nb::arg("qualified_name"), nb::arg("type_expr") = nb::none(),
           nb::kw_only(), nb::arg("like") = nb::none(),
           "A reference to a parameter or buffer of the module, at the insertion point. What it "
           "holds is looked up, or is as `like` says.")
      .def("node_copy", &node_copy, nb::arg("node"), nb::arg("arg_transform") = nb::none(),
           "A copy of a node at the insertion point. `arg_transform` gives what takes the place of "
           "each of its inputs, as it has to for a node of another graph.")
      .def(
          "inserting_before",
          [](const GraphHandle& self, const std::optional<NodeHandle>& node) {
            return InsertionContext(self, node, true);
          },
          nb::arg("n") = nb::none(),
          "Sets the insertion point before a node, or before every call; a `with` leaves it.")
      .def(
          "inserting_after",
          [](const GraphHandle& self, const std::optional<NodeHandle>& node) {
            return InsertionContext(self, node, false);
          },
          nb::arg("n") = nb::none(),
          "Sets the insertion point behind a node, or behind the last call; a `with` leaves it.")
      .def("erase_node", &erase_node, nb::arg("to_erase"))
      .def("eliminate_dead_code", &eliminate_dead_code, nb::arg("is_impure_node") = nb::none(),
           "Erases calls that nobody uses and that have no effect; says whether there were any. "
           "`is_impure_node` says which have.")
      .def_prop_ro("owning_module", &owning_module,
                   "The module of a torch.fx graph, to register tensors on; None of other graphs.")
      .def("create_node", in_python("create_node"))
      .def("output", in_python("output"))
      .def("graph_copy", in_python("graph_copy"))
      .def("create_size_node", in_python("create_size_node"))
      .def("create_stride_node", in_python("create_stride_node"))
      .def("create_storage_offset_node", in_python("create_storage_offset_node"))
      .def("materialize_symint", in_python("materialize_symint"))
      .def("materialize_symints", in_python("materialize_symints"))
      .def("__getattr__", in_python("missing_of_graph"))
      .def_prop_ro("symbol_ranges", &symbol_ranges,
                   "Smallest and greatest value of each symbol in sizes, None for no bound.")
      .def("output_node",
           [](const GraphHandle& self) { return node_to_python(self, self.get().output_node()); })
      .def(
          "lint", [](const GraphHandle& self) { self.get().lint(); },
          "Checks the graph. Raises winze.Error that lists every finding.")
      .def("print_tabular", [](const GraphHandle& self) { return self.get().print_tabular(); })
      .def("__str__",
           [](const GraphHandle& self) {
             return print_graph(self.get(), {.sources = TextSources::none});
           })
      .def("__eq__",
           [](const GraphHandle& self, const nb::object& other) {
             return nb::isinstance<GraphHandle>(other) && nb::cast<GraphHandle>(other) == self;
           })
      .def("__hash__", [](const GraphHandle& self) { return std::hash<Graph*>()(self.graph); })
      .def("__repr__", [](const GraphHandle& self) {
        return fmt::format("<winze.Graph {}: {} nodes>", quote(self.get().name()),
                           self.get().size());
      });
}

}  // namespace winze
