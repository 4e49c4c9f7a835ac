// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "winze/ir/dtype.h"
#include "winze/program/program.h"

namespace winze {

/// The only major version of the export schema that torch 2.6 to 2.15 know.
inline constexpr std::int64_t schema_major = 8;
/// The newest minor version whose fields this table has.
inline constexpr std::int64_t newest_schema_minor = 20;

/// A PyTorch release, and the schema that it writes.
struct TorchRelease {
  int major = 0;
  int minor = 0;
  std::int64_t schema_minor = 0;
};

/// The release whose fields are written for this version text (`2.13`, `2.13.0+cpu`): the table's
/// row of that minor, or its newest row for a later one of the same major version. Nothing for what
/// cannot be written: before 2.9, of another major version, or no version at all.
[[nodiscard]] std::optional<TorchRelease> writable_release(std::string_view torch_version);
/// The earliest release that can be written.
[[nodiscard]] TorchRelease earliest_writable_release();
/// The latest release whose fields the table has.
[[nodiscard]] TorchRelease latest_known_release();
/// Major and minor of a version text.
[[nodiscard]] std::optional<TorchRelease> parse_torch_version(std::string_view torch_version);

/// The minor version of the schema that brought a field which older releases do not have.
enum class SchemaField : std::uint8_t { node_name };
[[nodiscard]] std::int64_t since_minor(SchemaField field);

/// The alternatives of the schema's union Argument.
enum class ArgumentArm : std::uint8_t {
  as_none,
  as_tensor,
  as_tensors,
  as_int,
  as_ints,
  as_float,
  as_floats,
  as_string,
  as_strings,
  as_sym_int,
  as_sym_ints,
  as_scalar_type,
  as_memory_format,
  as_layout,
  as_device,
  as_bool,
  as_bools,
  as_sym_bool,
  as_sym_bools,
  as_graph,
  as_optional_tensors,
  as_custom_obj,
  as_operator,
  as_sym_float,
  as_sym_floats,
  as_optional_tensor,
  as_complex,
  as_nested_tensors,
  as_int_lists,
  as_string_to_argument,
  as_float_lists,
};

[[nodiscard]] std::string_view name_of(ArgumentArm arm);
[[nodiscard]] std::optional<ArgumentArm> argument_arm(std::string_view name);
[[nodiscard]] std::int64_t since_minor(ArgumentArm arm);

/// The schema's own numbering of the enumerations, which is not that of c10.
[[nodiscard]] std::optional<ScalarType> scalar_type_from_schema(std::int64_t number);
[[nodiscard]] std::int64_t schema_number(ScalarType type);
[[nodiscard]] std::int64_t since_minor(ScalarType type);
[[nodiscard]] std::optional<Layout> layout_from_schema(std::int64_t number);
[[nodiscard]] std::int64_t schema_number(Layout layout);
[[nodiscard]] std::optional<MemoryFormat> memory_format_from_schema(std::int64_t number);
[[nodiscard]] std::int64_t schema_number(MemoryFormat format);

}  // namespace winze
