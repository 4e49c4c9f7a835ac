// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "winze/ir/dtype.h"
#include "winze/ir/meta.h"

// PyTorch's type promotion (aten/src/ATen/native/TypeProperties.cpp, c10/core/ScalarType.h).
namespace winze {

/// How an elementwise operator makes the dtype of its result from that of its operands
/// (torch/_prims_common ELEMENTWISE_TYPE_PROMOTION_KIND).
enum class Promotion : std::uint8_t {
  to_common,         ///< the common dtype: `add`
  int_to_float,      ///< integers and bools become the default float dtype: `sin`
  complex_to_float,  ///< complex results become real: `abs`
  bool_to_long,      ///< bools become int64: `pow` of integers
  always_bool,       ///< `eq`
  always_long,       ///< `argmax`
  keep_first,        ///< the dtype of the first operand, whatever the others are: `lerp`
};

inline constexpr ScalarType default_float = ScalarType::float32;

/// c10::promoteTypes; nothing for pairs without a common dtype (float8, wide unsigned integers).
[[nodiscard]] std::optional<ScalarType> promote_types(ScalarType a, ScalarType b);
/// `float32` for `complex64`; others as they are.
[[nodiscard]] ScalarType to_real(ScalarType dtype);
/// `complex64` for `float32`; integers as the default float; complex as they are.
[[nodiscard]] ScalarType to_complex(ScalarType dtype);
/// c10::canCast: results are not written into tensors of a lower category.
[[nodiscard]] bool can_cast(ScalarType from, ScalarType to);
[[nodiscard]] bool is_integral_or_bool(ScalarType dtype);
/// What numbers of a dtype are computed in: `float32` for `float16` and `bfloat16`
/// (torch/_prims_common get_computation_dtype).
[[nodiscard]] ScalarType computation_dtype(ScalarType dtype);

/// Collects operands and gives their common dtype (at::result_type): tensors with dimensions count
/// most, then those without, then Python numbers.
class TypePromotion {
 public:
  void add(const TensorMeta& tensor) {
    add_to(tensor.dim() > 0 ? with_dims_ : zero_dim_, tensor.dtype);
  }
  /// A Python number of this kind: bool_, int64, float64 or complex128.
  void add_number(ScalarType kind);

  /// Throws Error where there is no common dtype.
  [[nodiscard]] ScalarType common() const;
  [[nodiscard]] ScalarType result(Promotion promotion) const;

 private:
  static void add_to(std::optional<ScalarType>& into, ScalarType dtype);
  std::optional<ScalarType> with_dims_;
  std::optional<ScalarType> zero_dim_;
  std::optional<ScalarType> number_;
};

/// What becomes of a dtype under a promotion.
[[nodiscard]] ScalarType promoted(ScalarType dtype, Promotion promotion);

}  // namespace winze
