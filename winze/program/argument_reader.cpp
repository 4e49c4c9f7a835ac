// SPDX-License-Identifier: Apache-2.0
#include "winze/program/argument_reader.h"

#include <algorithm>

#include <fmt/format.h>

#include "winze/program/meta_reader.h"
#include "winze/program/schema_fields.h"

namespace winze {
namespace {

std::string_view kind_text(ValueKind kind) {
  switch (kind) {
    case ValueKind::tensor:
      return "a tensor";
    case ValueKind::sym_int:
      return "a symbolic integer";
    case ValueKind::sym_float:
      return "a symbolic float";
    case ValueKind::sym_bool:
      return "a symbolic boolean";
    default:
      return "an object";
  }
}

/// A dictionary may be kept as text only where no part of it refers to the graph.
void check_constant(JsonValue dictionary) {
  std::vector<JsonValue> open{dictionary};
  while (!open.empty()) {
    const JsonObject members = open.back().object();
    open.pop_back();
    for (const JsonField member : members) {
      const JsonField arm = union_member(member.value);
      const std::optional<ArgumentArm> known = argument_arm(arm.key);
      if (!known)
        throw member.value.error(
            fmt::format("an argument of unknown kind {}", shown_name(arm.key)));
      switch (*known) {
        case ArgumentArm::as_none:
        case ArgumentArm::as_int:
        case ArgumentArm::as_ints:
        case ArgumentArm::as_float:
        case ArgumentArm::as_floats:
        case ArgumentArm::as_string:
        case ArgumentArm::as_strings:
        case ArgumentArm::as_bool:
        case ArgumentArm::as_bools:
        case ArgumentArm::as_scalar_type:
        case ArgumentArm::as_memory_format:
        case ArgumentArm::as_layout:
        case ArgumentArm::as_device:
        case ArgumentArm::as_complex:
        case ArgumentArm::as_int_lists:
        case ArgumentArm::as_float_lists:
        case ArgumentArm::as_operator:
          break;
        case ArgumentArm::as_string_to_argument:
          open.push_back(arm.value);
          break;
        case ArgumentArm::as_tensors:
          if (arm.value.array().empty()) break;
          [[fallthrough]];
        default:
          throw member.value.error(fmt::format(
              "a dictionary holds an argument of kind {}; only constants can be kept", arm.key));
      }
    }
  }
}

}  // namespace

std::span<Argument> ArgumentArena::allocate(std::size_t count) {
  constexpr std::size_t block_size = 1024;
  while (block_ < blocks_.size() && used_ + count > blocks_[block_].size) {
    ++block_;
    used_ = 0;
  }
  if (block_ == blocks_.size()) {
    const std::size_t size = std::max(block_size, count);
    blocks_.push_back({std::make_unique<Argument[]>(size), size});
  }
  const std::span<Argument> items(blocks_[block_].items.get() + used_, count);
  used_ += count;
  std::ranges::fill(items, Argument());
  return items;
}

void ArgumentArena::rewind(Mark mark) {
  block_ = mark.block;
  used_ = mark.used;
}

template <typename ReadElement>
Argument ArgumentReader::read_list(JsonValue value, ReadElement read_element) {
  const JsonArray array = value.array();
  const std::span<Argument> elements = arena_.allocate(array.size());
  std::size_t index = 0;
  for (const JsonValue element : array) elements[index++] = read_element(element);
  return Argument(std::span<const Argument>(elements));
}

Argument ArgumentReader::read(JsonValue argument) {
  const JsonField arm = union_member(argument);
  const JsonValue value = arm.value;
  const std::optional<ArgumentArm> known = argument_arm(arm.key);
  if (!known) {
    throw argument.error(fmt::format("an argument of unknown kind {}", shown_name(arm.key)),
                         "the file may be of a newer PyTorch than this version reads");
  }
  switch (*known) {
    case ArgumentArm::as_none:
      return Argument::none();
    case ArgumentArm::as_tensor:
      return read_value(name_of_value(session_, value, ValueKind::tensor), ValueKind::tensor);
    case ArgumentArm::as_tensors:
      return read_tensors(value);
    case ArgumentArm::as_int:
      return Argument(value.int64());
    case ArgumentArm::as_ints:
      return read_integers(value);
    case ArgumentArm::as_float:
      return Argument(value.real());
    case ArgumentArm::as_floats:
      return read_floats(value);
    case ArgumentArm::as_string:
      return session_.context.string_argument(value.string());
    case ArgumentArm::as_strings:
      return read_strings(value);
    case ArgumentArm::as_sym_int:
      return read_symbolic(value, ValueKind::sym_int);
    case ArgumentArm::as_sym_ints:
      return read_symbolic_list(value, ValueKind::sym_int);
    case ArgumentArm::as_scalar_type:
      return Argument(read_scalar_type(value));
    case ArgumentArm::as_memory_format:
      return Argument(read_memory_format(value));
    case ArgumentArm::as_layout:
      return Argument(read_layout(value));
    case ArgumentArm::as_device:
      return Argument(read_device(session_, value));
    case ArgumentArm::as_bool:
      return Argument(value.boolean());
    case ArgumentArm::as_bools:
      return read_booleans(value);
    case ArgumentArm::as_sym_bool:
      return read_symbolic(value, ValueKind::sym_bool);
    case ArgumentArm::as_sym_bools:
      return read_symbolic_list(value, ValueKind::sym_bool);
    case ArgumentArm::as_graph:
      return read_graph_(value);
    case ArgumentArm::as_optional_tensors:
      return read_list(value, [this](JsonValue element) { return read_optional_tensor(element); });
    case ArgumentArm::as_custom_obj:
      return read_custom_object(value);
    case ArgumentArm::as_operator:
      return read_operator(value);
    case ArgumentArm::as_sym_float:
      return read_symbolic(value, ValueKind::sym_float);
    case ArgumentArm::as_sym_floats:
      return read_symbolic_list(value, ValueKind::sym_float);
    case ArgumentArm::as_optional_tensor:
      return read_optional_tensor(value);
    case ArgumentArm::as_complex:
      return read_complex(value);
    case ArgumentArm::as_nested_tensors:
      return read_list(value, [this](JsonValue element) { return read_tensors(element); });
    case ArgumentArm::as_int_lists:
      return read_list(value, [this](JsonValue element) { return read_integers(element); });
    case ArgumentArm::as_string_to_argument:
      return read_dictionary(value);
    case ArgumentArm::as_float_lists:
      return read_list(value, [this](JsonValue element) { return read_floats(element); });
  }
  throw argument.error(fmt::format("an argument of unknown kind {}", shown_name(arm.key)));
}

Argument ArgumentReader::read_value(JsonValue name, ValueKind kind) {
  const std::string_view text = name.string();
  const ScopeEntry& entry = scope_.use(text, name);
  if (entry.kind != kind) {
    throw name.error(fmt::format("value {} is {}, where {} is wanted", shown_name(text),
                                 kind_text(entry.kind), kind_text(kind)));
  }
  return Argument::of_value(entry.value);
}

Argument ArgumentReader::read_symbolic(JsonValue value, ValueKind kind) {
  const JsonField arm = union_member(value);
  if (arm.key == "as_name") return read_value(arm.value, kind);
  if (arm.key == "as_int" && kind == ValueKind::sym_int) return Argument(arm.value.int64());
  if (arm.key == "as_float" && kind == ValueKind::sym_float) return Argument(arm.value.real());
  if (arm.key == "as_bool" && kind == ValueKind::sym_bool) return Argument(arm.value.boolean());
  throw value.error(fmt::format("{} of unknown kind {}", kind_text(kind), shown_name(arm.key)));
}

Argument ArgumentReader::read_symbolic_list(JsonValue value, ValueKind kind) {
  return read_list(value, [&](JsonValue element) { return read_symbolic(element, kind); });
}

Argument ArgumentReader::read_tensors(JsonValue value) {
  // Export lists symbolic values here too, where a higher-order operator takes them beside tensors.
  return read_list(value, [this](JsonValue element) {
    const JsonValue name = name_of_value(session_, element, ValueKind::tensor);
    return Argument::of_value(scope_.use(name.string(), name).value);
  });
}

Argument ArgumentReader::read_optional_tensor(JsonValue value) {
  const JsonField arm = union_member(value);
  if (arm.key == "as_none") return Argument::none();
  if (arm.key == "as_tensor") {
    return read_value(name_of_value(session_, arm.value, ValueKind::tensor), ValueKind::tensor);
  }
  throw value.error(fmt::format("an optional tensor of unknown kind {}", shown_name(arm.key)));
}

Argument ArgumentReader::read_integers(JsonValue value) {
  std::vector<std::int64_t> integers;
  for (const JsonValue element : value.array()) integers.push_back(element.int64());
  return session_.context.integers(integers);
}

Argument ArgumentReader::read_floats(JsonValue value) {
  std::vector<double> floats;
  for (const JsonValue element : value.array()) floats.push_back(element.real());
  return session_.context.floats(floats);
}

Argument ArgumentReader::read_booleans(JsonValue value) {
  const JsonArray array = value.array();
  const std::size_t count = array.size();
  const std::unique_ptr<bool[]> booleans(new bool[count]);
  std::size_t index = 0;
  for (const JsonValue element : array) booleans[index++] = element.boolean();
  return session_.context.booleans({booleans.get(), count});
}

Argument ArgumentReader::read_strings(JsonValue value) {
  std::vector<StringId> strings;
  for (const JsonValue element : value.array())
    strings.push_back(session_.context.string(element.string()));
  return session_.context.strings(strings);
}

Argument ArgumentReader::read_custom_object(JsonValue value) {
  const std::string_view name = name_of_value(session_, value, ValueKind::custom_object).string();
  const std::string_view class_name = value.get("class_fqn").string();
  if (const ScopeEntry* entry = scope_.find(name);
      entry != nullptr && entry->kind == ValueKind::custom_object) {
    return Argument::of_value(entry->value);
  }
  return session_.context.custom_object(session_.context.string(name),
                                        session_.context.string(class_name));
}

Argument ArgumentReader::read_complex(JsonValue value) {
  session_.know_only(value, {"real", "imag"});
  return session_.context.complex(value.get("real").real(), value.get("imag").real());
}

Argument ArgumentReader::read_operator(JsonValue value) {
  const std::string_view target = value.string();
  OpRegistry& ops = session_.context.ops();
  const OpId known = ops.find(target);
  return Argument::of_op(known.is_valid() ? known : ops.opaque(target, {}));
}

Argument ArgumentReader::read_dictionary(JsonValue value) {
  check_constant(value);
  return session_.context.custom_object(session_.context.string(value.raw_json()),
                                        session_.context.string(dictionary_class));
}

}  // namespace winze
