// SPDX-License-Identifier: Apache-2.0
// `winze.Graph`: the native graph with torch.fx's names.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

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

nb::object targets(const char* function) {
  return nb::module_::import_("winze._targets").attr(function);
}

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

  NodeHandle next() {
    static_cast<void>(graph_.get());
    if (started_) ++current_;
    started_ = true;
    if (current_ == range_->end()) throw nb::stop_iteration();
    return {graph_, *current_};
  }

 private:
  GraphHandle graph_;
  std::unique_ptr<NodeRange> range_;
  NodeIterator current_;
  bool started_ = false;
};

/// `with graph.inserting_before(node):`
class InsertionContext {
 public:
  /// Without a node it is before every call, or behind the last one.
  InsertionContext(GraphHandle graph, std::optional<NodeHandle> node, bool before)
      : graph_(std::move(graph)), node_(std::move(node)), before_(before) {}

  void enter() { guard_.reset(new InsertionGuard(guard())); }
  void exit() {
    // NOLINTNEXTLINE(bugprone-unused-return-value): it would reach into a graph that is gone.
    if (graph_.holder->closed) guard_.release();
    guard_.reset();
  }

 private:
  [[nodiscard]] InsertionGuard guard() const {
    Graph& graph = graph_.get();
    if (node_) {
      const Node node = node_->get();
      return before_ ? graph.inserting_before(node) : graph.inserting_after(node);
    }
    if (!before_) return graph.inserting_before(graph.output_node());
    const Node last_input = graph.last_placeholder();
    return last_input ? graph.inserting_after(last_input) : graph.inserting_before(graph.first());
  }

