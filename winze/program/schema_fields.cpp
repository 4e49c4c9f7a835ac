// SPDX-License-Identifier: Apache-2.0
#include "winze/program/schema_fields.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>

namespace winze {
namespace {

/// From torch/_export/serde/schema.yaml of each release.
constexpr TorchRelease releases[] = {
    {2, 9, 14}, {2, 10, 15}, {2, 11, 17}, {2, 12, 20}, {2, 13, 20}, {2, 14, 20},
};

struct ArmRow {
  std::string_view name;
  std::int64_t since;
};

/// In the order of ArgumentArm. What torch 2.9 knows has the minor of that release.
constexpr std::array arms = {
    ArmRow{"as_none", 14},
    ArmRow{"as_tensor", 14},
    ArmRow{"as_tensors", 14},
    ArmRow{"as_int", 14},
    ArmRow{"as_ints", 14},
    ArmRow{"as_float", 14},
    ArmRow{"as_floats", 14},
    ArmRow{"as_string", 14},
    ArmRow{"as_strings", 14},
    ArmRow{"as_sym_int", 14},
    ArmRow{"as_sym_ints", 14},
    ArmRow{"as_scalar_type", 14},
    ArmRow{"as_memory_format", 14},
    ArmRow{"as_layout", 14},
    ArmRow{"as_device", 14},
    ArmRow{"as_bool", 14},
    ArmRow{"as_bools", 14},
    ArmRow{"as_sym_bool", 14},
    ArmRow{"as_sym_bools", 14},
    ArmRow{"as_graph", 14},
    ArmRow{"as_optional_tensors", 14},
    ArmRow{"as_custom_obj", 14},
    ArmRow{"as_operator", 14},
    ArmRow{"as_sym_float", 14},
    ArmRow{"as_sym_floats", 14},
    ArmRow{"as_optional_tensor", 14},
    ArmRow{"as_complex", 14},
    ArmRow{"as_nested_tensors", 17},
    ArmRow{"as_int_lists", 15},
    ArmRow{"as_string_to_argument", 15},
    ArmRow{"as_float_lists", 19},
};
static_assert(arms.size() == static_cast<std::size_t>(ArgumentArm::as_float_lists) + 1);

template <typename Value>
struct NumberRow {
  Value value;
  std::int64_t number;
  std::int64_t since = 14;
};

constexpr NumberRow<ScalarType> scalar_types[] = {
    {ScalarType::unknown, 0},
    {ScalarType::uint8, 1},
    {ScalarType::int8, 2},
    {ScalarType::int16, 3},
    {ScalarType::int32, 4},
    {ScalarType::int64, 5},
    {ScalarType::float16, 6},
    {ScalarType::float32, 7},
    {ScalarType::float64, 8},
    {ScalarType::complex32, 9},
    {ScalarType::complex64, 10},
    {ScalarType::complex128, 11},
    {ScalarType::bool_, 12},
    {ScalarType::bfloat16, 13},
    {ScalarType::uint16, 28},
    {ScalarType::float8_e4m3fn, 29},
    {ScalarType::float8_e5m2, 30},
    {ScalarType::float8_e4m3fnuz, 31},
    {ScalarType::float8_e5m2fnuz, 32},
    {ScalarType::float8_e8m0fnu, 33, 20},
    {ScalarType::uint32, 34, 20},
    {ScalarType::uint64, 35, 20},
};

constexpr NumberRow<Layout> layouts[] = {
    {Layout::unknown, 0},    {Layout::sparse_coo, 1}, {Layout::sparse_csr, 2},
    {Layout::sparse_csc, 3}, {Layout::sparse_bsr, 4}, {Layout::sparse_bsc, 5},
    {Layout::mkldnn, 6},     {Layout::strided, 7},
};

constexpr NumberRow<MemoryFormat> memory_formats[] = {
    {MemoryFormat::unknown, 0},         {MemoryFormat::contiguous_format, 1},
    {MemoryFormat::channels_last, 2},   {MemoryFormat::channels_last_3d, 3},
    {MemoryFormat::preserve_format, 4},
};

template <typename Row>
auto by_number(std::int64_t number, const Row& rows) {
  using Value = decltype(rows[0].value);
  for (const auto& row : rows) {
    if (row.number == number) return std::optional<std::remove_const_t<Value>>(row.value);
  }
  return std::optional<std::remove_const_t<Value>>();
}

template <typename Rows, typename Value>
const auto& row_of(const Rows& rows, Value value) {
  const auto found = std::find_if(std::begin(rows), std::end(rows),
                                  [&](const auto& row) { return row.value == value; });
  return found == std::end(rows) ? rows[0] : *found;
}

}  // namespace

std::optional<TorchRelease> parse_torch_version(std::string_view torch_version) {
  TorchRelease release;
  const char* end = torch_version.data() + torch_version.size();
  const auto [dot, error] = std::from_chars(
      torch_version.data(), torch_version.data() + torch_version.size(), release.major);
  if (error != std::errc() || dot == end || *dot != '.') return std::nullopt;
  const auto [rest, minor_error] = std::from_chars(dot + 1, end, release.minor);
  if (minor_error != std::errc() || release.major < 0 || release.minor < 0) return std::nullopt;
  if (rest != end && *rest != '.' && *rest != '+' && *rest != 'a' && *rest != 'r')
    return std::nullopt;
  return release;
}

std::optional<TorchRelease> writable_release(std::string_view torch_version) {
  const std::optional<TorchRelease> wanted = parse_torch_version(torch_version);
  if (!wanted) return std::nullopt;
  std::optional<TorchRelease> found;
  for (const TorchRelease& release : releases) {
    if (release.major == wanted->major && release.minor <= wanted->minor) found = release;
  }
  if (found) found->minor = wanted->minor;
  return found;
}

TorchRelease earliest_writable_release() {
  return releases[0];
}

TorchRelease latest_known_release() {
  return *std::prev(std::end(releases));
}

std::int64_t since_minor(SchemaField) {
  return 16;
}

std::string_view name_of(ArgumentArm arm) {
  return arms[static_cast<std::size_t>(arm)].name;
}

std::optional<ArgumentArm> argument_arm(std::string_view name) {
  for (std::size_t index = 0; index < arms.size(); ++index) {
    if (arms[index].name == name) return static_cast<ArgumentArm>(index);
  }
  return std::nullopt;
}

std::int64_t since_minor(ArgumentArm arm) {
  return arms[static_cast<std::size_t>(arm)].since;
}

std::optional<ScalarType> scalar_type_from_schema(std::int64_t number) {
  return by_number(number, scalar_types);
}
std::int64_t schema_number(ScalarType type) {
  return row_of(scalar_types, type).number;
}
std::int64_t since_minor(ScalarType type) {
  return row_of(scalar_types, type).since;
}
std::optional<Layout> layout_from_schema(std::int64_t number) {
  return by_number(number, layouts);
}
std::int64_t schema_number(Layout layout) {
  return row_of(layouts, layout).number;
}
std::optional<MemoryFormat> memory_format_from_schema(std::int64_t number) {
  return by_number(number, memory_formats);
}
std::int64_t schema_number(MemoryFormat format) {
  return row_of(memory_formats, format).number;
}

}  // namespace winze
