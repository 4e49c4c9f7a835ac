// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace winze {

/// Element types, named and numbered as c10::ScalarType (torch/headeronly/core/ScalarType.h).
enum class ScalarType : std::uint8_t {
  uint8 = 0,
  int8 = 1,
  int16 = 2,
  int32 = 3,
  int64 = 4,
  float16 = 5,
  float32 = 6,
  float64 = 7,
  complex32 = 8,
  complex64 = 9,
  complex128 = 10,
  bool_ = 11,
  bfloat16 = 15,
  float8_e5m2 = 23,
  float8_e4m3fn = 24,
  float8_e5m2fnuz = 25,
  float8_e4m3fnuz = 26,
  uint16 = 27,
  uint32 = 28,
  uint64 = 29,
  float8_e8m0fnu = 44,
  unknown = 255,
};

/// torch.layout.
enum class Layout : std::uint8_t {
  unknown,
  strided,
  sparse_coo,
  sparse_csr,
  sparse_csc,
  sparse_bsr,
  sparse_bsc,
  mkldnn
};

/// torch.memory_format.
enum class MemoryFormat : std::uint8_t {
  unknown,
  contiguous_format,
  preserve_format,
  channels_last,
  channels_last_3d
};

/// torch.device: a type such as `cpu` or `cuda` (interned in the Context) and an index, -1 where
/// none is given.
struct Device {
  std::uint16_t type = 0;  ///< index into the Context's device type names; 0 is `cpu`
  std::int16_t index = -1;
  constexpr bool operator==(const Device&) const = default;
};

/// Size of an element in bytes; 0 for `unknown`.
[[nodiscard]] std::uint32_t element_size(ScalarType dtype);
/// PyTorch's short name as `print_readable` shows it: `f32`, `bf16`, `i64`, `b8`, `f8e4m3fn`.
[[nodiscard]] std::string_view short_name(ScalarType dtype);
/// PyTorch's name: `float32`, as in `torch.float32`.
[[nodiscard]] std::string_view full_name(ScalarType dtype);
/// Reads a short or a full name.
[[nodiscard]] std::optional<ScalarType> scalar_type_from_name(std::string_view name);
[[nodiscard]] bool is_floating_point(ScalarType dtype);
[[nodiscard]] bool is_complex(ScalarType dtype);
/// True for the integer types; bool is not among them.
[[nodiscard]] bool is_integral(ScalarType dtype);

[[nodiscard]] std::string_view name_of(Layout layout);
[[nodiscard]] std::optional<Layout> layout_from_name(std::string_view name);
[[nodiscard]] std::string_view name_of(MemoryFormat format);
[[nodiscard]] std::optional<MemoryFormat> memory_format_from_name(std::string_view name);

}  // namespace winze
