// SPDX-License-Identifier: Apache-2.0
#include "winze/program/value_scope.h"

#include <optional>

#include <fmt/format.h>

#include "winze/program/meta_reader.h"

namespace winze {
namespace {

std::string_view table_name(ValueKind kind) {
  switch (kind) {
    case ValueKind::tensor:
      return "tensor_values";
    case ValueKind::sym_int:
      return "sym_int_values";
    case ValueKind::sym_float:
      return "sym_float_values";
    case ValueKind::sym_bool:
      return "sym_bool_values";
    default:
      return "custom_obj_values";
  }
}

MetaId read_entry(ReadSession& session, JsonValue value, ValueKind kind) {
  if (kind == ValueKind::tensor) return read_tensor_meta(session, value);
  if (kind != ValueKind::custom_object) return read_sym_meta(session, kind, value);
  session.know_only(value, {"name", "class_fqn"});
  return session.context.custom_object_meta(
      session.context.string(value.get("class_fqn").string()));
}

}  // namespace

void ValueScope::read_table(ReadSession& session, JsonValue table, ValueKind kind) {
  for (const JsonField field : table.object()) {
    const ScopeEntry entry{read_entry(session, field.value, kind), kind, {}};
    const auto [found, inserted] = entries_.emplace(field.key, entry);
    if (!inserted) {
      throw field.value.error(fmt::format("value {} is in {} and in {}", shown_name(field.key),
                                          table_name(found->second.kind), table_name(kind)));
    }
  }
}

MetaId ValueScope::declare(std::string_view name, ValueKind kind, JsonValue where) {
  const auto found = entries_.find(name);
  if (found == entries_.end()) {
    throw where.error(
        fmt::format("value {} has no entry in {}", shown_name(name), table_name(kind)));
  }
  ScopeEntry& entry = found.value();
  if (entry.kind != kind) {
    throw where.error(fmt::format("value {} is defined here as an entry of {}, but is in {}",
                                  shown_name(name), table_name(kind), table_name(entry.kind)));
  }
  if (entry.value.valid())
    throw where.error(fmt::format("value {} is defined twice", shown_name(name)));
  // Marks it as defined, so that the same name again in the same list is found.
  entry.value = ValueId{0};
  ++defined_;
  return entry.meta;
}

void ValueScope::set_value(std::string_view name, ValueId value) {
  entries_.find(name).value().value = value;
}

void ValueScope::declare_constant(std::string_view name, JsonValue where) {
  const ScopeEntry entry{{}, ValueKind::constant, ValueId{0}};
  if (!entries_.emplace(name, entry).second) {
    throw where.error(fmt::format("value {} is defined twice", shown_name(name)));
  }
  ++defined_;
}

const ScopeEntry& ValueScope::use(std::string_view name, JsonValue where) const {
  const auto found = entries_.find(name);
  if (found == entries_.end())
    throw where.error(fmt::format("value {} is not defined", shown_name(name)));
  if (!found->second.value.valid()) {
    throw where.error(fmt::format("value {} is used before it is defined", shown_name(name)));
  }
  return found->second;
}

const ScopeEntry* ValueScope::find(std::string_view name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() || !found->second.value.valid() ? nullptr : &found->second;
}

}  // namespace winze
