// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

#include "winze/support/diagnostic.h"
#include "winze/support/hash.h"

namespace winze {

/// What an expression evaluates to: Python's `int`, `float` or `bool`.
enum class SymKind : std::uint8_t { int_kind, float_kind, bool_kind };

/// A symbolic integer, float or boolean: a trivially copyable value of eight bytes.
///
/// An integer is held inline and needs no context; anything else is an index into the
/// SymbolicContext that made it. Expressions are canonical, so that `==` is a compare of integers;
/// values of two contexts must not be mixed. A default-constructed SymExpr is the integer 0.
///
/// Inline integers are all of int64 but a band of 2^32 values near its minimum, whose bit patterns
/// stand for the indices.
class SymExpr {
 public:
  constexpr SymExpr() = default;

  /// An integer constant. Throws Error for the values of the reserved band.
  template <std::integral Integer>
    requires(!std::same_as<Integer, bool> && sizeof(Integer) <= 8)
  constexpr SymExpr(Integer value)  // NOLINT(google-explicit-constructor): sizes mix with numbers
      : bits_(checked(static_cast<std::uint64_t>(static_cast<std::int64_t>(value)), value)) {}

  /// The same as the constructor, by name.
  [[nodiscard]] static constexpr SymExpr integer(std::int64_t value) { return SymExpr(value); }

  /// Whether `value` can be held: false for the reserved band only.
  [[nodiscard]] static constexpr bool fits(std::int64_t value) {
    return static_cast<std::uint64_t>(value) - band >= band_size;
  }

  /// The expression with this index in its context.
  [[nodiscard]] static constexpr SymExpr from_index(std::uint32_t index) {
    SymExpr result;
    result.bits_ = band + index;
    return result;
  }

  /// The expression with these bits, as `bits()` gave them.
  [[nodiscard]] static constexpr SymExpr from_bits(std::uint64_t bits) {
    SymExpr result;
    result.bits_ = bits;
    return result;
  }

  /// Whether this is an integer constant.
  [[nodiscard]] constexpr bool is_constant() const { return bits_ - band >= band_size; }

  /// The value of an integer constant; throws InternalError for anything else.
  [[nodiscard]] constexpr std::int64_t constant() const {
    if (!is_constant()) not_constant();
    return static_cast<std::int64_t>(bits_);
  }

  /// The index in the context; only for what is not an integer constant.
  [[nodiscard]] constexpr std::uint32_t index() const {
    return static_cast<std::uint32_t>(bits_ - band);
  }

  /// All of the value, for hashing and storing.
  [[nodiscard]] constexpr std::uint64_t bits() const { return bits_; }

  friend constexpr bool operator==(SymExpr a, SymExpr b) { return a.bits_ == b.bits_; }

 private:
  static constexpr std::uint64_t band_size = std::uint64_t{1} << 32;
  static constexpr std::uint64_t band = (std::uint64_t{1} << 63) + band_size;

  template <typename Integer>
  static constexpr std::uint64_t checked(std::uint64_t bits, Integer value) {
    if constexpr (sizeof(Integer) == 8) {
      if constexpr (std::unsigned_integral<Integer>) {
        if (value > static_cast<Integer>(std::numeric_limits<std::int64_t>::max()))
          too_large(value);
      }
      if (bits - band < band_size) reserved(bits);
    }
    return bits;
  }
  [[noreturn]] static void reserved(std::uint64_t bits);
  [[noreturn]] static void too_large(std::uint64_t value);
  [[noreturn]] static void not_constant();

  std::uint64_t bits_ = 0;
};

static_assert(sizeof(SymExpr) == 8);

/// PyTorch's name for a size: an expression of kind int.
using SymInt = SymExpr;

}  // namespace winze

template <>
struct std::hash<winze::SymExpr> {
  /// Under a secret, since files hold constants of any value.
  std::size_t operator()(winze::SymExpr expr) const {
    return winze::hash_integer(expr.bits() ^ winze::process_secret());
  }
};
