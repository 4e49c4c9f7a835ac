// SPDX-License-Identifier: Apache-2.0
#include "winze/program/graph_reader.h"

#include <vector>

#include <fmt/format.h>

#include "winze/program/signature_reader.h"
#include "winze/support/plural.h"

namespace winze {

GraphReader::GraphReader(ReadSession& session, Graph& graph, Shared& shared, std::uint32_t depth)
    : session_(session),
      graph_(graph),
      shared_(shared),
      depth_(depth),
      arguments_(session, scope_, shared.arena,
                 [this](JsonValue argument) { return read_subgraph(argument); }) {}

void GraphReader::read(JsonValue graph, const std::optional<SignatureJson>& signature) {
  const Members members = read_members(graph);
  const JsonValue nodes = required(members.nodes, graph, "nodes");
  // A node takes at least some 200 bytes of text, mostly far more; it has one value and about three
  // arguments.
  const std::size_t node_count = nodes.raw_json().size() / 1024;
  graph_.reserve(node_count, node_count, node_count * 3);
  read_tables(members, graph);
  read_inputs(required(members.inputs, graph, "inputs"), signature);
  NodeReader reader(session_, graph_, scope_, shared_.arena, arguments_, shared_.targets);
  for (const JsonValue node : nodes.array()) reader.read(node);
  read_outputs(required(members.outputs, graph, "outputs"), signature);
  if (members.is_single_tensor_return)
    graph_.set_is_single_tensor_return(members.is_single_tensor_return->boolean());
  if (scope_.undefined_count() == 0) return;
  Diagnostic diagnostic;
  diagnostic.message =
      fmt::format("{} entries of the value tables belong to no value and are dropped",
                  scope_.undefined_count());
  diagnostic.where = graph.where();
  session_.warn(std::move(diagnostic));
}

GraphReader::Members GraphReader::read_members(JsonValue graph) {
  Members members;
  UnknownFields unknown;
  for (const JsonField field : graph.object()) {
    if (field.key == "inputs") {
      members.inputs = field.value;
    } else if (field.key == "outputs") {
      members.outputs = field.value;
    } else if (field.key == "nodes") {
      members.nodes = field.value;
    } else if (field.key == "tensor_values") {
      members.tensor_values = field.value;
    } else if (field.key == "sym_int_values") {
      members.sym_int_values = field.value;
    } else if (field.key == "sym_bool_values") {
      members.sym_bool_values = field.value;
    } else if (field.key == "sym_float_values") {
      members.sym_float_values = field.value;
    } else if (field.key == "custom_obj_values") {
      members.custom_obj_values = field.value;
    } else if (field.key == "is_single_tensor_return") {
      members.is_single_tensor_return = field.value;
    } else {
      unknown.add(field);
    }
  }
  graph_.set_unknown_fields(unknown.take());
  return members;
}

void GraphReader::read_tables(const Members& members, JsonValue graph) {
  const JsonValue tensors = required(members.tensor_values, graph, "tensor_values");
  scope_.read_table(session_, tensors, ValueKind::tensor);
  scope_.read_table(session_, required(members.sym_int_values, graph, "sym_int_values"),
                    ValueKind::sym_int);
  scope_.read_table(session_, required(members.sym_bool_values, graph, "sym_bool_values"),
                    ValueKind::sym_bool);
  // Later additions to the schema, with an empty default.
  if (members.sym_float_values)
    scope_.read_table(session_, *members.sym_float_values, ValueKind::sym_float);
  if (members.custom_obj_values)
    scope_.read_table(session_, *members.custom_obj_values, ValueKind::custom_object);
}

void GraphReader::read_inputs(JsonValue inputs, const std::optional<SignatureJson>& signature) {
  const JsonArray array = inputs.array();
  std::vector<JsonValue> specs;
  if (signature) {
    for (const JsonValue spec : signature->input_specs.array()) specs.push_back(spec);
    if (specs.size() != array.size()) {
      throw signature->input_specs.error(fmt::format(
          "{} for {} of the graph", plural(specs.size(), "role"), plural(array.size(), "input")));
    }
  }
  std::size_t index = 0;
  for (const JsonValue input : array) {
    add_input(input, signature ? std::optional(specs[index]) : std::nullopt, index);
    ++index;
  }
}

void GraphReader::add_input(JsonValue argument, const std::optional<JsonValue>& spec,
                            std::size_t index) {
  GraphInput input = read_graph_input(session_, arguments_, argument);
  Argument role = Argument::none();
  std::string made_name;
  if (spec) role = session_.context.input_spec(read_input_spec(session_, arguments_, *spec, input));
  if (input.kind != ValueKind::constant) {
    if (input.name.empty()) throw argument.error("the name of a value is empty");
    const MetaId meta = scope_.declare(input.name, input.kind, argument);
    scope_.set_value(input.name, graph_.placeholder(input.name, meta, role).value().id());
    return;
  }
  if (!spec) {
    InputSpec constant;
    constant.kind = InputKind::constant_input;
    constant.constant = input.constant;
    role = session_.context.input_spec(constant);
  }
  if (input.name.empty()) {
    made_name = fmt::format("arg{}", index);
  } else {
    made_name = input.name;
    scope_.declare_constant(input.name, argument);
  }
  graph_.placeholder(made_name, session_.context.plain_meta(ValueKind::constant), role);
}

void GraphReader::read_outputs(JsonValue outputs, const std::optional<SignatureJson>& signature) {
  const JsonArray array = outputs.array();
  const ArgumentArena::Mark mark = shared_.arena.mark();
  const std::span<Argument> values = shared_.arena.allocate(array.size());
  std::size_t index = 0;
  for (const JsonValue output : array) values[index++] = arguments_.read(output);
  std::vector<Argument> roles;
  if (signature) {
    const JsonArray specs = signature->output_specs.array();
    if (specs.size() != values.size()) {
      throw signature->output_specs.error(
          fmt::format("{} roles for {} outputs of the graph", specs.size(), values.size()));
    }
    for (const JsonValue spec : specs) {
      const Argument& value = values[roles.size()];
      roles.push_back(session_.context.output_spec(
          read_output_spec(session_, arguments_, scope_, spec, value)));
    }
  }
  try {
    graph_.output(values, roles);
  } catch (Error& error) {
    rethrow_at(error, outputs);
  }
  shared_.arena.rewind(mark);
}

Argument GraphReader::read_subgraph(JsonValue argument) {
  std::optional<JsonValue> name, graph;
  for (const JsonField field : argument.object()) {
    if (field.key == "name") {
      name = field.value;
    } else if (field.key == "graph") {
      graph = field.value;
    } else {
      session_.unknown_field(argument, field);
    }
  }
  if (depth_ == max_graph_depth) {
    throw argument.error(fmt::format("graphs are nested deeper than {}", max_graph_depth));
  }
  const JsonValue body = required(graph, argument, "graph");
  const GraphId id = graph_.add_subgraph(required(name, argument, "name").string());
  GraphReader(session_, graph_.subgraph(id), shared_, depth_ + 1).read(body, std::nullopt);
  return Argument::graph(id);
}

}  // namespace winze
