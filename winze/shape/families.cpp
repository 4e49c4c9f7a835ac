// SPDX-License-Identifier: Apache-2.0
#include "winze/shape/families.h"

#include <array>

namespace winze {

std::span<const ShapeFamily> shape_families() {
  static const std::array families = {
      ShapeFamily{"attention", attention_rows()},
      ShapeFamily{"gradients", backward_rows()},
      ShapeFamily{"collectives", collective_rows()},
      ShapeFamily{"contractions", contraction_rows()},
      ShapeFamily{"conversions", conversion_rows()},
      ShapeFamily{"convolution", convolution_rows()},
      ShapeFamily{"factories", factory_rows()},
      ShapeFamily{"Fourier transforms", fft_rows()},
      ShapeFamily{"foreach", foreach_rows()},
      ShapeFamily{"fused attention", fused_attention_rows()},
      ShapeFamily{"higher order", higher_order_rows()},
      ShapeFamily{"histograms", histogram_rows()},
      ShapeFamily{"indexing", indexing_rows()},
      ShapeFamily{"irregular pointwise", irregular_pointwise_rows()},
      ShapeFamily{"joining", joining_rows()},
      ShapeFamily{"linear algebra", linalg_rows()},
      ShapeFamily{"composite linear algebra", linalg_composite_rows()},
      ShapeFamily{"losses", loss_rows()},
      ShapeFamily{"matmul", matmul_rows()},
      ShapeFamily{"normalization", normalization_rows()},
      ShapeFamily{"optimizers", optimizer_rows()},
      ShapeFamily{"packed matmul", packed_matmul_rows()},
      ShapeFamily{"patches", patch_rows()},
      ShapeFamily{"pointwise", pointwise_rows()},
      ShapeFamily{"pooling", pooling_rows()},
      ShapeFamily{"prims", prims_rows()},
      ShapeFamily{"structure of prims", prims_structure_rows()},
      ShapeFamily{"quantization", quantization_rows()},
      ShapeFamily{"queries", query_rows()},
      ShapeFamily{"random numbers", random_rows()},
      ShapeFamily{"recurrent", recurrent_rows()},
      ShapeFamily{"reductions", reduction_rows()},
      ShapeFamily{"resizing", resizing_rows()},
      ShapeFamily{"sorting", sorting_rows()},
      ShapeFamily{"spectral", spectral_rows()},
      ShapeFamily{"splitting", splitting_rows()},
      ShapeFamily{"stacking", stacking_rows()},
      ShapeFamily{"statistics", statistics_rows()},
      ShapeFamily{"storages", storage_rows()},
      ShapeFamily{"symbolic", symbolic_rows()},
      ShapeFamily{"views", view_rows()},
  };
  return families;
}

}  // namespace winze
