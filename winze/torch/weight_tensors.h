// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <ATen/core/Tensor.h>

#include "winze/program/program.h"

namespace winze {

/// The weights of a program as tensors. Bytes stay where they are, in the mapped file, except those
/// that have no address a kernel could read from and those that the caller asks a copy of. Weights
/// that share storage share it here.
class WeightTensors {
 public:
  /// With `make_up_missing` weights whose bytes are not at hand have numbers made up for them, the
  /// same each time.
  explicit WeightTensors(const ExportedProgram& program, bool make_up_missing = false);

  /// The tensor of a weight. With `writable` in storage of its own, which all writable weights of
  /// that storage share until `renew`. \throws Error where its bytes are not at hand or it is no
  /// plain tensor.
  [[nodiscard]] at::Tensor tensor(const Weight& weight, bool writable);

  /// From now on writable tensors are made of fresh copies.
  void renew();

 private:
  [[nodiscard]] c10::Storage& storage(const Weight& weight, bool writable);

  [[nodiscard]] c10::Storage made_up(const Weight& weight) const;

  const ExportedProgram* program_;
  bool make_up_missing_;
  std::vector<c10::Storage> shared_;    ///< by StorageId
  std::vector<c10::Storage> writable_;  ///< by StorageId
};

/// The bytes of a tensor's meta as a tensor over a storage. Sizes, strides and offset are static.
[[nodiscard]] at::Tensor tensor_over(const c10::Storage& storage, const TensorMeta& meta);

}  // namespace winze
