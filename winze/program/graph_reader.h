// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "winze/ir/graph.h"
#include "winze/program/argument_reader.h"
#include "winze/program/node_reader.h"
#include "winze/program/read_session.h"
#include "winze/program/value_scope.h"

namespace winze {

/// The roles of a program's inputs and outputs.
struct SignatureJson {
  JsonValue input_specs;
  JsonValue output_specs;
};

/// Reads the schema's Graph, with all graphs nested in it. Linear in the size of the text.
class GraphReader {
 public:
  /// The reader of a program's own graph.
  GraphReader(ReadSession& session, Graph& graph) : GraphReader(session, graph, shared_own_, 0) {}

  /// `signature` is given for a program's own graph.
  void read(JsonValue graph, const std::optional<SignatureJson>& signature);

  /// The names of the graph, for what refers to them from outside.
  [[nodiscard]] const ValueScope& scope() const { return scope_; }
  [[nodiscard]] ArgumentReader& arguments() { return arguments_; }

 private:
  struct Shared {
    ArgumentArena arena;
    TargetMap targets;
  };
  struct Members {
    std::optional<JsonValue> inputs, outputs, nodes, tensor_values, sym_int_values, sym_bool_values,
        sym_float_values, custom_obj_values, is_single_tensor_return;
  };

  GraphReader(ReadSession& session, Graph& graph, Shared& shared, std::uint32_t depth);

  [[nodiscard]] Members read_members(JsonValue graph);
  void read_tables(const Members& members, JsonValue graph);
  void read_inputs(JsonValue inputs, const std::optional<SignatureJson>& signature);
  void add_input(JsonValue argument, const std::optional<JsonValue>& spec, std::size_t index);
  void read_outputs(JsonValue outputs, const std::optional<SignatureJson>& signature);
  [[nodiscard]] Argument read_subgraph(JsonValue argument);

  ReadSession& session_;
  Graph& graph_;
  Shared shared_own_;
  Shared& shared_;
  std::uint32_t depth_;
  ValueScope scope_;
  ArgumentReader arguments_;
};

}  // namespace winze
