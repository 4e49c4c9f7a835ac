// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "winze/ir/context.h"
#include "winze/program/program.h"
#include "winze/program/unknown_members.h"
#include "winze/support/diagnostic.h"
#include "winze/support/json_reader.h"
#include "winze/support/string_map.h"

namespace winze {

/// Graphs may be nested so deep.
inline constexpr std::uint32_t max_graph_depth = 64;
/// And the JSON that holds them: a nested graph takes seven levels.
inline constexpr std::uint32_t max_program_json_depth = max_graph_depth * 7 + 50;

/// What the parts of the reader of one program share.
class ReadSession {
 public:
  ReadSession(ExportedProgram& read_program, std::vector<Diagnostic>* warnings)
      : context(read_program.context()), program(read_program), warnings_(warnings) {}

  Context& context;
  ExportedProgram& program;
  struct ReadExpression {
    SymExpr value;
    std::string_view hint;  ///< its JSON
  };
  /// Expressions by their text in the file: most are repeated many times.
  StringViewMap<ReadExpression> expressions;
  /// Values of node metadata by their raw JSON, so that a repeated stack trace is unescaped once.
  StringViewMap<StringId> metadata_texts;

  /// What was noted by `unknown_field`, for the document that was read, whose root is `root`.
  [[nodiscard]] std::vector<UnknownMembers> take_unknown(JsonValue root);
  /// Notes a member of `record` that is not known.
  void unknown_field(JsonValue record, const JsonField& field) { unknown_.add(record, field); }
  /// The value of the one member that a record has; others are not known.
  [[nodiscard]] JsonValue only_member(JsonValue record, std::string_view key);
  /// Every member of the record but these is not known.
  void know_only(JsonValue record, std::initializer_list<std::string_view> known);
  /// Notes, once, that an expression comes with another hint than where it stood first, which is
  /// kept.
  void other_hint(JsonValue expression);
  void warn(Diagnostic diagnostic);

 private:
  std::vector<Diagnostic>* warnings_;
  UnknownMemberCollector unknown_;
  bool told_of_hints_ = false;
};

/// Gathers unknown members of an object as JSON text.
class UnknownFields {
 public:
  void add(const JsonField& field);
  /// A JSON object; empty where nothing was added.
  [[nodiscard]] std::string take();

 private:
  std::string text_;
};

/// The value of a member that must be there.
[[nodiscard]] JsonValue required(const std::optional<JsonValue>& member, JsonValue owner,
                                 std::string_view key);

/// The name in the record that stands for a value of this kind where it is used or defined:
/// TensorArgument, CustomObjArgument, or the union of a symbolic value, which has to be a name.
[[nodiscard]] JsonValue name_of_value(ReadSession& session, JsonValue record, ValueKind kind);

/// The only member of a union; an Error where there is none or more than one.
[[nodiscard]] JsonField union_member(JsonValue value);

/// Adds the place of `value` to an error that has none, and throws it.
[[noreturn]] void rethrow_at(Error& error, JsonValue value);

/// A name for messages, shortened where it is long.
[[nodiscard]] std::string shown_name(std::string_view name);

}  // namespace winze
