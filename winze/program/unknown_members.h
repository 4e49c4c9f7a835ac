// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <tsl/robin_set.h>

#include "winze/support/json_reader.h"

namespace winze {

/// Members of a record of a program's JSON that this version does not know, for records that have
/// no other place to keep them: arguments, metas, roles, ranges and the like. They are held by
/// where the record is, and come back when a record of the same content is there again.
struct UnknownMembers {
  /// Of the record: `graph_module.graph.nodes["add"].inputs["self"].arg.as_tensor`. Nodes and
  /// their arguments go by name, other elements of arrays by number.
  std::string path;
  std::string known;    ///< JSON object: the plain members of the record that are known
  std::string members;  ///< JSON object: those that are not
  bool operator==(const UnknownMembers&) const = default;
};

/// Gathers unknown members while a document is read.
class UnknownMemberCollector {
 public:
  /// Adds a member of `record`; one that was added before counts once.
  void add(JsonValue record, const JsonField& field);
  /// What was added, in the order of the document of which `root` is the root. Walks the document
  /// where anything was added. Texts of more than 64 MiB together are not kept: `refuse` is called
  /// for each record that is left out.
  [[nodiscard]] std::vector<UnknownMembers> take(
      JsonValue root, const std::function<void(JsonValue record)>& refuse);

 private:
  // By where the text of the record, or of the member's value, begins.
  tsl::robin_set<const char*> records_;
  tsl::robin_set<const char*> members_;
};

/// The document with the members put back. A record is the same where the path leads to it and its
/// known members have the values they had; `lose` is called for each that is not there. Linear in
/// the document; throws Error where `kept` is not JSON.
[[nodiscard]] std::string with_unknown_members(
    std::string json, const std::vector<UnknownMembers>& kept,
    const std::function<void(const UnknownMembers&)>& lose);

}  // namespace winze
