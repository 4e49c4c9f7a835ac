// SPDX-License-Identifier: Apache-2.0
#include "winze/symbolic/number.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>

namespace winze {
namespace {

__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;
using Form = Number::Form;

constexpr double two_to_63 = 9223372036854775808.0;

std::optional<std::int64_t> narrow(Wide value) {
  if (value < std::numeric_limits<std::int64_t>::min() ||
      value > std::numeric_limits<std::int64_t>::max()) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(value);
}

UnsignedWide wide_gcd(UnsignedWide a, UnsignedWide b) {
  while (b != 0) {
    const UnsignedWide rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

std::optional<Number> wide_ratio(Wide numerator, Wide denominator) {
  if (denominator == 0) return std::nullopt;
  if (denominator < 0) {
    numerator = -numerator;
    denominator = -denominator;
  }
  const UnsignedWide size = static_cast<UnsignedWide>(numerator < 0 ? -numerator : numerator);
  const Wide common = static_cast<Wide>(wide_gcd(size, static_cast<UnsignedWide>(denominator)));
  const auto top = narrow(numerator / common);
  const auto bottom = narrow(denominator / common);
  if (!top || !bottom) return std::nullopt;
  return Number{*bottom == 1 ? Form::integer : Form::rational, *top, *bottom, 0};
}

Number special(Form form, int sign = 1) {
  return {form, sign, 1, 0};
}

/// A sum of which at least one operand is not finite.
Number add_special(const Number& a, const Number& b) {
  if (a.form == Form::nan || b.form == Form::nan) return special(Form::nan);
  if (a.is_finite()) return b;
  if (b.is_finite()) return a;
  if (a.form == Form::complex_infinity || b.form == Form::complex_infinity) {
    return special(Form::nan);
  }
  if (a.form != b.form) return a.form == Form::infinity ? a : b;
  return a.sign() == b.sign() ? a : special(Form::nan);
}

/// A product of which at least one operand is not finite.
Number mul_special(const Number& a, const Number& b) {
  if (a.form == Form::nan || b.form == Form::nan || a.is_zero() || b.is_zero()) {
    return special(Form::nan);
  }
  if (a.form == Form::complex_infinity || b.form == Form::complex_infinity) {
    return special(Form::complex_infinity);
  }
  const bool plain = a.form == Form::infinity || b.form == Form::infinity;
  return special(plain ? Form::infinity : Form::int_infinity, a.sign() * b.sign());
}

}  // namespace

std::optional<std::int64_t> checked_pow(std::int64_t base, std::int64_t exponent) {
  if (base == 0 || base == 1) return exponent == 0 ? 1 : base;
  if (base == -1) return exponent % 2 == 0 ? 1 : -1;
  if (exponent > 63) return std::nullopt;
  std::int64_t result = 1;
  for (std::int64_t i = 0; i < exponent; ++i) {
    if (__builtin_mul_overflow(result, base, &result)) return std::nullopt;
  }
  return result;
}

std::optional<std::int64_t> floor_divide(std::int64_t a, std::int64_t b) {
  if (b == 0) return std::nullopt;
  if (b == -1) return checked_sub(0, a);
  const std::int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

std::optional<std::int64_t> floor_modulo(std::int64_t a, std::int64_t b) {
  if (b == 0) return std::nullopt;
  if (b == -1) return 0;
  const std::int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

std::optional<double> true_divide(std::int64_t a, std::int64_t b) {
  if (b == 0) return std::nullopt;
  if (a == 0) return 0.0;
  // A quotient of at least 64 bits, its last bit standing for all that follow, rounds correctly.
  const std::uint64_t top = magnitude(a);
  const std::uint64_t bottom = magnitude(b);
  const int shift = 63 + __builtin_clzll(top);
  const UnsignedWide shifted = static_cast<UnsignedWide>(top) << shift;
  UnsignedWide quotient = shifted / bottom;
  if (shifted % bottom != 0) quotient |= 1U;
  const double size = std::ldexp(static_cast<double>(quotient), -shift);
  return (a < 0) != (b < 0) ? -size : size;
}

std::partial_ordering compare(std::int64_t a, double b) {
  if (std::isnan(b)) return std::partial_ordering::unordered;
  if (b >= two_to_63) return std::partial_ordering::less;
  if (b < -two_to_63) return std::partial_ordering::greater;
  const double whole = std::floor(b);
  const auto floor = static_cast<std::int64_t>(whole);
  if (a != floor) return a <=> floor;
  return whole < b ? std::partial_ordering::less : std::partial_ordering::equivalent;
}

std::optional<std::int64_t> exact_integer(double value) {
  if (!(value >= -two_to_63 && value < two_to_63) || std::trunc(value) != value) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(value);
}

std::optional<double> round_to_decimal(double value, std::int64_t digits) {
  if (!std::isfinite(value) || value == 0) return value;
  if (digits > 340) return value;
  if (digits < -310) return std::copysign(0.0, value);
  char text[1200];
  if (digits >= 0) {
    std::snprintf(text, sizeof text, "%.*f", static_cast<int>(digits), value);
  } else {
    std::snprintf(text, sizeof text, "%.40e", value);
    const std::string_view shown(text);
    std::string_view shown_exponent = shown.substr(shown.find('e') + 1);
    if (shown_exponent.starts_with('+')) shown_exponent.remove_prefix(1);
    int exponent = 0;
    std::from_chars(shown_exponent.data(), shown_exponent.data() + shown_exponent.size(), exponent);
    const int significant = exponent + 1 + static_cast<int>(digits);
    if (significant < 0) return std::copysign(0.0, value);
    if (significant == 0) {
      // All digits go: up to one unit when more than half of it. 10**n is exact up to n = 22, and
      // above that no double lies at the half.
      const double unit = std::pow(10.0, exponent + 1);
      return std::copysign(std::fabs(value) > unit / 2 ? unit : 0.0, value);
    }
    std::snprintf(text, sizeof text, "%.*e", significant - 1, value);
  }
  const double result = std::strtod(text, nullptr);
  if (std::isinf(result)) return std::nullopt;
  return result;
}

Number Number::of(double value) {
  if (std::isnan(value)) return special(Form::nan);
  if (std::isinf(value)) return special(Form::infinity, value < 0 ? -1 : 1);
  return {Form::real, 0, 1, value == 0 ? 0.0 : value};  // sympy has no negative zero
}

std::optional<Number> Number::ratio(std::int64_t numerator, std::int64_t denominator) {
  return wide_ratio(numerator, denominator);
}

int Number::sign() const {
  if (form == Form::real) return (real > 0) - (real < 0);
  if (form == Form::complex_infinity || form == Form::nan) return 0;
  return (numerator > 0) - (numerator < 0);
}

double Number::to_double() const {
  switch (form) {
    case Form::integer:
      return static_cast<double>(numerator);
    case Form::rational:
      return true_divide(numerator, denominator).value_or(0);
    case Form::real:
      return real;
    case Form::int_infinity:
    case Form::infinity:
      return sign() * std::numeric_limits<double>::infinity();
    default:
      return std::numeric_limits<double>::quiet_NaN();
  }
}

std::optional<Number> number_add(const Number& a, const Number& b) {
  if (!a.is_finite() || !b.is_finite()) return add_special(a, b);
  if (a.form == Form::real || b.form == Form::real) {
    return Number::of(a.to_double() + b.to_double());
  }
  if (a.form == Form::integer && b.form == Form::integer) {
    const auto sum = checked_add(a.numerator, b.numerator);
    return sum ? std::optional(Number::of(*sum)) : std::nullopt;
  }
  Wide numerator = 0;
  if (__builtin_add_overflow(static_cast<Wide>(a.numerator) * b.denominator,
                             static_cast<Wide>(b.numerator) * a.denominator, &numerator)) {
    return std::nullopt;
  }
  return wide_ratio(numerator, static_cast<Wide>(a.denominator) * b.denominator);
}

std::optional<Number> number_mul(const Number& a, const Number& b) {
  if (!a.is_finite() || !b.is_finite()) return mul_special(a, b);
  if (a.is_integer(0) || b.is_integer(0)) return Number::of(std::int64_t{0});
  if (a.form == Form::real || b.form == Form::real) {
    return Number::of(a.to_double() * b.to_double());
  }
  return wide_ratio(static_cast<Wide>(a.numerator) * b.numerator,
                    static_cast<Wide>(a.denominator) * b.denominator);
}

std::optional<Number> number_pow(const Number& base, std::int64_t exponent) {
  if (exponent == 0) return Number::of(std::int64_t{1});
  if (!base.is_finite()) return std::nullopt;
  if (base.form == Form::real) {
    if (base.is_zero() && exponent < 0) return special(Form::complex_infinity);
    return Number::of(std::pow(base.real, static_cast<double>(exponent)));
  }
  if (exponent < 0 && base.is_zero()) return special(Form::complex_infinity);
  if (exponent == std::numeric_limits<std::int64_t>::min()) return std::nullopt;
  const std::int64_t times = exponent < 0 ? -exponent : exponent;
  const auto top = checked_pow(base.numerator, times);
  const auto bottom = checked_pow(base.denominator, times);
  if (!top || !bottom) return std::nullopt;
  return exponent < 0 ? Number::ratio(*bottom, *top) : Number::ratio(*top, *bottom);
}

std::partial_ordering compare(const Number& a, const Number& b) {
  if (a.sign() != b.sign() && a.form < Form::complex_infinity && b.form < Form::complex_infinity) {
    return a.sign() <=> b.sign();
  }
  if (a.is_finite() && b.is_finite()) {
    if (a.form == Form::real && b.form == Form::real) return a.real <=> b.real;
    if (a.form == Form::integer && b.form == Form::real) return compare(a.numerator, b.real);
    if (a.form == Form::real && b.form == Form::integer) return 0 <=> compare(b.numerator, a.real);
    if (a.form == Form::real || b.form == Form::real) {
      // Different doubles decide; equal ones may come from rounding the rational.
      const auto order = a.to_double() <=> b.to_double();
      return order == 0 ? std::partial_ordering::unordered : order;
    }
    return static_cast<Wide>(a.numerator) * b.denominator <=>
           static_cast<Wide>(b.numerator) * a.denominator;
  }
  if (a.form >= Form::complex_infinity || b.form >= Form::complex_infinity) {
    return std::partial_ordering::unordered;
  }
  // An infinity against something of the same sign: a finite number is nearer to 0 than int_oo,
  // and int_oo nearer than oo.
  const auto rank = [](const Number& n) {
    return n.is_finite() ? 0 : n.form == Form::infinity ? 2 : 1;
  };
  return a.sign() > 0 ? rank(a) <=> rank(b) : rank(b) <=> rank(a);
}

}  // namespace winze
