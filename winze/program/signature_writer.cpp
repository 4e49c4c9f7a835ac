// SPDX-License-Identifier: Apache-2.0
#include "winze/program/signature_writer.h"

#include <algorithm>

#include <fmt/format.h>

#include "winze/support/quote.h"

namespace winze {
namespace {

struct RoleRow {
  std::string_view arm;
  std::string_view target_key;
};

RoleRow role_row(InputKind kind) {
  switch (kind) {
    case InputKind::parameter:
      return {"parameter", "parameter_name"};
    case InputKind::buffer:
      return {"buffer", "buffer_name"};
    case InputKind::tensor_constant:
      return {"tensor_constant", "tensor_constant_name"};
    case InputKind::custom_obj:
      return {"custom_obj", "custom_obj_name"};
    case InputKind::token:
      return {"token", ""};
    case InputKind::constant_input:
      return {"constant_input", ""};
    default:
      return {"user_input", ""};
  }
}

RoleRow role_row(OutputKind kind) {
  switch (kind) {
    case OutputKind::loss_output:
      return {"loss_output", ""};
    case OutputKind::buffer_mutation:
      return {"buffer_mutation", "buffer_name"};
    case OutputKind::parameter_mutation:
      return {"parameter_mutation", "parameter_name"};
    case OutputKind::gradient_to_parameter:
      return {"gradient_to_parameter", "parameter_name"};
    case OutputKind::gradient_to_user_input:
      return {"gradient_to_user_input", "user_input_name"};
    case OutputKind::user_input_mutation:
      return {"user_input_mutation", "user_input_name"};
    case OutputKind::token:
      return {"token", ""};
    default:
      return {"user_output", ""};
  }
}

class SignatureWriter {
 public:
  SignatureWriter(const ExportedProgram& program, GraphWriter& graph, JsonWriter& writer)
      : program_(program), context_(program.context()), graph_(graph), writer_(writer) {}

  void write_input_spec(Node placeholder);
  void write_output_spec(Node output, const Argument& value, const OutputSpec& spec);

 private:
  void write_name(Value value);
  void write_target(const RoleRow& row, StringId target);

