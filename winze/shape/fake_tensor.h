// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "winze/ir/meta.h"
#include "winze/shape/dim_vector.h"

namespace winze {

/// A tensor without contents, which shape rules compute with: as TensorMeta, but it owns its sizes.
struct FakeTensor {
  ScalarType dtype = ScalarType::float32;
  Layout layout = Layout::strided;
  bool requires_grad = false;
  Device device;
  SymInt storage_offset;
  DimVector sizes;
  DimVector strides;

  FakeTensor() = default;
  explicit FakeTensor(const TensorMeta& meta)
      : dtype(meta.dtype),
        layout(meta.layout),
        requires_grad(meta.requires_grad),
        device(meta.device),
        storage_offset(meta.storage_offset),
        sizes(meta.sizes),
        strides(meta.strides) {}

  [[nodiscard]] std::size_t dim() const { return sizes.size(); }

  /// The same as a view, valid as long as this lives and is not changed.
  operator TensorMeta() const {  // NOLINT(google-explicit-constructor): what rules take is a meta
    TensorMeta meta;
    meta.dtype = dtype;
    meta.layout = layout;
    meta.requires_grad = requires_grad;
    meta.device = device;
    meta.storage_offset = storage_offset;
    meta.sizes = sizes;
    meta.strides = strides;
    return meta;
  }
};

}  // namespace winze
