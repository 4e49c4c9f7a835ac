// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>

namespace winze {

// Exact int64 arithmetic: nothing when the result leaves int64.
[[nodiscard]] inline std::optional<std::int64_t> checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
  return result;
}
[[nodiscard]] inline std::optional<std::int64_t> checked_sub(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_sub_overflow(a, b, &result)) return std::nullopt;
  return result;
}
[[nodiscard]] inline std::optional<std::int64_t> checked_mul(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}
/// `base ** exponent` for an exponent of 0 or more.
[[nodiscard]] std::optional<std::int64_t> checked_pow(std::int64_t base, std::int64_t exponent);
/// Python's `a // b`; nothing for `b == 0` and for the one quotient outside int64.
[[nodiscard]] std::optional<std::int64_t> floor_divide(std::int64_t a, std::int64_t b);
/// Python's `a % b`, with the sign of `b`; nothing for `b == 0`.
[[nodiscard]] std::optional<std::int64_t> floor_modulo(std::int64_t a, std::int64_t b);
/// Python's `a / b`: the double nearest to the quotient; nothing for `b == 0`.
[[nodiscard]] std::optional<double> true_divide(std::int64_t a, std::int64_t b);
/// The magnitude, which int64 cannot hold for its minimum.
[[nodiscard]] constexpr std::uint64_t magnitude(std::int64_t value) {
  return value < 0 ? -static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
}
/// Compares exactly, without rounding the integer to a double.
[[nodiscard]] std::partial_ordering compare(std::int64_t a, double b);
/// The double as an integer when it is finite, whole and in int64.
[[nodiscard]] std::optional<std::int64_t> exact_integer(double value);
/// Python's `round(value, digits)`: the decimal nearest to the exact value, halves to even.
[[nodiscard]] std::optional<double> round_to_decimal(double value, std::int64_t digits);

/// A number that sympy folds: an exact integer or rational, a double, or an infinity.
struct Number {
  enum class Form : std::uint8_t {
    integer,
    rational,
    real,
    int_infinity,      ///< signed by `numerator`
    infinity,          ///< signed by `numerator`
    complex_infinity,  ///< sympy's zoo
    nan,
  };

  Form form = Form::integer;
  std::int64_t numerator = 0;    ///< the integer itself
  std::int64_t denominator = 1;  ///< above 1 for rationals only
  double real = 0;

  [[nodiscard]] static Number of(std::int64_t value) { return {Form::integer, value, 1, 0}; }
  [[nodiscard]] static Number of(double value);
  /// In lowest terms; nothing when a part leaves int64 or `denominator` is 0.
  [[nodiscard]] static std::optional<Number> ratio(std::int64_t numerator,
                                                   std::int64_t denominator);

  [[nodiscard]] bool is_integer(std::int64_t value) const {
    return form == Form::integer && numerator == value;
  }
  [[nodiscard]] bool is_finite() const { return form <= Form::real; }
  [[nodiscard]] bool is_zero() const {
    return (form == Form::integer && numerator == 0) || (form == Form::real && real == 0);
  }
  /// -1, 0 or 1; 0 for zoo and nan too.
  [[nodiscard]] int sign() const;
  /// The nearest double; infinities as such, zoo and nan as NaN.
  [[nodiscard]] double to_double() const;
};

// As sympy folds them; nothing when an exact part leaves int64.
[[nodiscard]] std::optional<Number> number_add(const Number& a, const Number& b);
[[nodiscard]] std::optional<Number> number_mul(const Number& a, const Number& b);
[[nodiscard]] std::optional<Number> number_pow(const Number& base, std::int64_t exponent);
/// Unordered for zoo and nan, and for rationals too large to compare exactly with a double.
[[nodiscard]] std::partial_ordering compare(const Number& a, const Number& b);

}  // namespace winze
