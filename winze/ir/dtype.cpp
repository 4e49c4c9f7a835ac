// SPDX-License-Identifier: Apache-2.0
#include "winze/ir/dtype.h"

#include <array>
#include <span>

namespace winze {
namespace {

enum class Family : std::uint8_t { boolean, integral, floating, complex };

struct DtypeRow {
  ScalarType dtype;
  std::uint8_t bytes;
  Family family;
  std::string_view short_name;
  std::string_view full_name;
};

// Short names as torch/utils/_dtype_abbrs.py has them.
constexpr std::array dtype_rows = {
    DtypeRow{ScalarType::float32, 4, Family::floating, "f32", "float32"},
    DtypeRow{ScalarType::float64, 8, Family::floating, "f64", "float64"},
    DtypeRow{ScalarType::float16, 2, Family::floating, "f16", "float16"},
    DtypeRow{ScalarType::bfloat16, 2, Family::floating, "bf16", "bfloat16"},
    DtypeRow{ScalarType::int64, 8, Family::integral, "i64", "int64"},
    DtypeRow{ScalarType::int32, 4, Family::integral, "i32", "int32"},
    DtypeRow{ScalarType::int16, 2, Family::integral, "i16", "int16"},
    DtypeRow{ScalarType::int8, 1, Family::integral, "i8", "int8"},
    DtypeRow{ScalarType::uint8, 1, Family::integral, "u8", "uint8"},
    DtypeRow{ScalarType::uint16, 2, Family::integral, "u16", "uint16"},
    DtypeRow{ScalarType::uint32, 4, Family::integral, "u32", "uint32"},
    DtypeRow{ScalarType::uint64, 8, Family::integral, "u64", "uint64"},
    DtypeRow{ScalarType::bool_, 1, Family::boolean, "b8", "bool"},
    DtypeRow{ScalarType::complex32, 4, Family::complex, "c32", "complex32"},
    DtypeRow{ScalarType::complex64, 8, Family::complex, "c64", "complex64"},
    DtypeRow{ScalarType::complex128, 16, Family::complex, "c128", "complex128"},
    DtypeRow{ScalarType::float8_e4m3fn, 1, Family::floating, "f8e4m3fn", "float8_e4m3fn"},
    DtypeRow{ScalarType::float8_e5m2, 1, Family::floating, "f8e5m2", "float8_e5m2"},
    DtypeRow{ScalarType::float8_e4m3fnuz, 1, Family::floating, "f8e4m3fnuz", "float8_e4m3fnuz"},
    DtypeRow{ScalarType::float8_e5m2fnuz, 1, Family::floating, "f8e5m2fnuz", "float8_e5m2fnuz"},
    DtypeRow{ScalarType::float8_e8m0fnu, 1, Family::floating, "f8e8m0fnu", "float8_e8m0fnu"},
    DtypeRow{ScalarType::unknown, 0, Family::integral, "unknown", "unknown"},
};

const DtypeRow& row_of(ScalarType dtype) {
  for (const DtypeRow& row : dtype_rows) {
    if (row.dtype == dtype) return row;
  }
  return dtype_rows.back();
}

constexpr std::array<std::string_view, 8> layout_names = {"unknown",    "strided",    "sparse_coo",
                                                          "sparse_csr", "sparse_csc", "sparse_bsr",
                                                          "sparse_bsc", "mkldnn"};
constexpr std::array<std::string_view, 5> memory_format_names = {
    "unknown", "contiguous_format", "preserve_format", "channels_last", "channels_last_3d"};

template <typename Enum>
std::optional<Enum> find_name(std::span<const std::string_view> names, std::string_view name) {
  for (std::size_t index = 0; index < names.size(); ++index) {
    if (names[index] == name) return static_cast<Enum>(index);
  }
  return std::nullopt;
}

}  // namespace

std::uint32_t element_size(ScalarType dtype) {
  return row_of(dtype).bytes;
}
std::string_view short_name(ScalarType dtype) {
  return row_of(dtype).short_name;
}
std::string_view full_name(ScalarType dtype) {
  return row_of(dtype).full_name;
}

std::optional<ScalarType> scalar_type_from_name(std::string_view name) {
  for (const DtypeRow& row : dtype_rows) {
    if (row.short_name == name || row.full_name == name) return row.dtype;
  }
  return std::nullopt;
}

bool is_floating_point(ScalarType dtype) {
  return row_of(dtype).family == Family::floating;
}
bool is_complex(ScalarType dtype) {
  return row_of(dtype).family == Family::complex;
}
bool is_integral(ScalarType dtype) {
  return dtype != ScalarType::unknown && row_of(dtype).family == Family::integral;
}

std::string_view name_of(Layout layout) {
  return layout_names[static_cast<std::size_t>(layout)];
}
std::optional<Layout> layout_from_name(std::string_view name) {
  return find_name<Layout>(layout_names, name);
}
std::string_view name_of(MemoryFormat format) {
  return memory_format_names[static_cast<std::size_t>(format)];
}
std::optional<MemoryFormat> memory_format_from_name(std::string_view name) {
  return find_name<MemoryFormat>(memory_format_names, name);
}

}  // namespace winze
