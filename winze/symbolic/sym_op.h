// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "winze/symbolic/sym_expr.h"

namespace winze {

/// What a node of an expression is. Names follow sympy and torch.utils._sympy.functions.
enum class SymOp : std::uint8_t {
  // Atoms.
  integer,  // never a node: integers are inline
  symbol,
  rational,
  float_constant,
  true_constant,
  false_constant,
  int_infinity,
  negative_int_infinity,
  infinity,
  negative_infinity,
  complex_infinity,
  nan,
  // Arithmetic of any number of operands.
  add,
  mul,
  max,
  min,
  // Arithmetic.
  pow,
  floor_div,
  clean_div,
  mod,
  python_mod,
  modular_indexing,
  pow_by_natural,
  float_pow,
  int_true_div,
  float_true_div,
  ceil_to_int,
  floor_to_int,
  trunc_to_int,
  trunc_to_float,
  round_to_int,
  round_decimal,
  to_float,
  abs,
  floor,
  ceiling,
  bitwise_and,
  bitwise_or,
  bitwise_xor,
  where,
  piecewise,
  identity,
  is_non_overlapping_and_dense_indicator,
  // Relations; `a > b` and `a >= b` are held as `b < a` and `b <= a`.
  eq,
  ne,
  lt,
  le,
  // Booleans.
  land,
  lor,
  lnot,
  // OpaqueUnaryFn_<name>: functions of the math module, only folded on constants.
  opaque_sqrt,
  opaque_cos,
  opaque_cosh,
  opaque_sin,
  opaque_sinh,
  opaque_tan,
  opaque_tanh,
  opaque_asin,
  opaque_acos,
  opaque_atan,
  opaque_exp,
  opaque_log,
  opaque_asinh,
  opaque_log2,
  count,
};

/// What is fixed about an operation.
struct SymOpInfo {
  SymOp op = SymOp::integer;
  std::string_view name;  ///< how srepr and Python spell the function; empty for atoms
  std::int8_t min_operands = 0;
  std::int8_t max_operands = 0;  ///< -1 for any number
  std::optional<SymKind> kind;   ///< of the result; nothing when it depends on the operands
};

/// The row of the table for `op`.
[[nodiscard]] const SymOpInfo& sym_op_info(SymOp op);
/// The operation with this srepr name, such as `FloorDiv`.
[[nodiscard]] std::optional<SymOp> find_sym_op(std::string_view name);

[[nodiscard]] constexpr bool is_opaque_unary(SymOp op) {
  return op >= SymOp::opaque_sqrt && op <= SymOp::opaque_log2;
}
[[nodiscard]] constexpr bool is_relation(SymOp op) {
  return op >= SymOp::eq && op <= SymOp::le;
}

}  // namespace winze