  const ExportedProgram& program_;
  const Context& context_;
  GraphWriter& graph_;
  JsonWriter& writer_;
};

/// `{"name": …}`, with the class for an object.
void SignatureWriter::write_name(Value value) {
  writer_.begin_object();
  writer_.plain_key("name");
  writer_.string(graph_.names().of(value));
  if (value.meta().kind == ValueKind::custom_object) {
    writer_.plain_key("class_fqn");
    writer_.string(context_.text(value.meta().class_name));
  }
  writer_.end_object();
}

void SignatureWriter::write_target(const RoleRow& row, StringId target) {
  if (row.target_key.empty()) return;
  writer_.plain_key(row.target_key);
  writer_.string(context_.text(target));
}

void SignatureWriter::write_input_spec(Node placeholder) {
  const Argument role = placeholder.argument(0);
  InputSpec spec;
  if (role.kind() == ArgumentKind::input_spec) spec = context_.input_spec_of(role);
  const RoleRow row = role_row(spec.kind);
  writer_.begin_object();
  writer_.plain_key(row.arm);
  writer_.begin_object();
  if (spec.kind == InputKind::constant_input) {
    writer_.plain_key("name");
    writer_.string(spec.name.valid() ? context_.text(spec.name)
                                     : graph_.names().of(placeholder.value()));
    writer_.plain_key("value");
    graph_.arguments().write(placeholder, spec.constant, nullptr);
  } else {
    writer_.plain_key("arg");
    if (spec.kind == InputKind::user_input) {
      graph_.write_input(placeholder);
    } else {
      write_name(placeholder.value());
    }
    write_target(row, spec.target);
    if (spec.kind == InputKind::buffer) {
      writer_.plain_key("persistent");
      writer_.boolean(spec.persistent);
    }
  }
  writer_.end_object();
  writer_.end_object();
}

void SignatureWriter::write_output_spec(Node output, const Argument& value,
                                        const OutputSpec& spec) {
  const RoleRow row = role_row(spec.kind);
  writer_.begin_object();
  writer_.plain_key(row.arm);
  writer_.begin_object();
  writer_.plain_key("arg");
  if (spec.kind == OutputKind::user_output) {
    graph_.arguments().write(output, value, nullptr);
  } else if (value.is_value()) {
    write_name(program_.graph->value_at(value.value_id()));
  } else {
    fail("an output with the role {} is a constant", name_of(spec.kind));
  }
  write_target(row, spec.target);
  writer_.end_object();
  writer_.end_object();
}

/// Whether every value that the signature refers to is still there.
bool is_whole(const Graph& graph, const ModuleCallSignature& signature) {
  const auto is_there = [&](const ModuleCallArgument& argument) {
    return !argument.reference || graph.observed(*argument.reference).valid();
  };
  return std::ranges::all_of(signature.inputs, is_there) &&
         std::ranges::all_of(signature.outputs, is_there);
}

void write_arguments(const Graph& graph, GraphWriter& names, JsonWriter& writer,
                     const std::vector<ModuleCallArgument>& arguments) {
  writer.begin_array();
  for (const ModuleCallArgument& argument : arguments) {
    if (argument.reference) {
      names.arguments().write_value(graph.observed(*argument.reference));
    } else {
      names.arguments().write(graph.output_node(), argument.constant, nullptr);
    }
  }
  writer.end_array();
}

void write_call_signature(WriteSession& session, GraphWriter& names, JsonWriter& writer,
                          const ModuleCallSignature& signature) {
  const Graph& graph = *session.program.graph;
  writer.begin_object();
  writer.plain_key("inputs");
  write_arguments(graph, names, writer, signature.inputs);
  writer.plain_key("outputs");
  write_arguments(graph, names, writer, signature.outputs);
  writer.plain_key("in_spec");
  writer.string(signature.in_spec);
  writer.plain_key("out_spec");
  writer.string(signature.out_spec);
  writer.plain_key("forward_arg_names");
  if (signature.forward_arg_names) {
    writer.begin_array();
    for (const std::string& name : *signature.forward_arg_names) writer.string(name);
    writer.end_array();
  } else {
    writer.null();
  }
  session.write_unknown_fields(writer, signature.unknown_fields);
  writer.end_object();
}

}  // namespace

void write_signature(WriteSession& session, GraphWriter& graph, JsonWriter& writer) {
  const ExportedProgram& program = session.program;
  SignatureWriter specs(program, graph, writer);
  writer.begin_object();
  writer.plain_key("input_specs");
  writer.begin_array();
  for (const Node placeholder : program.graph->placeholders()) specs.write_input_spec(placeholder);
  writer.end_array();
  writer.plain_key("output_specs");
  writer.begin_array();
  const Node output = program.graph->output_node();
  const Argument values = output.argument(0);
  const Argument roles = output.argument(1);
  for (std::uint32_t index = 0; index < values.count(); ++index) {
    OutputSpec spec;
    if (index < roles.count())
      spec = program.context().output_spec_of(output.element(roles, index));
    specs.write_output_spec(output, output.element(values, index), spec);
  }
  writer.end_array();
  session.write_unknown_fields(writer, program.signature_unknown_fields);
  writer.end_object();
}

void write_module_call_graph(WriteSession& session, GraphWriter& graph, JsonWriter& writer) {
  writer.begin_array();
  for (const ModuleCallEntry& entry : session.program.module_call_graph) {
    const bool is_lost = entry.signature && !is_whole(*session.program.graph, *entry.signature);
    if (is_lost) {
      session.warn(
          fmt::format("the signature of module {} is dropped: a value that it refers to is gone",
                      quote(entry.fqn)));
    }
    writer.begin_object();
    writer.plain_key("fqn");
    writer.string(entry.fqn);
    writer.plain_key("signature");
    if (entry.signature && !is_lost) {
      write_call_signature(session, graph, writer, *entry.signature);
    } else {
      writer.null();
    }
    session.write_unknown_fields(writer, entry.unknown_fields);
    writer.end_object();
  }
  writer.end_array();
}

}  // namespace winze
