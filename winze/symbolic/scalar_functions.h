// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "winze/symbolic/sym_op.h"

namespace winze {

/// The function of Python's math module that a SymOp::opaque_… stands for. Nothing where Python
/// raises: a domain error, or a finite argument whose result is not.
[[nodiscard]] std::optional<double> apply_opaque_unary(SymOp op, double value);

/// Python's `float ** float`; nothing where Python raises or the result is complex.
[[nodiscard]] std::optional<double> python_float_pow(double base, double exponent);

/// A double rounded to an integer by CeilToInt, FloorToInt, TruncToInt or RoundToInt; nothing when
/// that is not in int64.
[[nodiscard]] std::optional<std::int64_t> round_to_integer(SymOp op, double value);

/// PyTorch's eval_is_non_overlapping_and_dense: whether the tensor is dense and without overlap in
/// some order of its dimensions. `values`: the sizes, then the strides.
[[nodiscard]] bool is_non_overlapping_and_dense(std::span<const std::int64_t> values);

}  // namespace winze
