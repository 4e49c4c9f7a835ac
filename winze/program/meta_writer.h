// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "winze/program/program.h"
#include "winze/support/json_writer.h"

namespace winze {

/// Writes metas in the schema's JSON. The text of each meta is made once.
class MetaWriter {
 public:
  /// `schema_minor` is the version that is written; what it cannot express is an Error.
  MetaWriter(const ExportedProgram& program, std::int64_t schema_minor)
      : program_(program), minor_(schema_minor) {}

  /// The schema's TensorMeta of a tensor. A token is written as an empty tensor, which is how
  /// export shows it.
  [[nodiscard]] std::string_view tensor_meta(MetaId meta);
  /// The schema's SymInt, SymFloat or SymBool of a symbolic value.
  [[nodiscard]] std::string_view sym_value(MetaId meta);
  void write_device(JsonWriter& writer, Device device) const;
  /// The schema's number of a dtype.
  [[nodiscard]] std::int64_t dtype_number(ScalarType type) const;

 private:
  void write_tensor(JsonWriter& writer, const TensorMeta& meta) const;
  void write_sym_int(JsonWriter& writer, SymInt size) const;
  void write_expression(JsonWriter& writer, SymExpr expression, bool with_hint) const;
  [[nodiscard]] std::string& cached(MetaId meta);

  const ExportedProgram& program_;
  std::int64_t minor_;
  std::vector<std::string> texts_;  ///< by meta
};

}  // namespace winze
