// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "winze/ir/meta.h"
#include "winze/program/read_session.h"

namespace winze {

/// Reads a SymInt (`{"as_int": 3}` or `{"as_expr": {…}}`); hints and spelling go to the program's
/// expression table.
[[nodiscard]] SymExpr read_sym_int(ReadSession& session, JsonValue value);

/// Reads a TensorMeta. An Error for negative sizes, strides or offset, for a number of elements
/// that overflows, and where sizes and strides are not of equal number.
[[nodiscard]] MetaId read_tensor_meta(ReadSession& session, JsonValue value);

/// Reads an entry of `sym_int_values`, `sym_float_values` or `sym_bool_values`.
[[nodiscard]] MetaId read_sym_meta(ReadSession& session, ValueKind kind, JsonValue value);

/// Reads a Device (`{"type": "cuda", "index": 0}`).
[[nodiscard]] Device read_device(ReadSession& session, JsonValue value);

/// Read the schema's numbers of enumerations.
[[nodiscard]] ScalarType read_scalar_type(JsonValue value);
[[nodiscard]] Layout read_layout(JsonValue value);
[[nodiscard]] MemoryFormat read_memory_format(JsonValue value);

}  // namespace winze
