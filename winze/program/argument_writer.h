// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "winze/program/graph_names.h"
#include "winze/program/meta_writer.h"
#include "winze/program/program.h"
#include "winze/program/schema_fields.h"
#include "winze/schema/type.h"
#include "winze/support/json_writer.h"

namespace winze {

/// Writes arguments of the calls of one graph in the schema's JSON, choosing the arms that
/// torch._export.serde.serialize chooses.
class ArgumentWriter {
 public:
  /// Writes the value of `as_graph` for a nested graph.
  using WriteGraph = std::function<void(const Graph&)>;

  ArgumentWriter(const Graph& graph, const GraphNames& names, MetaWriter& metas, JsonWriter& writer,
                 std::int64_t schema_minor, WriteGraph write_graph)
      : graph_(graph),
        context_(graph.context()),
        names_(names),
        metas_(metas),
        writer_(writer),
        minor_(schema_minor),
        write_graph_(std::move(write_graph)) {}

  /// Writes an argument of `node` (or what the graph returns). `type` is the schema's, for empty
  /// lists; null where there is none.
  void write(Node node, const Argument& argument, const Type* type);
  /// Writes a reference to a value: `{"as_tensor": {"name": …}}` and the like.
  void write_value(Value value);

 private:
  void begin(ArgumentArm arm);
  void end() { writer_.end_object(); }
  void write_constant(const Argument& argument);
  void write_constant_list(const Argument& argument);
  void write_list(Node node, const Argument& argument, const Type* type);
  void write_empty_list(const Type* type);
  void write_list_of(ArgumentArm arm, const std::vector<Argument>& elements);
  void write_nested_list(Node node, ArgumentArm arm, const std::vector<Argument>& elements);
  void write_tensor_reference(const Argument& value);
  void write_symbolic(const Argument& element);
  [[nodiscard]] Value value_of(const Argument& argument) const {
    return graph_.value_at(argument.value_id());
  }
  [[nodiscard]] ArgumentArm list_arm(Node node, const std::vector<Argument>& elements) const;

  const Graph& graph_;
  Context& context_;
  const GraphNames& names_;
  MetaWriter& metas_;
  JsonWriter& writer_;
  std::int64_t minor_;
  WriteGraph write_graph_;
};

}  // namespace winze
