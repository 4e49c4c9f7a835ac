// SPDX-License-Identifier: Apache-2.0
#include "winze/program/unknown_members.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "winze/program/read_session.h"
#include "winze/support/json_writer.h"
#include "winze/support/string_map.h"

namespace winze {
namespace {

constexpr std::size_t most_kept = std::size_t{64} << 20U;

const char* begin_of(JsonValue value) {
  return value.raw_json().data();
}

bool is_plain(JsonValue value) {
  return !value.is_object() && !value.is_array();
}

void append_step(std::string& path, std::string_view key) {
  const bool is_word = !key.empty() && std::ranges::all_of(key, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
  if (is_word) {
    if (!path.empty()) path += '.';
    path += key;
    return;
  }
  path += '[';
  append_json_string(path, key);
  path += ']';
}

/// The name that an element of an array goes by: that of a node or of an argument of one.
/// References to values have a name too, but may be the same several times.
std::optional<std::string_view> own_name(JsonValue element) {
  if (!element.is_object() || !(element.find("target") || element.find("arg"))) return std::nullopt;
  const std::optional<JsonValue> name = element.find("name");
  if (!name || !name->is_string()) return std::nullopt;
  const std::string_view text = name->string();
  return text.empty() ? std::nullopt : std::optional(text);
}

/// Calls `visit(record, path)` for each object of the document, in order. Recursive: a document is
/// nested no deeper than it was allowed to be when it was checked.
template <typename Visit>
void walk(JsonValue value, std::string& path, Visit& visit) {
  const std::size_t size = path.size();
  if (value.is_object()) {
    visit(value, path);
    for (const JsonField field : value.object()) {
      if (is_plain(field.value)) continue;
      append_step(path, field.key);
      walk(field.value, path, visit);
      path.resize(size);
    }
  } else if (value.is_array()) {
    std::size_t index = 0;
    for (const JsonValue element : value.array()) {
      if (!is_plain(element)) {
        path += '[';
        if (const std::optional<std::string_view> name = own_name(element)) {
          append_json_string(path, *name);
        } else {
          path += fmt::format("{}", index);
        }
        path += ']';
        walk(element, path, visit);
        path.resize(size);
      }
      ++index;
    }
  }
}

bool same_plain(JsonValue a, JsonValue b) {
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case JsonKind::string:
      return a.string() == b.string();
    case JsonKind::real:
      return a.real() == b.real();
    default:
      return a.raw_json() == b.raw_json();
  }
}

using MembersByKey = StringViewMap<JsonValue>;

/// Whether the record has the values that `known` lists; null is as good as nothing.
bool is_same_record(JsonValue known, const MembersByKey& record) {
  for (const JsonField field : known.object()) {
    const auto now = record.find(field.key);
    if (now == record.end()) {
      if (!field.value.is_null()) return false;
    } else if (!same_plain(field.value, now->second)) {
      return false;
    }
  }
  return true;
}

/// Text that goes into a document before the byte at `offset`.
struct Insertion {
  std::size_t offset;
  std::string text;
};

std::optional<Insertion> insertion_into(JsonValue record, const UnknownMembers& kept,
                                        const char* begin) {
  constexpr JsonLimits limits{.max_depth = max_program_json_depth};
  const JsonDocument known(Bytes::borrow(kept.known), {}, limits);
  const JsonDocument members(Bytes::borrow(kept.members), {}, limits);
  MembersByKey present;
  for (const JsonField field : record.object()) present.emplace(field.key, field.value);
  if (!is_same_record(known.root(), present)) return std::nullopt;
  Insertion insertion;
  bool is_first = present.empty();
  for (const JsonField field : members.root().object()) {
    if (present.contains(field.key)) continue;  // this release knows it
    if (!is_first) insertion.text += ", ";
    is_first = false;
    append_json_string(insertion.text, field.key);
    insertion.text += ": ";
    insertion.text += field.value.raw_json();
  }
  const std::string_view raw = record.raw_json();
  insertion.offset = static_cast<std::size_t>(raw.data() - begin) + raw.size() - 1;
  return insertion;
}

}  // namespace

void UnknownMemberCollector::add(JsonValue record, const JsonField& field) {
  records_.insert(begin_of(record));
  members_.insert(begin_of(field.value));
}

std::vector<UnknownMembers> UnknownMemberCollector::take(
    JsonValue root, const std::function<void(JsonValue)>& refuse) {
  std::vector<UnknownMembers> all;
  if (records_.empty()) return all;
  std::size_t size = 0;
  std::string path;
  const auto visit = [&](JsonValue record, const std::string& where) {
    if (!records_.contains(begin_of(record))) return;
    UnknownFields known;
    UnknownFields members;
    for (const JsonField field : record.object()) {
      const bool is_unknown = members_.contains(begin_of(field.value));
      if (is_unknown) members.add(field);
      if (!is_unknown && is_plain(field.value)) known.add(field);
    }
    UnknownMembers kept{where, known.take(), members.take()};
    if (kept.known.empty()) kept.known = "{}";
    size += kept.path.size() + kept.known.size() + kept.members.size();
    if (size > most_kept) return refuse(record);
    all.push_back(std::move(kept));
  };
  walk(root, path, visit);
  records_.clear();
  members_.clear();
  return all;
}

std::string with_unknown_members(std::string json, const std::vector<UnknownMembers>& kept,
                                 const std::function<void(const UnknownMembers&)>& lose) {
  if (kept.empty()) return json;
  StringViewMap<std::size_t> by_path;
  for (std::size_t at = 0; at < kept.size(); ++at) by_path.emplace(kept[at].path, at);
  std::vector<bool> is_back(kept.size(), false);
  std::vector<Insertion> insertions;
  const JsonDocument document(Bytes::borrow(json), {}, {.max_depth = max_program_json_depth});
  std::string path;
  const auto visit = [&](JsonValue record, const std::string& where) {
    const auto found = by_path.find(std::string_view(where));
    if (found == by_path.end() || is_back[found->second]) return;
    std::optional<Insertion> insertion = insertion_into(record, kept[found->second], json.data());
    if (!insertion) return;
    is_back[found->second] = true;
    insertions.push_back(std::move(*insertion));
  };
  walk(document.root(), path, visit);
  for (std::size_t at = 0; at < kept.size(); ++at) {
    if (!is_back[at]) lose(kept[at]);
  }
  std::ranges::sort(insertions, {}, &Insertion::offset);
  std::string out;
  std::size_t done = 0;
  for (const Insertion& insertion : insertions) {
    out.append(json, done, insertion.offset - done);
    out += insertion.text;
    done = insertion.offset;
  }
  out.append(json, done);
  return out;
}

}  // namespace winze
