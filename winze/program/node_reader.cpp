// SPDX-License-Identifier: Apache-2.0
#include "winze/program/node_reader.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "winze/program/schema_fields.h"
#include "winze/schema/op.h"

namespace winze {
namespace {

constexpr std::size_t max_arguments = 65535;
/// How many formal arguments a call may fill by position.
std::size_t positional_count(const Schema& schema) {
  return static_cast<std::size_t>(
      std::ranges::find_if(schema.arguments,
                           [](const SchemaArgument& argument) { return argument.kwarg_only; }) -
      schema.arguments.begin());
}

}  // namespace

bool names_arguments(const Op& op) {
  return op.kind == OpKind::overload || op.kind == OpKind::symbolic || op.kind == OpKind::opaque;
}

bool returns_none(const Op& op) {
  const bool is_python = op.kind == OpKind::higher_order || op.kind == OpKind::function;
  return is_python && op.schema.returns.empty() && !op.schema.is_variadic_returns;
}

void NodeReader::read(JsonValue node) {
  std::optional<JsonValue> target, inputs, outputs, metadata, single, name;
  UnknownFields unknown;
  for (const JsonField field : node.object()) {
    if (field.key == "target") {
      target = field.value;
    } else if (field.key == "inputs") {
      inputs = field.value;
    } else if (field.key == "outputs") {
      outputs = field.value;
    } else if (field.key == "metadata") {
      metadata = field.value;
    } else if (field.key == "is_hop_single_tensor_return") {
      single = field.value;
    } else if (field.key == "name") {
      name = field.value;
    } else {
      unknown.add(field);
    }
  }
  const ArgumentArena::Mark mark = arena_.mark();
  const JsonValue target_value = required(target, node, "target");
  const JsonValue input_list = required(inputs, node, "inputs");
  const OpId op = find_target(target_value);
  const Call call =
      op.is_valid() ? read_call(op, input_list) : read_opaque_call(target_value, input_list);

  const JsonValue output_list = required(outputs, node, "outputs");
  structure_.is_single_tensor_return.reset();
  if (single && !single->is_null()) structure_.is_single_tensor_return = single->boolean();
  const OpSignature& signature = session_.context.signature(call.op);
  read_results(output_list);
  if (is_none_for_nothing(signature)) drop_results();
  check_structure(signature, output_list);

  CallOptions options;
  options.source = read_source(required(metadata, node, "metadata"), unknown);
  if (!structure_is_implied(signature)) options.structure = &structure_;
  options.positional_count = call.positional_count;
  const std::string_view own_name = name && !name->is_null() ? name->string() : std::string_view();
  options.name = own_name;
  Node made;
  try {
    made = graph_.call_function(call.op, call.arguments, metas_, options);
  } catch (Error& error) {
    rethrow_at(error, node);
  }
  for (std::uint32_t index = 0; index < names_.size(); ++index) {
    if (names_[index].empty()) continue;
    const Value value = made.value(index);
    if (value.name() != names_[index]) value.set_name(names_[index]);
    scope_.set_value(names_[index], value.id());
  }
  const bool is_named_by_value = names_.size() == 1 && (names_[0].empty() || names_[0] == own_name);
  if (names_.size() == 1 && !is_named_by_value && !own_name.empty()) made.set_name(own_name);
  arena_.rewind(mark);
}

OpId NodeReader::find_target(JsonValue target) {
  const std::string_view text = target.string();
  const auto known = targets_.find(text);
  if (known != targets_.end()) return known->second;
  if (text.empty()) throw target.error("the target is empty");
  const OpId op = session_.context.ops().find(text);
  targets_.emplace(text, op);
  return op;
}

NodeReader::Input NodeReader::read_input(JsonValue input) {
  std::optional<JsonValue> name, arg, kind;
  for (const JsonField field : input.object()) {
    if (field.key == "name") {
      name = field.value;
    } else if (field.key == "arg") {
      arg = field.value;
    } else if (field.key == "kind") {
      kind = field.value;
    } else {
      session_.unknown_field(input, field);
    }
  }
  Input read{required(name, input, "name").string(), required(arg, input, "arg"), {}, input};
  if (kind && !kind->is_null()) {
    const std::int64_t number = kind->int64();
    if (number < 0 || number > static_cast<std::int64_t>(InputKind::keyword))
      throw kind->error(fmt::format("{} is no kind of argument", number));
    read.kind = static_cast<InputKind>(number);
  }
  return read;
}

NodeReader::Input NodeReader::read_input_of(const Op& op, JsonValue input) {
  Input read = read_input(input);
  if (!names_arguments(op) && read.kind == InputKind::positional) read.name = {};
  return read;
}

bool NodeReader::is_keyword(const Op& op, const Input& input, std::size_t index) {
  if (input.name.empty()) return false;
  if (input.kind != InputKind::unknown) return input.kind == InputKind::keyword;
  return !names_arguments(op) || op.schema.arguments[index].default_value.has_value();
}

/// A variadic operator takes keywords that its schema does not name: then a variant of it is meant.
OpId NodeReader::variant_with_keywords(OpId op, JsonValue inputs) {
  const Op& variadic = session_.context.ops().get(op);
  const Schema& schema = variadic.schema;
  std::vector<std::string> keywords;
  for (const JsonValue input : inputs.array()) {
    const Input read = read_input_of(variadic, input);
    if (read.name.empty() || schema.find_argument(read.name) >= 0) continue;
    if (std::ranges::find(keywords, read.name) != keywords.end()) {
      throw input.error(fmt::format("argument {} is given twice", shown_name(read.name)));
    }
    if (keywords.size() == 1024) throw input.error("more than 1024 keyword arguments");
    keywords.emplace_back(read.name);
  }
  if (keywords.empty()) return op;
  try {
    return session_.context.ops().with_keywords(op, keywords);
  } catch (Error& error) {
    rethrow_at(error, inputs);
  }
}

NodeReader::Call NodeReader::read_call(OpId op, JsonValue inputs) {
  const JsonArray array = inputs.array();
  const std::size_t count = array.size();
  if (count > max_arguments)
    throw inputs.error(fmt::format("{} arguments; the most are {}", count, max_arguments));
  if (session_.context.ops().get(op).schema.is_variadic_arguments)
    op = variant_with_keywords(op, inputs);
  const Op& found = session_.context.ops().get(op);
  const Schema& schema = found.schema;
  const std::size_t formal = schema.arguments.size();
  const std::size_t by_position = positional_count(schema);
  const std::span<Argument> arguments = arena_.allocate(formal + count);
  std::size_t next = 0;        // the position that follows the argument read last
  std::size_t extra = formal;  // the next of those that a variadic operator takes beyond its schema
  std::size_t positional = CallOptions::as_dispatched;
  for (const JsonValue element : array) {
    const Input input = read_input_of(found, element);
    std::size_t index = next;
    if (input.name.empty()) {
      if (next >= by_position) {
        if (!schema.is_variadic_arguments) {
          throw element.error(
              fmt::format("{} takes no more than {} arguments by position; its schema is {}",
                          found.qualified_name, by_position, print_schema(schema)));
        }
        index = extra++;
      }
    } else if (next >= formal || schema.arguments[next].name != input.name) {
      const int position = schema.find_argument(input.name);
      if (position < 0) {
        throw element.error(
            fmt::format("{} has no argument {}; its schema is {}", found.qualified_name,
                        shown_name(input.name), print_schema(schema)),
            "the operator may be of another PyTorch release: load the operator table of that "
            "release");
      }
      index = static_cast<std::size_t>(position);
    }
    if (!arguments[index].is_default()) {
      throw element.error(
          fmt::format("argument {} is given twice", shown_name(schema.arguments[index].name)));
    }
    arguments[index] = arguments_.read(input.arg);
    if (index < by_position && is_keyword(found, input, index))
      positional = std::min(positional, index);
    if (index < formal) next = index + 1;
  }
  return {op, arguments.first(extra), static_cast<std::uint32_t>(positional)};
}

NodeReader::Call NodeReader::read_opaque_call(JsonValue target, JsonValue inputs) {
  const JsonArray array = inputs.array();
  const std::size_t count = array.size();
  if (count > max_arguments)
    throw inputs.error(fmt::format("{} arguments; the most are {}", count, max_arguments));
  std::vector<OpaqueArgument> formal;
  formal.reserve(count);
  const std::span<Argument> arguments = arena_.allocate(count);
  std::size_t index = 0;
  for (const JsonValue element : array) {
    const Input input = read_input(element);
    formal.push_back({std::string(input.name), input.kind == InputKind::keyword});
    arguments[index++] = arguments_.read(input.arg);
  }
  try {
    return {session_.context.ops().opaque(target.string(), formal), arguments};
  } catch (Error& error) {
    rethrow_at(error, inputs);
  }
}

/// Of a Python function without results export writes that it returns None.
bool NodeReader::is_none_for_nothing(const OpSignature& signature) const {
  return returns_none(*signature.op) && metas_.size() == 1 && names_[0].empty() &&
         structure_.groups.size() == 1 && structure_.groups[0] == ResultStructure::single;
}

void NodeReader::drop_results() {
  metas_.clear();
  names_.clear();
  structure_.groups.clear();
}

void NodeReader::read_results(JsonValue outputs) {
  drop_results();
  for (const JsonValue output : outputs.array()) {
    read_result(output);
    if (metas_.size() > max_arguments)
      throw outputs.error(fmt::format("more than {} results", max_arguments));
  }
}

void NodeReader::read_result(JsonValue output) {
  const JsonField arm = union_member(output);
  const std::optional<ArgumentArm> known = argument_arm(arm.key);
  const auto single = [&](ValueKind kind) {
    structure_.groups.push_back(ResultStructure::single);
    add_result(name_of_value(session_, arm.value, kind), kind);
  };
  const auto list = [&](ValueKind kind) {
    const std::size_t before = metas_.size();
    for (const JsonValue element : arm.value.array()) add_list_element(element, kind);
    structure_.groups.push_back(static_cast<std::int32_t>(metas_.size() - before));
  };
  switch (known.value_or(ArgumentArm::as_graph)) {
    case ArgumentArm::as_none:
      structure_.groups.push_back(ResultStructure::single);
      metas_.push_back(session_.context.plain_meta(ValueKind::none));
      names_.emplace_back();
      return;
    case ArgumentArm::as_tensor:
      return single(ValueKind::tensor);
    case ArgumentArm::as_sym_int:
      return single(ValueKind::sym_int);
    case ArgumentArm::as_sym_float:
      return single(ValueKind::sym_float);
    case ArgumentArm::as_sym_bool:
      return single(ValueKind::sym_bool);
    case ArgumentArm::as_custom_obj:
      return single(ValueKind::custom_object);
    case ArgumentArm::as_tensors:
    case ArgumentArm::as_optional_tensors:
      return list(ValueKind::tensor);
    case ArgumentArm::as_sym_ints:
      return list(ValueKind::sym_int);
    case ArgumentArm::as_sym_floats:
      return list(ValueKind::sym_float);
    case ArgumentArm::as_sym_bools:
      return list(ValueKind::sym_bool);
    default:
      throw output.error(
          fmt::format("a result of kind {}, which an operator cannot yield", shown_name(arm.key)));
  }
}

void NodeReader::add_result(JsonValue name, ValueKind kind) {
  const std::string_view text = name.string();
  if (text.empty()) throw name.error("the name of a value is empty");
  metas_.push_back(scope_.declare(text, kind, name));
  names_.push_back(text);
}

/// `{"name": …}` of a tensor, `{"as_name": …}` of a symbolic value, or an optional tensor's union.
void NodeReader::add_list_element(JsonValue element, ValueKind kind) {
  if (kind != ValueKind::tensor || element.find("name"))
    return add_result(name_of_value(session_, element, kind), kind);
  const JsonField member = union_member(element);
  if (member.key == "as_none") {
    metas_.push_back(session_.context.plain_meta(ValueKind::none));
    names_.emplace_back();
    return;
  }
  const JsonValue record = member.key == "as_tensor" ? member.value : element;
  add_result(name_of_value(session_, record, kind), kind);
}

bool NodeReader::structure_is_implied(const OpSignature& signature) const {
  if (structure_.is_single_tensor_return) return false;
  const bool returns_one_list = !signature.op->schema.is_variadic_returns &&
                                signature.op->schema.returns.size() == 1 &&
                                signature.op->schema.returns[0].type.is_list();
  if (returns_one_list)
    return structure_.groups.size() == 1 && structure_.groups[0] != ResultStructure::single;
  return std::ranges::all_of(structure_.groups,
                             [](std::int32_t group) { return group == ResultStructure::single; });
}

void NodeReader::check_structure(const OpSignature& signature, JsonValue outputs) const {
  if (!signature.fixed_values) return;
  const bool all_single = std::ranges::all_of(
      structure_.groups, [](std::int32_t group) { return group == ResultStructure::single; });
  if (all_single && metas_.size() == signature.value_count) return;
  throw outputs.error(fmt::format("the results do not fit the operator's schema {}",
                                  print_schema(signature.op->schema)));
}

SourceId NodeReader::read_source(JsonValue metadata, UnknownFields& unknown) {
  source_.entries.clear();
  source_.unknown_fields = StringId{};
  for (const JsonField field : metadata.object()) {
    StringId value;
    if (field.key == "stack_trace") {
      const auto [found, inserted] =
          session_.metadata_texts.emplace(field.value.raw_json(), StringId{});
      if (inserted) found.value() = session_.context.string(field.value.string(scratch_));
      value = found->second;
    } else {
      value = session_.context.string(field.value.string(scratch_));
    }
    source_.entries.push_back({session_.context.string(field.key), value});
  }
  if (const std::string json = unknown.take(); !json.empty())
    source_.unknown_fields = session_.context.string(json);
  return session_.context.source(source_);
}

}  // namespace winze