  GraphHandle graph_;
  std::optional<NodeHandle> node_;
  bool before_;
  std::unique_ptr<InsertionGuard> guard_;
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
NodeHandle make_call(const GraphHandle& self, nb::handle target, nb::handle args,
                     const nb::object& kwargs, const nb::object& like, const std::string& name) {
  Graph& graph = self.get();
  const OpId op = op_from_python(self, target);
  ArgumentsFromPython reader(self);
  std::vector<Argument> positional;
  for (const nb::handle argument : args) positional.push_back(reader.read(argument));
  std::vector<std::string> names;
  std::vector<NamedArgument> keywords;
  const nb::dict given = kwargs.is_none() ? nb::dict() : nb::cast<nb::dict>(kwargs);
  names.reserve(given.size());
  for (const auto& [key, value] : given) {
    names.push_back(nb::cast<std::string>(key));
    keywords.push_back({names.back(), reader.read(value)});
  }
  Context& context = graph.context();
  const std::vector<Argument> arguments =
      in_schema_position(context.ops().get(op), positional, keywords);
  const CallOptions options{.source = source_like(like), .name = name};
  if (like.is_none() && ShapeRules::of(context).has_rule(op))
    return {self, winze::call_function(graph, op, arguments, options)};
  const std::vector<MetaId> metas = like.is_none()
                                        ? metas_of(context, targets("infer")(target, args, given))
                                        : metas_like(self, like);
  return {self, graph.call_function(op, arguments, metas, options)};
}

MetaId only_meta_like(const GraphHandle& self, const nb::object& like) {
  const std::vector<MetaId> metas = metas_like(self, like);
  if (metas.size() != 1)
    throw Error(fmt::format("the node given as like= has {} results", metas.size()),
                "say which: like=node.results[0]");
  return metas.front();
}

NodeHandle placeholder(const GraphHandle& self, const std::string& name, nb::handle /*type_expr*/,
                       const nb::object& like) {
  Graph& graph = self.get();
  const MetaId meta =
      like.is_none() ? graph.context().plain_meta(ValueKind::unknown) : only_meta_like(self, like);
  const Argument role = graph.parent() != nullptr
                            ? Argument::none()
                            : graph.context().input_spec({.kind = InputKind::user_input});
  return {self, graph.placeholder(name, meta, role)};
}

/// What the module of a torch.fx graph has under this name.
MetaId meta_of_attribute(const GraphHandle& self, const std::string& name) {
  const auto module = self.holder->modules.find(self.graph);
  if (module == self.holder->modules.end())
    throw Error(fmt::format("what attribute {} holds is not known", quote(name)),
                "give get_attr a node like= it");
  return metas_of(self.get().context(), targets("attribute")(module->second, name)).front();
}

NodeHandle get_attr(const GraphHandle& self, const std::string& qualified_name,
                    nb::handle /*type_expr*/, const nb::object& like) {
  const MetaId meta =
      like.is_none() ? meta_of_attribute(self, qualified_name) : only_meta_like(self, like);
  return {self, self.get().get_attr(qualified_name, meta)};
}

/// The callback is asked about every input beforehand: it may raise.
NodeHandle node_copy(const GraphHandle& self, const NodeHandle& node,
                     const nb::object& arg_transform) {
  const Node original = node.get();
  if (original.is_output())
    throw Error(fmt::format("{} cannot be copied: a graph has one output", original.str()),
                "change what the output node returns: output.args, output.replace_input_with");
  if (node.graph.holder != self.holder)
    throw Error(fmt::format("{} belongs to another program", original.str()),
                "copy nodes between the graphs of one program");
  std::unordered_map<std::uint32_t, Value> values;
  for (const Value input : original.input_values()) {
    const nb::object given = value_to_python(node.graph, input);
    values.emplace(input.id().index,
                   value_from_python(
                       self, arg_transform.is_none() ? given : nb::object(arg_transform(given))));
  }
  return {self,
          self.get().node_copy(original, [&](Value value) { return values.at(value.id().index); })};
}

nb::list find_nodes(const GraphHandle& self, const std::string& op, const nb::object& target,
                    bool sort) {
  Graph& graph = self.get();
  std::vector<Node> found;
  if (op == "call_function") {
    found = target.is_none() ? graph.find_nodes(NodeKind::call_function, sort)
                             : graph.find_nodes(op_from_python(self, target), sort);
  } else if (op == "placeholder" || op == "get_attr" || op == "output") {
    found = graph.find_nodes(op == "placeholder" ? NodeKind::placeholder
                             : op == "get_attr"  ? NodeKind::get_attr
                                                 : NodeKind::output,
                             sort);
  } else {
    throw nb::value_error(fmt::format("op is {}; a graph has placeholder, get_attr, call_function "
                                      "and output nodes",
                                      quote(op))
                              .c_str());
  }
  nb::list nodes;
  for (const Node node : found) {
    if (op == "call_function" || target.is_none() ||
        nb::cast<std::string>(target) == node.target()) {
      nodes.append(NodeHandle(self, node));
    }
  }
  return nodes;
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
  nb::class_<NodesIterator>(module, "NodesIterator")
      .def("__iter__", [](nb::object self) { return self; })
      .def("__next__", &NodesIterator::next);
  nb::class_<InsertionContext>(module, "InsertionContext")
      .def("__enter__", &InsertionContext::enter)
      .def("__exit__", [](InsertionContext& self, const nb::args&) { self.exit(); });
  nb::class_<GraphHandle>(module, "Graph",
                          "A native graph, with the names and the meaning of torch.fx.Graph.")
      .def_prop_ro("nodes",
                   [](const GraphHandle& self) {
                     return nb::module_::import_("winze._targets").attr("Nodes")(self);
                   })
      .def("iterate", [](const GraphHandle& self) { return std::make_unique<NodesIterator>(self); })
      .def("__len__", [](const GraphHandle& self) { return self.get().size(); })
      .def("find_nodes", &find_nodes, nb::kw_only(), nb::arg("op"), nb::arg("target") = nb::none(),
           nb::arg("sort") = true,
           "The nodes of a kind, or the calls to a target. Takes time only for what it finds.")
      .def("call_function", &make_call, nb::arg("the_function"), nb::arg("args") = nb::tuple(),
           nb::arg("kwargs") = nb::none(), nb::kw_only(), nb::arg("like") = nb::none(),
           nb::arg("name") = "",
           "A new call at the insertion point. What it yields is inferred; `like` is a node that "
           "yields the same, where it cannot be.")
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
          [](const GraphHandle& self, std::optional<NodeHandle> node) {
            return InsertionContext(self, std::move(node), true);
          },
          nb::arg("n") = nb::none(), "Before a node; without one before every call.")
      .def(
          "inserting_after",
          [](const GraphHandle& self, std::optional<NodeHandle> node) {
            return InsertionContext(self, std::move(node), false);
          },
          nb::arg("n") = nb::none(), "Behind a node; without one behind the last call.")
      .def("erase_node", [](const GraphHandle& self,
                            const NodeHandle& node) { self.get().erase_node(node.get()); })
      .def(
          "eliminate_dead_code",
          [](const GraphHandle& self) { return self.get().eliminate_dead_code() != 0; },
          "Erases calls that nobody uses and that have no effect; says whether there were any.")
      .def_prop_ro("symbol_ranges", &symbol_ranges,
                   "Smallest and greatest value of each symbol in sizes, None for no bound.")
      .def("output_node",
           [](const GraphHandle& self) { return NodeHandle(self, self.get().output_node()); })
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
