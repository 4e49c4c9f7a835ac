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

SpecMembers read_members(ReadSession& session, const JsonField& arm, std::string_view target_key) {
  SpecMembers members;
  const bool is_constant = arm.key == "constant_input";
  for (const JsonField field : arm.value.object()) {
    if (field.key == "arg" && !is_constant) {
      members.arg = field.value;
    } else if (!target_key.empty() && field.key == target_key) {
      members.target = field.value;
    } else if (field.key == "persistent" && arm.key == "buffer") {
      members.persistent = field.value;
    } else if (field.key == "name" && is_constant) {
      members.name = field.value;
    } else if (field.key == "value" && is_constant) {
      members.value = field.value;
    } else {
      session.unknown_field(arm.value, field);
    }
  }
  return members;
}

/// The name in the argument of a role that is not the user's: a tensor, a token or an object.
JsonValue named_argument(ReadSession& session, JsonValue argument) {
  session.know_only(argument, {"name", "class_fqn"});
  return argument.get("name");
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

GraphInput read_graph_input(ReadSession& session, ArgumentReader& reader, JsonValue argument) {
  const JsonField arm = union_member(argument);
  const std::optional<ArgumentArm> known = argument_arm(arm.key);
  std::optional<ValueKind> kind;
  if (known == ArgumentArm::as_tensor) kind = ValueKind::tensor;
  if (known == ArgumentArm::as_custom_obj) kind = ValueKind::custom_object;
  if (known == ArgumentArm::as_sym_int) kind = ValueKind::sym_int;
  if (known == ArgumentArm::as_sym_float) kind = ValueKind::sym_float;
  if (known == ArgumentArm::as_sym_bool) kind = ValueKind::sym_bool;
  if (kind) return {name_of_value(session, arm.value, *kind).string(), *kind, {}};
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
  const SpecMembers members = read_members(session, arm, row.target_key);
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
    const GraphInput own = read_graph_input(session, reader, arg);
    if (own.name != input.name) fail_name(arg, own.name, input.name);
    if (own.kind == ValueKind::constant || input.kind == ValueKind::constant) {
      check_constant(arg, own.constant, input);
      read.constant = own.constant;
    }
    return read;
  }
  const JsonValue name = named_argument(session, arg);
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
  const SpecMembers members = read_members(session, arm, row.target_key);
  const JsonValue arg = required(members.arg, arm.value, "arg");
  Argument own;
  if (row.kind == OutputKind::user_output) {
    own = reader.read(arg);
  } else {
    const JsonValue name = named_argument(session, arg);
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
