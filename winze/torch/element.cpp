// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/element.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "winze/support/diagnostic.h"

namespace winze {
namespace {

/// A binary floating-point format of at most 16 bits: sign, exponent, mantissa.
struct SmallFloat {
  ScalarType dtype;
  int exponent_bits;
  int mantissa_bits;
  int bias;
  bool has_infinity;      ///< the highest exponent holds infinity and NaN, as IEEE 754 has it
  bool fnuz;              ///< the only NaN is the pattern of -0
  std::uint32_t largest;  ///< bits of the largest finite number
};

// torch/headeronly/util/: Half.h, BFloat16.h, Float8_*.h.
constexpr SmallFloat small_floats[] = {
    {ScalarType::float16, 5, 10, 15, true, false, 0x7BFF},
    {ScalarType::bfloat16, 8, 7, 127, true, false, 0x7F7F},
    {ScalarType::float8_e5m2, 5, 2, 15, true, false, 0x7B},
    {ScalarType::float8_e4m3fn, 4, 3, 7, false, false, 0x7E},
    {ScalarType::float8_e5m2fnuz, 5, 2, 16, false, true, 0x7F},
    {ScalarType::float8_e4m3fnuz, 4, 3, 8, false, true, 0x7F},
};

const SmallFloat* find_small_float(ScalarType dtype) {
  for (const SmallFloat& format : small_floats) {
    if (format.dtype == dtype) return &format;
  }
  return nullptr;
}

double decode(const SmallFloat& format, std::uint32_t bits) {
  const std::uint32_t sign_bit = 1U << (format.exponent_bits + format.mantissa_bits);
  const bool negative = (bits & sign_bit) != 0;
  const std::uint32_t magnitude = bits & (sign_bit - 1);
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  if (format.fnuz && negative && magnitude == 0) return nan;
  if (magnitude > format.largest) {
    const bool is_infinity = format.has_infinity && magnitude == format.largest + 1;
    if (!is_infinity) return nan;
    return negative ? -std::numeric_limits<double>::infinity()
                    : std::numeric_limits<double>::infinity();
  }
  const std::uint32_t fraction = magnitude & ((1U << format.mantissa_bits) - 1);
  const int exponent = static_cast<int>(magnitude >> format.mantissa_bits);
  const double value = exponent == 0 ? std::ldexp(fraction, 1 - format.bias - format.mantissa_bits)
                                     : std::ldexp(fraction + (1U << format.mantissa_bits),
                                                  exponent - format.bias - format.mantissa_bits);
  return negative ? -value : value;
}

/// Patterns of one sign are in the order of the numbers, so rounding is counting spacings.
std::uint32_t encode(const SmallFloat& format, double value) {
  const std::uint32_t sign_bit = 1U << (format.exponent_bits + format.mantissa_bits);
  if (std::isnan(value)) return format.fnuz ? sign_bit : sign_bit - 1;
  const double magnitude = std::abs(value);
  std::uint32_t bits = 0;
  if (std::isinf(value)) {
    bits = format.has_infinity ? format.largest + 1 : format.largest;
  } else if (magnitude != 0) {
    int exponent = std::ilogb(magnitude);
    exponent = std::max(exponent, 1 - format.bias);
    // Ties go to even by the default rounding mode of nearbyint.
    const double units = std::nearbyint(std::ldexp(magnitude, format.mantissa_bits - exponent));
    const double rounded = std::ldexp(units, exponent - format.mantissa_bits);
    if (rounded >= decode(format, format.largest)) {
      bits = format.largest;
    } else if (rounded != 0) {
      const int final_exponent = std::max(std::ilogb(rounded), 1 - format.bias);
      const auto significand =
          static_cast<std::uint32_t>(std::ldexp(rounded, format.mantissa_bits - final_exponent));
      const auto biased = static_cast<std::uint32_t>(final_exponent + format.bias);
      bits = ((biased - 1) << format.mantissa_bits) + significand;
    }
  }
  const bool negative = std::signbit(value) && !(format.fnuz && bits == 0);
  return negative ? bits | sign_bit : bits;
}

template <typename Element>
Element load(const std::byte* from) {
  Element element;
  std::memcpy(&element, from, sizeof element);
  return element;
}

template <typename Element>
void read_as(const std::byte* from, std::span<double> to) {
  for (std::size_t index = 0; index < to.size(); ++index) {
    to[index] = static_cast<double>(load<Element>(from + index * sizeof(Element)));
  }
}

template <typename Element>
void store_as(double value, std::byte* to) {
  const auto element = static_cast<Element>(value);
  std::memcpy(to, &element, sizeof element);
}

void read_small(const SmallFloat& format, const std::byte* from, std::span<double> to) {
  const std::uint32_t width = element_size(format.dtype);
  for (std::size_t index = 0; index < to.size(); ++index) {
    const std::uint32_t bits =
        width == 1 ? load<std::uint8_t>(from + index) : load<std::uint16_t>(from + 2 * index);
    to[index] = decode(format, bits);
  }
}

/// float8_e8m0fnu holds powers of two alone.
double decode_e8m0(std::uint8_t bits) {
  return bits == 0xFF ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, bits - 127);
}

std::uint8_t encode_e8m0(double value) {
  if (std::isnan(value)) return 0xFF;
  const double exponent = value > 0 ? std::round(std::log2(value)) : -127;
  return static_cast<std::uint8_t>(std::clamp(exponent, -127.0, 127.0) + 127);
}

/// Exponent of the smallest normal number, and number of bits after the point.
struct Precision {
  int min_exponent = 0;
  int mantissa_bits = 0;
};

Precision precision_of(ScalarType dtype) {
  if (const SmallFloat* format = find_small_float(dtype))
    return {1 - format->bias, format->mantissa_bits};
  if (dtype == ScalarType::float32) return {-126, 23};
  if (dtype == ScalarType::float64) return {-1022, 52};
  return {-127, 0};
}

}  // namespace

