// SPDX-License-Identifier: Apache-2.0
#include "winze/shape/promotion.h"

#include "winze/support/diagnostic.h"

namespace winze {
namespace {

bool is_float8(ScalarType dtype) {
  return is_floating_point(dtype) && element_size(dtype) == 1;
}

bool is_wide_unsigned(ScalarType dtype) {
  return dtype == ScalarType::uint16 || dtype == ScalarType::uint32 || dtype == ScalarType::uint64;
}

/// int8 < int16 < int32 < int64; uint8 goes with the next wider signed type.
std::optional<ScalarType> promote_integers(ScalarType a, ScalarType b) {
  if (is_wide_unsigned(a) || is_wide_unsigned(b)) {
    if (is_wide_unsigned(a) && is_wide_unsigned(b))
      return element_size(a) > element_size(b) ? a : b;
    const ScalarType wide = is_wide_unsigned(a) ? a : b;
    const ScalarType other = is_wide_unsigned(a) ? b : a;
    if (other == ScalarType::uint8) return wide;
    return std::nullopt;
  }
  if (a == ScalarType::uint8 || b == ScalarType::uint8) {
    const ScalarType other = a == ScalarType::uint8 ? b : a;
    return other == ScalarType::int8 ? ScalarType::int16 : other;
  }
  return element_size(a) > element_size(b) ? a : b;
}

ScalarType promote_floats(ScalarType a, ScalarType b) {
  if (element_size(a) != element_size(b)) return element_size(a) > element_size(b) ? a : b;
  return ScalarType::float32;  // float16 and bfloat16
}

}  // namespace

bool is_integral_or_bool(ScalarType dtype) {
  return is_integral(dtype) || dtype == ScalarType::bool_;
}

ScalarType computation_dtype(ScalarType dtype) {
  return dtype == ScalarType::float16 || dtype == ScalarType::bfloat16 ? ScalarType::float32
                                                                       : dtype;
}

bool can_cast(ScalarType from, ScalarType to) {
  if (is_complex(from)) return is_complex(to);
  if (is_floating_point(from)) return !is_integral_or_bool(to);
  return from == ScalarType::bool_ || to != ScalarType::bool_;
}

ScalarType to_real(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::complex32:
      return ScalarType::float16;
    case ScalarType::complex64:
      return ScalarType::float32;
    case ScalarType::complex128:
      return ScalarType::float64;
    default:
      return dtype;
  }
}

ScalarType to_complex(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::float16:
      return ScalarType::complex32;
    case ScalarType::float64:
      return ScalarType::complex128;
    case ScalarType::complex32:
    case ScalarType::complex64:
    case ScalarType::complex128:
      return dtype;
    default:
      return ScalarType::complex64;
  }
}

std::optional<ScalarType> promote_types(ScalarType a, ScalarType b) {
  if (a == b) return a;
  if (is_float8(a) || is_float8(b)) return std::nullopt;
  if (a == ScalarType::bool_) return b;
  if (b == ScalarType::bool_) return a;
  if (is_integral(a) && is_integral(b)) return promote_integers(a, b);
  if (is_integral(a)) return b;
  if (is_integral(b)) return a;
  if (!is_complex(a) && !is_complex(b)) return promote_floats(a, b);
  return to_complex(promote_floats(to_real(a), to_real(b)));
}

void TypePromotion::add_to(std::optional<ScalarType>& into, ScalarType dtype) {
  if (!into) {
    into = dtype;
    return;
  }
  const auto common = promote_types(*into, dtype);
  if (!common) {
    fail("Promotion for {} and {} is not supported; convert one of the operands", full_name(*into),
         full_name(dtype));
  }
  into = common;
}

void TypePromotion::add_number(ScalarType kind) {
  if (is_complex(kind)) kind = to_complex(default_float);
  if (is_floating_point(kind)) kind = default_float;
  add_to(number_, kind);
}

ScalarType TypePromotion::common() const {
  std::optional<ScalarType> result = with_dims_;
  // combine_categories: a lower level counts only where it is of a higher category.
  for (const std::optional<ScalarType>& lower : {zero_dim_, number_}) {
    if (!lower) continue;
    if (!result) {
      result = lower;
    } else if (is_complex(*result)) {
      continue;
    } else if (is_floating_point(*result)) {
      if (is_complex(*lower)) result = to_complex(*result);
    } else if (*result == ScalarType::bool_ || is_floating_point(*lower) || is_complex(*lower)) {
      add_to(result, *lower);
    }
  }
  return result.value_or(ScalarType::bool_);
}

ScalarType promoted(ScalarType dtype, Promotion promotion) {
  switch (promotion) {
    case Promotion::int_to_float:
      return is_integral_or_bool(dtype) ? default_float : dtype;
    case Promotion::complex_to_float:
      return to_real(dtype);
    case Promotion::bool_to_long:
      return dtype == ScalarType::bool_ ? ScalarType::int64 : dtype;
    case Promotion::always_bool:
      return ScalarType::bool_;
    case Promotion::always_long:
      return ScalarType::int64;
    case Promotion::to_common:
    case Promotion::keep_first:
      return dtype;
  }
  return dtype;
}

ScalarType TypePromotion::result(Promotion promotion) const {
  return promoted(common(), promotion);
}

}  // namespace winze
