// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "winze/shape/shape_call.h"

// The tables of the families, one source file each. A row names an operator and its rule; in-place
// and out variants need none, they go through their functional form.
namespace winze {

struct ShapeFamily {
  std::string_view name;
  std::span<const ShapeRow> rows;
};

[[nodiscard]] std::span<const ShapeRow> attention_rows();
[[nodiscard]] std::span<const ShapeRow> backward_rows();
[[nodiscard]] std::span<const ShapeRow> collective_rows();
[[nodiscard]] std::span<const ShapeRow> contraction_rows();
[[nodiscard]] std::span<const ShapeRow> conversion_rows();
[[nodiscard]] std::span<const ShapeRow> convolution_rows();
[[nodiscard]] std::span<const ShapeRow> factory_rows();
[[nodiscard]] std::span<const ShapeRow> fft_rows();
[[nodiscard]] std::span<const ShapeRow> foreach_rows();
[[nodiscard]] std::span<const ShapeRow> fused_attention_rows();
[[nodiscard]] std::span<const ShapeRow> higher_order_rows();
[[nodiscard]] std::span<const ShapeRow> histogram_rows();
[[nodiscard]] std::span<const ShapeRow> indexing_rows();
[[nodiscard]] std::span<const ShapeRow> irregular_pointwise_rows();
[[nodiscard]] std::span<const ShapeRow> joining_rows();
[[nodiscard]] std::span<const ShapeRow> linalg_rows();
[[nodiscard]] std::span<const ShapeRow> linalg_composite_rows();
[[nodiscard]] std::span<const ShapeRow> loss_rows();
[[nodiscard]] std::span<const ShapeRow> matmul_rows();
[[nodiscard]] std::span<const ShapeRow> normalization_rows();
[[nodiscard]] std::span<const ShapeRow> optimizer_rows();
[[nodiscard]] std::span<const ShapeRow> packed_matmul_rows();
[[nodiscard]] std::span<const ShapeRow> patch_rows();
[[nodiscard]] std::span<const ShapeRow> pointwise_rows();
[[nodiscard]] std::span<const ShapeRow> pooling_rows();
[[nodiscard]] std::span<const ShapeRow> prims_rows();
[[nodiscard]] std::span<const ShapeRow> prims_structure_rows();
[[nodiscard]] std::span<const ShapeRow> quantization_rows();
[[nodiscard]] std::span<const ShapeRow> query_rows();
[[nodiscard]] std::span<const ShapeRow> random_rows();
[[nodiscard]] std::span<const ShapeRow> recurrent_rows();
[[nodiscard]] std::span<const ShapeRow> reduction_rows();
[[nodiscard]] std::span<const ShapeRow> resizing_rows();
[[nodiscard]] std::span<const ShapeRow> sorting_rows();
[[nodiscard]] std::span<const ShapeRow> spectral_rows();
[[nodiscard]] std::span<const ShapeRow> splitting_rows();
[[nodiscard]] std::span<const ShapeRow> stacking_rows();
[[nodiscard]] std::span<const ShapeRow> statistics_rows();
[[nodiscard]] std::span<const ShapeRow> storage_rows();
[[nodiscard]] std::span<const ShapeRow> symbolic_rows();
[[nodiscard]] std::span<const ShapeRow> view_rows();

/// All families; an operator is in at most one.
[[nodiscard]] std::span<const ShapeFamily> shape_families();

}  // namespace winze