double epsilon_of(ScalarType dtype) {
  if (!is_floating_point(dtype) && !is_complex(dtype)) return 0;
  return std::ldexp(1.0, -precision_of(to_real(dtype)).mantissa_bits);
}

double ulp_of(ScalarType dtype, double value) {
  const Precision precision = precision_of(to_real(dtype));
  const int exponent =
      value == 0 || !std::isfinite(value) ? precision.min_exponent : std::ilogb(value);
  return std::ldexp(1.0, std::max(exponent, precision.min_exponent) - precision.mantissa_bits);
}

double largest_of(ScalarType dtype) {
  const ScalarType part = to_real(dtype);
  if (const SmallFloat* format = find_small_float(part)) return decode(*format, format->largest);
  if (part == ScalarType::float32) return std::numeric_limits<float>::max();
  if (part == ScalarType::float8_e8m0fnu) return std::ldexp(1.0, 127);
  return std::numeric_limits<double>::max();
}

void read_numbers(ScalarType dtype, const std::byte* from, std::span<double> to) {
  const ScalarType part = to_real(dtype);
  if (const SmallFloat* format = find_small_float(part)) return read_small(*format, from, to);
  switch (part) {
    case ScalarType::float32:
      return read_as<float>(from, to);
    case ScalarType::float64:
      return read_as<double>(from, to);
    case ScalarType::uint64:
      return read_as<std::uint64_t>(from, to);
    case ScalarType::int64:
      return read_as<std::int64_t>(from, to);
    case ScalarType::float8_e8m0fnu:
      for (std::size_t index = 0; index < to.size(); ++index)
        to[index] = decode_e8m0(load<std::uint8_t>(from + index));
      return;
    default: {
      const std::uint32_t width = element_size(part);
      for (std::size_t index = 0; index < to.size(); ++index)
        to[index] = static_cast<double>(read_integer(part, from + index * width));
    }
  }
}

std::int64_t read_integer(ScalarType dtype, const std::byte* from) {
  switch (dtype) {
    case ScalarType::bool_:
    case ScalarType::uint8:
      return load<std::uint8_t>(from);
    case ScalarType::int8:
      return load<std::int8_t>(from);
    case ScalarType::int16:
      return load<std::int16_t>(from);
    case ScalarType::uint16:
      return load<std::uint16_t>(from);
    case ScalarType::int32:
      return load<std::int32_t>(from);
    case ScalarType::uint32:
      return load<std::uint32_t>(from);
    default:
      return load<std::int64_t>(from);
  }
}

void write_integer(ScalarType dtype, std::int64_t value, std::byte* to) {
  // The machine is little-endian, as the files are: the low bytes come first.
  const std::uint32_t width = element_size(dtype);
  WINZE_CHECK(width <= sizeof value, "{} is no integer", full_name(dtype));
  std::memcpy(to, &value, width);
}

void write_numbers(ScalarType dtype, std::span<const double> from, std::byte* to) {
  const ScalarType part = to_real(dtype);
  const SmallFloat* format = find_small_float(part);
  const std::uint32_t width = element_size(part);
  for (std::size_t index = 0; index < from.size(); ++index, to += width) {
    if (format != nullptr) {
      write_integer(width == 1 ? ScalarType::uint8 : ScalarType::uint16,
                    encode(*format, from[index]), to);
    } else if (part == ScalarType::float32) {
      store_as<float>(from[index], to);
    } else if (part == ScalarType::float64) {
      store_as<double>(from[index], to);
    } else if (part == ScalarType::float8_e8m0fnu) {
      write_integer(ScalarType::uint8, encode_e8m0(from[index]), to);
    } else {
      write_integer(part, static_cast<std::int64_t>(from[index]), to);
    }
  }
}

static_assert(std::endian::native == std::endian::little);

}  // namespace winze
