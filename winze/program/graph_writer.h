// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tsl/robin_map.h>

#include "winze/program/argument_writer.h"
#include "winze/program/graph_names.h"
#include "winze/program/meta_writer.h"
#include "winze/program/program.h"
#include "winze/support/diagnostic.h"
#include "winze/support/json_writer.h"
#include "winze/support/string_map.h"

namespace winze {

/// What the writers of a program's graphs share.
struct WriteSession {
  const ExportedProgram& program;
  std::int64_t schema_minor;  ///< the version that is written
  bool keeps_unknown_fields;  ///< false where the target is older than the file
  MetaWriter metas;
  std::vector<Diagnostic>* warnings = nullptr;
  tsl::robin_map<std::uint32_t, std::string> escaped_texts =
      {};  ///< long strings that repeat, as JSON, by StringId

  void warn(std::string message) const;
  /// Writes the members of a JSON object kept from the file, where the target may have them.
  void write_unknown_fields(JsonWriter& writer, std::string_view json) const;
  /// The document with the members kept from the file, where the target may have them; a warning
  /// names those whose record is gone.
  [[nodiscard]] std::string put_back(std::string json,
                                     const std::vector<UnknownMembers>& kept) const;
};

/// Writes the schema's Graph with all graphs nested in it.
class GraphWriter {
 public:
  GraphWriter(WriteSession& session, const Graph& graph, JsonWriter& writer);

  void write();

  [[nodiscard]] const GraphNames& names() const { return names_; }
  [[nodiscard]] ArgumentWriter& arguments() { return arguments_; }
  /// Writes the Argument that stands for an input: a reference, or the constant of its role.
  void write_input(Node placeholder);

 private:
  void write_node(Node node);
  void write_inputs(Node node);
  void write_input_argument(Node node, std::uint32_t index, std::string_view name, bool is_keyword,
                            const Type* type);
  void write_results(Node node, const ResultStructure& structure);
  void write_result_list(Node node, std::uint32_t first, std::uint32_t count);
  void write_metadata(Node node);
  [[nodiscard]] std::string_view module_stack_around(Node node);
  void find_module_stacks();
  void write_tables();
  void write_table(std::string_view key, ValueKind kind);
  void write_subgraph(const Graph& graph);
  void count_subgraph_names();
  [[nodiscard]] std::string_view name_shared_body(const Graph& graph, std::string& body);

  WriteSession& session_;
  const Graph& graph_;
  JsonWriter& writer_;
  GraphNames names_;
  ArgumentWriter arguments_;
  StringMap<std::uint32_t> subgraph_names_;  ///< how many nested graphs have the name
  /// Of bodies that were written under a name which several nested graphs have: by that name, the
  /// name of each body.
  StringMap<StringMap<std::string_view>> shared_bodies_;
  bool knows_module_stacks_ = false;
  tsl::robin_map<std::uint32_t, std::string_view> module_stacks_;  ///< of nodes that have none
};

}  // namespace winze
