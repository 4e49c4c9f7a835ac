// SPDX-License-Identifier: Apache-2.0
#include "winze/program/program_writer.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "winze/program/graph_writer.h"
#include "winze/program/schema_fields.h"
#include "winze/program/signature_writer.h"
#include "winze/schema/op.h"
#include "winze/support/quote.h"

namespace winze {
namespace {

/// Whether PyTorch's verifier for the ATEN dialect would refuse the graph: an overload that writes
/// an argument.
bool holds_mutable_op(const ExportedProgram& program) {
  const Context& context = program.context();
  const auto writes = [](const SchemaArgument& argument) {
    return argument.alias && argument.alias->is_write;
  };
  for (const Graph* graph : program.graph->all_graphs()) {
    for (const Node node : graph->nodes()) {
      if (!node.is_call()) continue;
      const Op& op = context.ops().get(node.op());
      if (op.kind == OpKind::overload && std::ranges::any_of(op.schema.arguments, writes))
        return true;
    }
  }
  return false;
}

void write_strings(JsonWriter& writer, const std::vector<std::string>& strings) {
  writer.begin_array();
  for (const std::string& text : strings) writer.string(text);
  writer.end_array();
}

void write_verifiers(WriteSession& session, JsonWriter& writer) {
  std::vector<std::string> verifiers = session.program.verifiers;
  const auto functional = std::ranges::find(verifiers, "ATEN");
  if ((functional != verifiers.end() || verifiers.empty()) && holds_mutable_op(session.program)) {
    if (functional == verifiers.end()) {
      verifiers.emplace_back("TRAINING");
    } else {
      *functional = "TRAINING";
    }
  }
  write_strings(writer, verifiers);
}

void write_bound(JsonWriter& writer, std::string_view key,
                 const std::optional<std::int64_t>& bound) {
  writer.plain_key(key);
  if (bound) {
    writer.integer(*bound);
  } else {
    writer.null();
  }
}

void write_graph_module(WriteSession& session, JsonWriter& writer) {
  const ExportedProgram& program = session.program;
  GraphWriter graph(session, *program.graph, writer);
  writer.begin_object();
  writer.plain_key("graph");
  graph.write();
  writer.plain_key("signature");
  write_signature(session, graph, writer);
  writer.plain_key("module_call_graph");
  write_module_call_graph(session, graph, writer);
  writer.plain_key("metadata");
  writer.begin_object();
  for (const auto& [key, text] : program.metadata) {
    writer.key(key);
    writer.string(text);
  }
  writer.end_object();
  writer.plain_key("treespec_namedtuple_fields");
  writer.begin_object();
  for (const NamedTupleDef& definition : program.treespec_namedtuple_fields) {
    writer.key(definition.type_name);
    writer.begin_object();
    writer.plain_key("field_names");
    write_strings(writer, definition.field_names);
    writer.end_object();
  }
  writer.end_object();
  session.write_unknown_fields(writer, program.graph_module_unknown_fields);
  writer.end_object();
}

void write_program(WriteSession& session, JsonWriter& writer, std::string_view torch_version) {
  const ExportedProgram& program = session.program;
  writer.begin_object();
  writer.plain_key("graph_module");
  write_graph_module(session, writer);
  writer.plain_key("opset_version");
  writer.begin_object();
  for (const auto& [space, version] : program.opset_version) {
    writer.key(space);
    writer.integer(version);
  }
  writer.end_object();
  writer.plain_key("range_constraints");
  writer.begin_object();
  for (const RangeConstraint& constraint : program.range_constraints) {
    writer.key(constraint.symbol);
    writer.begin_object();
    write_bound(writer, "min_val", constraint.min_val);
    write_bound(writer, "max_val", constraint.max_val);
    writer.end_object();
  }
  writer.end_object();
  writer.plain_key("schema_version");
  writer.begin_object();
  writer.plain_key("major");
  writer.integer(schema_major);
  writer.plain_key("minor");
  writer.integer(session.schema_minor);
  writer.end_object();
  writer.plain_key("verifiers");
  write_verifiers(session, writer);
  writer.plain_key("torch_version");
  writer.string(torch_version);
  writer.plain_key("guards_code");
  write_strings(writer, program.guards_code);
  session.write_unknown_fields(writer, program.unknown_fields);
  writer.end_object();
}

bool has_unknown_fields(const WeightTable& table) {
  return !table.unknown_members().empty() || std::ranges::any_of(table, [](const Weight& weight) {
    return !weight.unknown_fields.empty();
  });
}

bool has_unknown_fields(const ExportedProgram& program) {
  return !program.unknown_fields.empty() || !program.graph_module_unknown_fields.empty() ||
         !program.signature_unknown_fields.empty() || !program.unknown_members.empty() ||
         !program.graph->unknown_fields().empty() || has_unknown_fields(program.state_dict) ||
         has_unknown_fields(program.constants);
}

}  // namespace

WriteTarget choose_target(const ExportedProgram& program, const WriteOptions& options) {
  const std::string& wanted =
      options.torch_version.empty() ? program.torch_version : options.torch_version;
  std::optional<TorchRelease> release = writable_release(wanted);
  if (!release && !options.torch_version.empty()) {
    throw Error(fmt::format("{} is no PyTorch release that can be written for", quote(wanted)),
                "name 2.9 or a later one, such as 2.13");
  }
  const std::optional<TorchRelease> own = parse_torch_version(program.torch_version);
  const TorchRelease latest = latest_known_release();
  if (!release && own && own->major > latest.major)
    release = {own->major, own->minor, latest.schema_minor};
  if (!release) release = earliest_writable_release();
  WriteTarget target;
  target.schema_minor = release->schema_minor;
  const bool is_own = own && own->major == release->major && own->minor == release->minor;
  // A file of a release that this table does not know keeps its own version, and what it has in
  // unknown fields.
  if (is_own && program.schema_version.minor > newest_schema_minor)
    target.schema_minor = program.schema_version.minor;
  target.torch_version =
      is_own ? program.torch_version : fmt::format("{}.{}.0", release->major, release->minor);
  return target;
}

WriteSession write_session(const ExportedProgram& program, const WriteTarget& target,
                           std::vector<Diagnostic>* warnings) {
  return {program, target.schema_minor, target.schema_minor >= program.schema_version.minor,
          MetaWriter(program, target.schema_minor), warnings};
}

/// A release that the user names, and that came out after this version of Winze.
void warn_of_later_release(WriteSession& session, const WriteOptions& options) {
  const std::optional<TorchRelease> wanted = parse_torch_version(options.torch_version);
  const TorchRelease latest = latest_known_release();
  if (!wanted || wanted->minor <= latest.minor) return;
  session.warn(
      fmt::format("torch {}.{} is later than the latest release that is known, {}.{}; the "
                  "program is written as that one does",
                  wanted->major, wanted->minor, latest.major, latest.minor));
}

std::string program_json(const ExportedProgram& program, const WriteOptions& options,
                         std::vector<Diagnostic>* warnings) {
  const WriteTarget target = choose_target(program, options);
  WriteSession session = write_session(program, target, warnings);
  warn_of_later_release(session, options);
  if (!session.keeps_unknown_fields && has_unknown_fields(program)) {
    session.warn(fmt::format(
        "fields of schema {}.{} are dropped: the PyTorch release that is written for has {}.{}",
        schema_major, program.schema_version.minor, schema_major, target.schema_minor));
  }
  std::string json;
  // A node takes about 1.7 kB, most of it its stack trace; what is not touched costs nothing.
  json.reserve(program.graph->size() * 2048 + 4096);
  JsonWriter writer(json);
  write_program(session, writer, target.torch_version);
  return session.put_back(std::move(json), program.unknown_members);
}

}  // namespace winze
