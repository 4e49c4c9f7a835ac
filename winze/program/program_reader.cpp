// SPDX-License-Identifier: Apache-2.0
#include "winze/program/program_reader.h"

#include <optional>
#include <string>

#include <fmt/format.h>

#include "winze/program/graph_reader.h"
#include "winze/program/module_call_reader.h"
#include "winze/program/read_session.h"
#include "winze/program/schema_fields.h"

namespace winze {
namespace {

struct ProgramMembers {
  std::optional<JsonValue> graph_module, opset_version, range_constraints, schema_version,
      verifiers, torch_version, guards_code;
};

ProgramMembers read_members(ExportedProgram& program, JsonValue root) {
  ProgramMembers members;
  UnknownFields unknown;
  for (const JsonField field : root.object()) {
    if (field.key == "graph_module") {
      members.graph_module = field.value;
    } else if (field.key == "opset_version") {
      members.opset_version = field.value;
    } else if (field.key == "range_constraints") {
      members.range_constraints = field.value;
    } else if (field.key == "schema_version") {
      members.schema_version = field.value;
    } else if (field.key == "verifiers") {
      members.verifiers = field.value;
    } else if (field.key == "torch_version") {
      members.torch_version = field.value;
    } else if (field.key == "guards_code") {
      members.guards_code = field.value;
    } else {
      unknown.add(field);
    }
  }
  program.unknown_fields = unknown.take();
  return members;
}

void read_schema_version(ReadSession& session, JsonValue value) {
  ExportedProgram& program = session.program;
  session.know_only(value, {"major", "minor"});
  program.schema_version.major = value.get("major").int64();
  program.schema_version.minor = value.get("minor").int64();
  if (program.schema_version.major == schema_major && program.schema_version.minor >= 0) return;
  throw value.error(
      fmt::format("schema version {}.{} is not known; this version reads {}.x",
                  program.schema_version.major, program.schema_version.minor, schema_major),
      "export the model again with PyTorch 2.7 or later");
}

std::vector<std::string> read_strings(JsonValue value) {
  std::vector<std::string> strings;
  for (const JsonValue element : value.array()) strings.emplace_back(element.string());
  return strings;
}

std::optional<std::int64_t> read_bound(JsonValue value) {
  if (value.is_null()) return std::nullopt;
  return value.int64();
}

void read_range_constraints(ReadSession& session, JsonValue value) {
  for (const JsonField field : value.object()) {
    RangeConstraint constraint;
    constraint.symbol = field.key;
    for (const JsonField bound : field.value.object()) {
      if (bound.key == "min_val") {
        constraint.min_val = read_bound(bound.value);
      } else if (bound.key == "max_val") {
        constraint.max_val = read_bound(bound.value);
      } else {
        session.unknown_field(field.value, bound);
      }
    }
    if (constraint.min_val && constraint.max_val && *constraint.min_val > *constraint.max_val) {
      throw field.value.error(fmt::format("the range of {} is empty", shown_name(field.key)));
    }
    session.program.range_constraints.push_back(std::move(constraint));
  }
}

void read_named_tuples(ReadSession& session, JsonValue value) {
  for (const JsonField field : value.object()) {
    NamedTupleDef definition;
    definition.type_name = field.key;
    for (const JsonField member : field.value.object()) {
      if (member.key == "field_names") {
        definition.field_names = read_strings(member.value);
      } else {
        session.unknown_field(field.value, member);
      }
    }
    session.program.treespec_namedtuple_fields.push_back(std::move(definition));
  }
}

SignatureJson read_signature_members(ExportedProgram& program, JsonValue signature) {
  std::optional<JsonValue> input_specs, output_specs;
  UnknownFields unknown;
  for (const JsonField field : signature.object()) {
    if (field.key == "input_specs") {
      input_specs = field.value;
    } else if (field.key == "output_specs") {
      output_specs = field.value;
    } else {
      unknown.add(field);
    }
  }
  program.signature_unknown_fields = unknown.take();
  return {required(input_specs, signature, "input_specs"),
          required(output_specs, signature, "output_specs")};
}

void read_graph_module(ReadSession& session, JsonValue value) {
  ExportedProgram& program = session.program;
  std::optional<JsonValue> graph, signature, calls, metadata, named_tuples;
  UnknownFields unknown;
  for (const JsonField field : value.object()) {
    if (field.key == "graph") {
      graph = field.value;
    } else if (field.key == "signature") {
      signature = field.value;
    } else if (field.key == "module_call_graph") {
      calls = field.value;
    } else if (field.key == "metadata") {
      metadata = field.value;
    } else if (field.key == "treespec_namedtuple_fields") {
      named_tuples = field.value;
    } else {
      unknown.add(field);
    }
  }
  program.graph_module_unknown_fields = unknown.take();
  GraphReader reader(session, *program.graph);
  reader.read(required(graph, value, "graph"),
              read_signature_members(program, required(signature, value, "signature")));
  read_module_call_graph(session, reader, required(calls, value, "module_call_graph"));
  if (metadata) {
    for (const JsonField field : metadata->object()) {
      program.metadata.emplace_back(field.key, field.value.string());
    }
  }
  if (named_tuples) read_named_tuples(session, *named_tuples);
}

}  // namespace

void read_program_json(ExportedProgram& program, const Bytes& json, const Where& where,
                       std::vector<Diagnostic>* warnings) {
  const JsonDocument document(json, where, {.max_depth = max_program_json_depth});
  const JsonValue root = document.root();
  const ProgramMembers members = read_members(program, root);
  ReadSession session(program, warnings);
  read_schema_version(session, required(members.schema_version, root, "schema_version"));
  if (members.torch_version) program.torch_version = members.torch_version->string();
  if (members.verifiers) program.verifiers = read_strings(*members.verifiers);
  if (members.guards_code) program.guards_code = read_strings(*members.guards_code);
  for (const JsonField field : required(members.opset_version, root, "opset_version").object()) {
    program.opset_version.emplace_back(field.key, field.value.int64());
  }
  read_graph_module(session, required(members.graph_module, root, "graph_module"));
  const JsonValue ranges = required(members.range_constraints, root, "range_constraints");
  read_range_constraints(session, ranges);
  try {
    program.apply_range_constraints();
    program.look_for_offsets();
  } catch (Error& error) {
    rethrow_at(error, ranges);
  }
  program.unknown_members = session.take_unknown(root);
}

}  // namespace winze
