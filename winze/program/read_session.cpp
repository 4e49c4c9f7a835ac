// SPDX-License-Identifier: Apache-2.0
#include "winze/program/read_session.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "winze/support/json_writer.h"
#include "winze/support/quote.h"

namespace winze {

std::vector<UnknownMembers> ReadSession::take_unknown(JsonValue root) {
  bool is_said = false;
  return unknown_.take(root, [&](JsonValue record) {
    if (std::exchange(is_said, true)) return;
    Diagnostic diagnostic;
    diagnostic.message = "fields that are not known to this version are too long and are dropped";
    diagnostic.where = record.where();
    warn(std::move(diagnostic));
  });
}

JsonValue ReadSession::only_member(JsonValue record, std::string_view key) {
  std::optional<JsonValue> found;
  for (const JsonField field : record.object()) {
    if (field.key == key) {
      found = field.value;
    } else {
      unknown_field(record, field);
    }
  }
  return required(found, record, key);
}

void ReadSession::know_only(JsonValue record, std::initializer_list<std::string_view> known) {
  for (const JsonField field : record.object()) {
    if (std::ranges::find(known, field.key) == known.end()) unknown_field(record, field);
  }
}

void ReadSession::other_hint(JsonValue expression) {
  if (std::exchange(told_of_hints_, true)) return;
  Diagnostic diagnostic;
  diagnostic.message =
      "the hint of this expression is not the one that it has further up, which is kept";
  diagnostic.where = expression.where();
  warn(std::move(diagnostic));
}

void ReadSession::warn(Diagnostic diagnostic) {
  if (warnings_ == nullptr) return;
  diagnostic.severity = Severity::warning;
  warnings_->push_back(std::move(diagnostic));
}

JsonValue name_of_value(ReadSession& session, JsonValue record, ValueKind kind) {
  switch (kind) {
    case ValueKind::tensor:
      return session.only_member(record, "name");
    case ValueKind::custom_object:
      session.know_only(record, {"name", "class_fqn"});
      return record.get("name");
    default:
      return session.only_member(record, "as_name");
  }
}

void UnknownFields::add(const JsonField& field) {
  text_ += text_.empty() ? "{" : ", ";
  append_json_string(text_, field.key);
  text_ += ": ";
  text_ += field.value.raw_json();
}

std::string UnknownFields::take() {
  if (!text_.empty()) text_ += '}';
  return std::exchange(text_, {});
}

JsonValue required(const std::optional<JsonValue>& member, JsonValue owner, std::string_view key) {
  if (member) return *member;
  throw owner.error(fmt::format("the key \"{}\" is missing", key));
}

JsonField union_member(JsonValue value) {
  const JsonObject object = value.object();
  auto member = object.begin();
  if (member == object.end()) throw value.wanted("an object with exactly one key");
  const JsonField found = *member;
  if (++member != object.end()) {
    throw value.error(fmt::format("an object with exactly one key is wanted, found {} and {}",
                                  shown_name(found.key), shown_name((*member).key)));
  }
  return found;
}

void rethrow_at(Error& error, JsonValue value) {
  Diagnostic diagnostic = error.diagnostic();
  if (!diagnostic.where.path.empty() || !diagnostic.where.record.empty()) throw error;
  Where where = value.where();
  diagnostic.where.file = std::move(where.file);
  diagnostic.where.record = std::move(where.record);
  diagnostic.where.path = std::move(where.path);
  throw Error(std::move(diagnostic));
}

std::string shown_name(std::string_view name) {
  constexpr std::size_t longest = 80;
  if (name.size() <= longest) return quote(name);
  return quote(name.substr(0, longest)) + "...";
}

}  // namespace winze
