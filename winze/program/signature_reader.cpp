// SPDX-License-Identifier: Apache-2.0
#include "winze/program/signature_reader.h"

#include <optional>

#include <fmt/format.h>

#include "winze/program/schema_fields.h"

namespace winze {
namespace {

struct InputKindRow {
  std::string_view arm;
  InputKind kind;
  std::string_view target_key;  ///< empty where the kind has no target
};

constexpr InputKindRow input_kinds[] = {
    {"parameter", InputKind::parameter, "parameter_name"},
    {"buffer", InputKind::buffer, "buffer_name"},
    {"tensor_constant", InputKind::tensor_constant, "tensor_constant_name"},
    {"custom_obj", InputKind::custom_obj, "custom_obj_name"},
    {"token", InputKind::token, ""},
    {"user_input", InputKind::user_input, ""},
    {"constant_input", InputKind::constant_input, ""},
};

struct OutputKindRow {
  std::string_view arm;
  OutputKind kind;
  std::string_view target_key;
};

constexpr OutputKindRow output_kinds[] = {
    {"user_output", OutputKind::user_output, ""},
    {"loss_output", OutputKind::loss_output, ""},
    {"buffer_mutation", OutputKind::buffer_mutation, "buffer_name"},
    {"parameter_mutation", OutputKind::parameter_mutation, "parameter_name"},
    {"gradient_to_parameter", OutputKind::gradient_to_parameter, "parameter_name"},
    {"gradient_to_user_input", OutputKind::gradient_to_user_input, "user_input_name"},
    {"user_input_mutation", OutputKind::user_input_mutation, "user_input_name"},
    {"token", OutputKind::token, ""},
};

template <typename Rows>
const auto& row_for(const Rows& rows, const JsonField& arm, JsonValue spec) {
  for (const auto& row : rows) {
    if (row.arm == arm.key) return row;
  }
  throw spec.error(fmt::format("a role of unknown kind {}", shown_name(arm.key)),
                   "the file may be of a newer PyTorch than this version reads");
}

/// The members of a spec.
struct SpecMembers {
  std::optional<JsonValue> arg, target, persistent, name, value;
};

SpecMembers read_members(ReadSession& session, JsonValue spec, std::string_view target_key) {
  SpecMembers members;
  for (const JsonField field : spec.object()) {
    if (field.key == "arg") {
      members.arg = field.value;
    } else if (!target_key.empty() && field.key == target_key) {
      members.target = field.value;
    } else if (field.key == "persistent") {
      members.persistent = field.value;
    } else if (field.key == "name") {
      members.name = field.value;
    } else if (field.key == "value") {
      members.value = field.value;
    } else {
      session.dropped_field(field, "InputSpec or OutputSpec");
    }
  }
  return members;
}

[[noreturn]] void fail_name(JsonValue where, std::string_view name, std::string_view wanted) {
  throw where.error(fmt::format("the role is of {}, but the graph's input here is {}",
                                shown_name(name),
                                wanted.empty() ? std::string("a constant") : shown_name(wanted)));
}

void check_constant(JsonValue where, const Argument& constant, const GraphInput& input) {
  if (input.kind == ValueKind::constant && constant == input.constant) return;
  throw where.error("the constant of the role is not that of the graph's input");
}

bool is_plain_constant(const Argument& argument) {
  switch (argument.kind()) {
    case ArgumentKind::none:
    case ArgumentKind::integer:
    case ArgumentKind::floating:
    case ArgumentKind::boolean:
    case ArgumentKind::string:
      return true;
    default:
      return false;
  }
}

}  // namespace

GraphInput read_graph_input(ArgumentReader& reader, JsonValue argument) {
  const JsonField arm = union_member(argument);
  const std::optional<ArgumentArm> known = argument_arm(arm.key);
  const auto named = [](JsonValue name, ValueKind kind) {
    return GraphInput{name.string(), kind, {}};
  };
  if (known == ArgumentArm::as_tensor) return named(arm.value.get("name"), ValueKind::tensor);
  if (known == ArgumentArm::as_custom_obj)
    return named(arm.value.get("name"), ValueKind::custom_object);
  std::optional<ValueKind> symbolic;
  if (known == ArgumentArm::as_sym_int) symbolic = ValueKind::sym_int;
  if (known == ArgumentArm::as_sym_float) symbolic = ValueKind::sym_float;
  if (known == ArgumentArm::as_sym_bool) symbolic = ValueKind::sym_bool;
  if (symbolic) return named(arm.value.get("as_name"), *symbolic);
  GraphInput input;
  input.constant = reader.read(argument);
  if (!is_plain_constant(input.constant)) {
    throw argument.error(
        fmt::format("an input of kind {}; a value or a plain constant is wanted", arm.key));
  }
  return input;
}

InputSpec read_input_spec(ReadSession& session, ArgumentReader& reader, JsonValue spec,
                          GraphInput& input) {
  const JsonField arm = union_member(spec);
  const InputKindRow& row = row_for(input_kinds, arm, spec);
  const SpecMembers members = read_members(session, arm.value, row.target_key);
  InputSpec read;
  read.kind = row.kind;
  if (row.kind == InputKind::constant_input) {
    const JsonValue name = required(members.name, arm.value, "name");
    const JsonValue value = required(members.value, arm.value, "value");
    read.name = session.context.string(name.string());
    read.constant = reader.read(value);
    check_constant(value, read.constant, input);
    input.name = name.string();
    return read;
  }
  const JsonValue arg = required(members.arg, arm.value, "arg");
  if (row.kind == InputKind::user_input) {
    const GraphInput own = read_graph_input(reader, arg);
    if (own.name != input.name) fail_name(arg, own.name, input.name);
    if (own.kind == ValueKind::constant || input.kind == ValueKind::constant) {
      check_constant(arg, own.constant, input);
      read.constant = own.constant;
    }
    return read;
  }
  const JsonValue name = arg.get("name");
  if (name.string() != input.name) fail_name(name, name.string(), input.name);
  if (!row.target_key.empty()) {
    read.target =
        session.context.string(required(members.target, arm.value, row.target_key).string());
  }
  if (row.kind == InputKind::buffer)
    read.persistent = required(members.persistent, arm.value, "persistent").boolean();
  return read;
}

OutputSpec read_output_spec(ReadSession& session, ArgumentReader& reader, const ValueScope& scope,
                            JsonValue spec, const Argument& output) {
  const JsonField arm = union_member(spec);
  const OutputKindRow& row = row_for(output_kinds, arm, spec);
  const SpecMembers members = read_members(session, arm.value, row.target_key);
  const JsonValue arg = required(members.arg, arm.value, "arg");
  Argument own;
  if (row.kind == OutputKind::user_output) {
    own = reader.read(arg);
  } else {
    const JsonValue name = arg.get("name");
    own = Argument::of_value(scope.use(name.string(), name).value);
  }
  if (!(own == output) && !own.is_list())
    throw arg.error("the role is of another value than the graph returns here");
  OutputSpec read;
  read.kind = row.kind;
  if (!row.target_key.empty()) {
    read.target =
        session.context.string(required(members.target, arm.value, row.target_key).string());
  }
  return read;
}

}  // namespace winze
