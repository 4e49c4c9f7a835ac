// SPDX-License-Identifier: Apache-2.0
#include "python/native/fx_reader.h"

#include <nanobind/stl/string.h>

#include "python/native/handles.h"
#include "winze/ir/op_signature.h"
#include "winze/support/diagnostic.h"

namespace winze {
namespace {

bool is_text(const nb::object& object, const char* text) {
  return PyUnicode_CompareWithASCIIString(object.ptr(), text) == 0;
}

std::string user_line_of(nb::handle node) {
  PyObject* trace = PyDict_GetItemString(node.attr("meta").ptr(), "stack_trace");
  if (trace == nullptr || PyUnicode_Check(trace) == 0) return {};
  const auto text = nb::cast<std::string>(nb::handle(trace));
  const auto line = user_source_line(text);
  return line ? line->str() : std::string();
}

[[noreturn]] void refuse(nb::handle node, std::string message, std::string hint) {
  throw Error(Diagnostic{.message = std::move(message),
                         .node = nb::cast<std::string>(node.attr("format_node")()),
                         .source = user_line_of(node),
                         .hint = std::move(hint)});
}

}  // namespace

FxReader::FxReader(TorchVocabulary& torch, Context& context, std::deque<FxGraph>& graphs)
    : torch_(torch),
      context_(context),
      graphs_(graphs),
      graph_(*graphs.back().graph),
      nodes_(graphs.back().nodes),
      module_(graphs.back().module),
      stack_trace_key_(context_.string("stack_trace")),
      node_key_(context_.string(fx_node_key)) {}

void FxReader::read() {
  const nb::object in_order = module_.attr("graph").attr("nodes");
  const nb::list all = nb::steal<nb::list>(PySequence_List(in_order.ptr()));
  graph_.reserve(all.size(), all.size(), all.size() * 3);
  // Inputs come first in the native graph, wherever they stand in the torch.fx graph.
  for (const nb::handle node : all) {
    if (is_text(node.attr(torch_.names.op), "placeholder")) read_placeholder(node);
  }
  for (const nb::handle node : all) read_node(node);
  if (!graph_.output_node()) throw Error("the graph has no output node");
}

void FxReader::read_node(nb::handle node) {
  lists_.clear();
  const nb::object op = node.attr(torch_.names.op);
  if (is_text(op, "call_function")) return read_call(node);
  if (is_text(op, "placeholder")) return;
  if (is_text(op, "get_attr")) return read_get_attr(node);
  if (is_text(op, "output")) return read_output(node);
  if (is_text(op, "call_module") &&
      torch_.is_guards_module(attribute(text_of(node.attr(torch_.names.target)))))
    return opaque_call(node, {.object = {}, .name = "guards"}, results_of(node));
  refuse(
      node,
      fmt::format("{} of \"{}\" is no ATen operator", text_of(op),
                  text_of(node.attr(torch_.names.target))),
      "native passes read graphs of ATen operators, as torch.export and torch.compile make them; "
      "trace the module (torch.export.export, make_fx), or let the pass that makes such calls come "
      "after the native ones");
}

void FxReader::read_placeholder(nb::handle node) {
  const Results results = results_of(node);
  const MetaId meta = results.metas.size() == 1 && !results.is_list
                          ? results.metas[0]
                          : context_.plain_meta(ValueKind::unknown);
  const Argument spec = graph_.parent() != nullptr
                            ? Argument::none()
                            : context_.input_spec(InputSpec{.kind = InputKind::user_input});
  remember(node,
           graph_.placeholder(nb::cast<std::string>(node.attr(torch_.names.name)), meta, spec),
           false, false);
}

void FxReader::read_get_attr(nb::handle node) {
  const auto target = nb::cast<std::string>(node.attr(torch_.names.target));
  Results results = results_of(node);
  if (!results.is_known) {
    const nb::object held = attribute(target);
    // A nested graph is an argument of the call that runs it, and no value.
    if (torch_.is_graph_module(held)) {
      nodes_.values[node.ptr()] = {};
      return;
    }
    if (const auto meta = torch_.is_tensor(held) ? meta_of(held) : std::nullopt) {
      results.metas = {*meta};
    }
  }
  if (results.metas.size() != 1) results.metas = {context_.plain_meta(ValueKind::unknown)};
  remember(node, graph_.get_attr(target, results.metas[0]), false, false);
}

/// What the module has under a dotted name; None where there is nothing.
nb::object FxReader::attribute(const std::string& target) const {
  nb::object held = module_;
  for (std::size_t begin = 0; begin <= target.size() && !held.is_none();) {
    const std::size_t dot = std::min(target.find('.', begin), target.size());
    held = nb::getattr(held, target.substr(begin, dot - begin).c_str(), nb::none());
    begin = dot + 1;
  }
  return held;
}

/// The graph that a get_attr node names, read into one nested in this graph; nothing where another
/// call has it too.
std::optional<Argument> FxReader::nested_graph(nb::handle node) {
  const auto target = nb::cast<std::string>(node.attr(torch_.names.target));
  const nb::object held = attribute(target);
  if (!torch_.is_graph_module(held) || nb::len(nb::object(node.attr("users"))) != 1)
    return std::nullopt;
  if (graphs_.size() >= 1000) return std::nullopt;
  for (const FxGraph& known : graphs_) {
    if (known.module.is(held)) return std::nullopt;
  }
  const GraphId id = graph_.add_subgraph(target);
  Graph& graph = graph_.subgraph(id);
  graphs_.push_back(
      {.graph = &graph, .serial = graph.serial(), .module = held, .attribute = nb::borrow(node)});
  try {
    FxReader(torch_, context_, graphs_).read();
  } catch (const Error&) {  // it holds what no native graph can
    return std::nullopt;
  }
  return Argument::graph(id);
}

bool FxReader::read_getitem(nb::handle node) {
  const nb::object args = node.attr(torch_.names.args);
  if (nb::len(args) != 2 || !torch_.is_node(args[0])) return false;
  const auto found = nodes_.values.find(nb::object(args[0]).ptr());
  if (found == nodes_.values.end() || !found->second.is_list) return false;
  const nb::object position = args[1];
  if (PyLong_Check(position.ptr()) == 0 || PyBool_Check(position.ptr()) != 0) return false;
  const FxNodes::Values& values = found->second;
  auto index = nb::cast<std::int64_t>(position);
  if (index < 0) index += values.count;
  if (index < 0 || index >= values.count) return false;
  const ValueId value{values.first.index + static_cast<std::uint32_t>(index)};
  nodes_.values[node.ptr()] = {.first = value, .count = 1};
  if (!nodes_.value_of[value.index].is_valid()) nodes_.value_of[value.index] = nb::borrow(node);
  return true;
}

void FxReader::read_call(nb::handle node) {
  const nb::object callee = node.attr(torch_.names.target);
  if (torch_.is_getitem(callee) && read_getitem(node)) return;
  const TorchVocabulary::Target& target = torch_.target(callee);
  const Results results = results_of(node);
  const std::size_t graphs = graphs_.size();
  if (try_call(node, target, results)) return;
  graphs_.resize(graphs);  // those that were read for it
  opaque_call(node, target, results);
}

OpId FxReader::find_op(const TorchVocabulary::Target& target) {
  const auto found = ops_.find(target.object.ptr());
  if (found != ops_.end()) return found->second;
  OpRegistry& registry = context_.ops();
  OpId op = registry.find(target.name);
  if (!op.is_valid() && target.is_overload) {
    try {
      op = registry.add(text_of(target.object.attr("_schema")));
    } catch (const Error&) {  // a type that the schema language here does not have
      op = OpId{};
    }
  }
  ops_.emplace(target.object.ptr(), op);
  return op;
}

/// The operator, taking those of the keywords too that its schema leaves open
/// (`auto_functionalized(op, x=..., y=...)`).
OpId FxReader::with_extra_keywords(OpId op, std::span<const NamedArgument> keywords) {
  const Schema& schema = context_.ops().get(op).schema;
  if (!schema.is_variadic_arguments) return op;
  std::vector<std::string> extra;
  for (const NamedArgument& keyword : keywords) {
    if (schema.find_argument(keyword.name) < 0) extra.emplace_back(keyword.name);
  }
  return extra.empty() ? op : context_.ops().with_keywords(op, extra);
}

/// False where the call has no native form.
bool FxReader::try_call(nb::handle node, const TorchVocabulary::Target& target,
                        const Results& results) {
  const OpId op = find_op(target);
  if (!op.is_valid()) return false;
  const bool is_higher_order = context_.ops().get(op).is_higher_order();
  const OpSignature& signature = context_.signature(op);
  // Export gives no value to what returns nothing, such as assertions.
  const bool returns_nothing = signature.fixed_values && signature.value_count == 0;
  if (!results.is_known && !returns_nothing) return false;
  std::vector<Argument> arguments;
  for (const nb::handle element : node.attr(torch_.names.args)) {
    const std::optional<Argument> read = argument(element, 0);
    if (!read) return false;
    arguments.push_back(*read);
  }
  std::vector<NamedArgument> keywords;
  std::deque<std::string> names;
  for (const auto& [key, value] : nb::borrow<nb::dict>(node.attr(torch_.names.kwargs))) {
    const std::optional<Argument> read = argument(value, 0);
    if (!read) return false;
    keywords.push_back({names.emplace_back(nb::cast<std::string>(key)), *read});
  }
  std::span<const MetaId> metas = results.metas;
  if (returns_nothing) metas = {};
  if (signature.fixed_values && metas.size() != signature.value_count) return false;
  const std::string name =
      metas.size() == 1 ? nb::cast<std::string>(node.attr(torch_.names.name)) : std::string();
  ResultStructure structure{.is_single_tensor_return = !results.is_list};
  structure.groups.assign(metas.size(), ResultStructure::single);
  try {
    const OpId called = with_extra_keywords(op, keywords);
    const Node made = graph_.call_function(called, arguments, keywords, metas,
                                           {.source = source_of(node, graph_.node_capacity()),
                                            .name = name,
                                            .structure = is_higher_order ? &structure : nullptr});
    finish_call(node, made, results, false);
    return true;
  } catch (const Error&) {  // an argument that the schema has no place for
    return false;
  }
}

void FxReader::opaque_call(nb::handle node, const TorchVocabulary::Target& target,
                           const Results& results) {
  const std::vector<Argument> inputs = input_values(node);
  const std::vector<OpaqueArgument> names(inputs.size());
  const OpId op = context_.ops().opaque("python." + target.name, names);
  ResultStructure structure;
  structure.groups.assign(results.metas.size(), ResultStructure::single);
  const Node made = graph_.call_function(
      op, inputs, results.metas,
      {.source = source_of(node, graph_.node_capacity()), .structure = &structure});
  finish_call(node, made, results, true);
}

void FxReader::finish_call(nb::handle node, Node made, const Results& results, bool is_flat) {
  remember(node, made, results.is_list, is_flat);
}

void FxReader::read_output(nb::handle node) {
  const std::vector<Argument> values = input_values(node);
  if (graph_.parent() != nullptr) {
    graph_.set_is_single_tensor_return(torch_.is_node(nb::object(node.attr(torch_.names.args)[0])));
    remember(node, graph_.output(values), false, true);
    return;
  }
  const std::vector<Argument> specs(
      values.size(), context_.output_spec(OutputSpec{.kind = OutputKind::user_output}));
  remember(node, graph_.output(values, specs), false, true);
}

void FxReader::remember(nb::handle node, Node made, bool is_list, bool is_flat) {
  nodes_.node_of.resize(std::max<std::size_t>(nodes_.node_of.size(), made.id().index + 1U));
  nodes_.is_flat.resize(nodes_.node_of.size());
  nodes_.node_of[made.id().index] = nb::borrow(node);
  nodes_.is_flat[made.id().index] = is_flat;
  nodes_.value_of.resize(std::max<std::size_t>(nodes_.value_of.size(), graph_.value_capacity()));
  const std::uint32_t count = made.value_count();
  FxNodes::Values values{.count = count, .is_list = is_list};
  if (count > 0) values.first = made.value(0).id();
  if (!is_list && count == 1) nodes_.value_of[values.first.index] = nb::borrow(node);
  nodes_.values[node.ptr()] = values;
  if (!made.is_call()) made.set_source(source_of(node, made.id().index));
}

/// The node's stack trace for messages, and the node itself, whose meta the node that replaces it
/// gets.
SourceId FxReader::source_of(nb::handle node, std::uint32_t index) {
  SourceInfo info;
  const nb::object meta = node.attr(torch_.names.meta);
  if (PyObject* trace = PyDict_GetItemWithError(meta.ptr(), torch_.names.stack_trace.ptr());
      trace != nullptr && PyUnicode_Check(trace) != 0) {
    auto found = stack_traces_.find(trace);
    if (found == stack_traces_.end()) {
      const StringId text = context_.string(nb::cast<std::string>(nb::handle(trace)));
      found = stack_traces_.emplace(trace, text).first;
    }
    info.entries.push_back({stack_trace_key_, found->second});
  }
  info.entries.push_back(
      {node_key_, context_.string(fmt::format("{}:{}", graph_.serial(), index))});
  return context_.source(info);
}

nb::object fx_node_named(const std::deque<FxGraph>& graphs, std::string_view name) {
  const std::string text(name);
  const std::size_t colon = text.find(':');
  const unsigned long serial = std::stoul(text);
  const unsigned long index = std::stoul(text.substr(colon + 1));
  for (const FxGraph& one : graphs) {
    if (one.serial != serial || index >= one.nodes.node_of.size()) continue;
    if (one.nodes.node_of[index].is_valid()) return one.nodes.node_of[index];
  }
  return nb::none();
}

}  // namespace winze
