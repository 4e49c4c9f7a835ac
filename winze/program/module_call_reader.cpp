// SPDX-License-Identifier: Apache-2.0
#include "winze/program/module_call_reader.h"

#include <optional>

#include <fmt/format.h>

#include "winze/program/schema_fields.h"

namespace winze {
namespace {

/// Nothing where the argument cannot be kept.
std::optional<ModuleCallArgument> read_argument(ReadSession& session, GraphReader& graph,
                                                JsonValue value) {
  const JsonField arm = union_member(value);
  const std::optional<ArgumentArm> known = argument_arm(arm.key);
  std::optional<std::string_view> name;
  if (known == ArgumentArm::as_tensor)
    name = name_of_value(session, arm.value, ValueKind::tensor).string();
  if (known == ArgumentArm::as_custom_obj)
    name = name_of_value(session, arm.value, ValueKind::custom_object).string();
  if (known == ArgumentArm::as_sym_int || known == ArgumentArm::as_sym_float ||
      known == ArgumentArm::as_sym_bool) {
    if (const std::optional<JsonValue> symbol = arm.value.find("as_name")) name = symbol->string();
  }
  ModuleCallArgument read;
  if (name) {
    const ScopeEntry* entry = graph.scope().find(*name);
    if (entry == nullptr || entry->kind == ValueKind::constant) return std::nullopt;
    Graph& owner = *session.program.graph;
    read.reference = owner.observe(owner.value_at(entry->value));
    return read;
  }
  if (known == ArgumentArm::as_tensors || known == ArgumentArm::as_graph) return std::nullopt;
  read.constant = graph.arguments().read(value);
  if (read.constant.is_list() && read.constant.count() != 0) return std::nullopt;
  return read;
}

bool read_arguments(ReadSession& session, GraphReader& graph, JsonValue list,
                    std::vector<ModuleCallArgument>& out) {
  for (const JsonValue value : list.array()) {
    std::optional<ModuleCallArgument> argument = read_argument(session, graph, value);
    if (!argument) return false;
    out.push_back(*argument);
  }
  return true;
}

std::optional<ModuleCallSignature> read_signature(ReadSession& session, GraphReader& graph,
                                                  JsonValue value) {
  std::optional<JsonValue> inputs, outputs, in_spec, out_spec, names;
  UnknownFields unknown;
  for (const JsonField field : value.object()) {
    if (field.key == "inputs") {
      inputs = field.value;
    } else if (field.key == "outputs") {
      outputs = field.value;
    } else if (field.key == "in_spec") {
      in_spec = field.value;
    } else if (field.key == "out_spec") {
      out_spec = field.value;
    } else if (field.key == "forward_arg_names") {
      names = field.value;
    } else {
      unknown.add(field);
    }
  }
  ModuleCallSignature signature;
  signature.in_spec = required(in_spec, value, "in_spec").string();
  signature.out_spec = required(out_spec, value, "out_spec").string();
  if (names && !names->is_null()) {
    signature.forward_arg_names.emplace();
    for (const JsonValue name : names->array())
      signature.forward_arg_names->emplace_back(name.string());
  }
  signature.unknown_fields = unknown.take();
  const bool kept =
      read_arguments(session, graph, required(inputs, value, "inputs"), signature.inputs) &&
      read_arguments(session, graph, required(outputs, value, "outputs"), signature.outputs);
  if (!kept) return std::nullopt;
  return signature;
}

ModuleCallEntry read_entry(ReadSession& session, GraphReader& graph, JsonValue value) {
  ModuleCallEntry entry;
  std::optional<JsonValue> fqn, signature;
  UnknownFields unknown;
  for (const JsonField field : value.object()) {
    if (field.key == "fqn") {
      fqn = field.value;
    } else if (field.key == "signature") {
      signature = field.value;
    } else {
      unknown.add(field);
    }
  }
  entry.fqn = required(fqn, value, "fqn").string();
  entry.unknown_fields = unknown.take();
  if (!signature || signature->is_null()) return entry;
  entry.signature = read_signature(session, graph, *signature);
  if (entry.signature) return entry;
  Diagnostic diagnostic;
  diagnostic.message = fmt::format(
      "the signature of module {} speaks of what the graph does not hold and is dropped",
      shown_name(entry.fqn));
  diagnostic.where = signature->where();
  session.warn(std::move(diagnostic));
  return entry;
}

}  // namespace

void read_module_call_graph(ReadSession& session, GraphReader& graph, JsonValue value) {
  for (const JsonValue entry : value.array()) {
    session.program.module_call_graph.push_back(read_entry(session, graph, entry));
  }
}

}  // namespace winze
