// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "winze/ir/graph.h"
#include "winze/program/program.h"

namespace winze {

/// For each value of a program's graph the largest number of roundings on a path from the inputs to
/// it: a call adds 1, a reduction, a scan or a product of matrices as many as it sums terms, and
/// what only moves elements nothing. Sums of numbers of 16 bits and less are made in float32, so
/// that their terms count only as much as float32's roundings weigh beside the result's own.
///
/// Symbolic sizes count as their hints. Nested graphs are followed; loops count as `loop_rounds`
/// rounds, scans as many as the scanned dimension is long.
class RoundingDepths {
 public:
  /// O(nodes).
  explicit RoundingDepths(const ExportedProgram& program);
  /// At least 1.
  [[nodiscard]] double depth(Value value) const;

  /// Rounds that a while_loop is taken to make; its true number shows only in a run.
  static constexpr double loop_rounds = 16;

 private:
  std::vector<double> depths_;
};

}  // namespace winze
