// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "winze/ir/dtype.h"
#include "winze/ir/ids.h"
#include "winze/symbolic/sym_expr.h"

namespace winze {

/// What a value is.
enum class ValueKind : std::uint8_t {
  tensor,
  sym_int,
  sym_float,
  sym_bool,
  none,           ///< a result that is None
  token,          ///< an ordering token of with_effects
  custom_object,  ///< a script object; `class_name` says which
  constant,       ///< an input that the export fixed (int, float, bool, string or None)
  unknown,        ///< nothing is known; only opaque operators may yield it
};

/// What is known of a tensor. Sizes and strides are in elements and may be symbolic.
struct TensorMeta {
  ScalarType dtype = ScalarType::float32;
  Layout layout = Layout::strided;
  bool requires_grad = false;
  Device device;
  SymInt storage_offset;
  std::span<const SymInt> sizes;
  std::span<const SymInt> strides;

  [[nodiscard]] std::size_t dim() const { return sizes.size(); }
  /// True where no size, stride or offset is symbolic.
  [[nodiscard]] bool is_static() const;
};

/// What is known of a value. Interned by the Context: equal metas have equal ids.
struct Meta {
  ValueKind kind = ValueKind::unknown;
  TensorMeta tensor;            ///< for `tensor`
  SymExpr expression;           ///< for `sym_int`, `sym_float`, `sym_bool`
  bool has_expression = false;  ///< false where the file gives none for a sym value
  StringId class_name;          ///< for `custom_object`

  [[nodiscard]] bool is_tensor() const { return kind == ValueKind::tensor; }
};

/// Calls `visit(SymExpr)` for each expression in the meta: the value, or sizes, strides and offset.
template <typename Visit>
void for_each_expression(const Meta& meta, Visit visit) {
  if (meta.has_expression) visit(meta.expression);
  if (!meta.is_tensor()) return;
  for (const SymInt size : meta.tensor.sizes) visit(size);
  for (const SymInt stride : meta.tensor.strides) visit(stride);
  visit(meta.tensor.storage_offset);
}

}  // namespace winze
