// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "winze/ir/graph.h"
#include "winze/ir/op_signature.h"
#include "winze/program/argument_reader.h"
#include "winze/program/read_session.h"
#include "winze/program/value_scope.h"
#include "winze/support/string_map.h"

namespace winze {

/// Operators by the target's text in the file; invalid for a target that is not known.
using TargetMap = StringViewMap<OpId>;

/// Whether a file names the arguments of calls that are given by position. Of operators without a
/// schema in PyTorch it does not; torch.export.load ignores a name there
/// (`deserialize_hoo_inputs`).
[[nodiscard]] bool names_arguments(const Op& op);

/// Whether a file says of calls to this operator that they return None, where the schema gives no
/// result: that is so of Python functions, not of operators of the dispatcher.
[[nodiscard]] bool returns_none(const Op& op);

/// Reads the schema's Node into calls of one graph.
class NodeReader {
 public:
  NodeReader(ReadSession& session, Graph& graph, ValueScope& scope, ArgumentArena& arena,
             ArgumentReader& arguments, TargetMap& targets)
      : session_(session),
        graph_(graph),
        scope_(scope),
        arena_(arena),
        arguments_(arguments),
        targets_(targets) {}

  void read(JsonValue node);

 private:
  /// The operator of a call and its arguments in schema position.
  struct Call {
    OpId op;
    std::span<Argument> arguments;
    std::uint32_t positional_count = CallOptions::as_dispatched;
  };
  /// The schema's ArgumentKind.
  enum class InputKind : std::uint8_t { unknown, positional, keyword };
  /// One member of `inputs`.
  struct Input {
    std::string_view name;
    JsonValue arg;
    InputKind kind = InputKind::unknown;
    JsonValue whole;
  };

  [[nodiscard]] OpId find_target(JsonValue target);
  [[nodiscard]] Input read_input(JsonValue input);
  [[nodiscard]] Input read_input_of(const Op& op, JsonValue input);
  /// Whether torch.export.load makes a keyword argument of it. Where its kind is not known, those
  /// are arguments that have a default, and all that are named of an operator without a schema.
  [[nodiscard]] static bool is_keyword(const Op& op, const Input& input, std::size_t index);
  [[nodiscard]] Call read_call(OpId op, JsonValue inputs);
  [[nodiscard]] Call read_opaque_call(JsonValue target, JsonValue inputs);
  [[nodiscard]] OpId variant_with_keywords(OpId op, JsonValue inputs);
  void read_results(JsonValue outputs);
  [[nodiscard]] bool is_none_for_nothing(const OpSignature& signature) const;
  void drop_results();
  void read_result(JsonValue output);
  void add_result(JsonValue name, ValueKind kind);
  void add_list_element(JsonValue element, ValueKind kind);
  [[nodiscard]] bool structure_is_implied(const OpSignature& signature) const;
  void check_structure(const OpSignature& signature, JsonValue outputs) const;
  [[nodiscard]] SourceId read_source(JsonValue metadata, UnknownFields& unknown);

  ReadSession& session_;
  Graph& graph_;
  ValueScope& scope_;
  ArgumentArena& arena_;
  ArgumentReader& arguments_;
  TargetMap& targets_;

  // Of the node being read; filled after its inputs.
  std::vector<MetaId> metas_;
  std::vector<std::string_view> names_;
  ResultStructure structure_;
  SourceInfo source_;
  std::string scratch_;
};

}  // namespace winze
