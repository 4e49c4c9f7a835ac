// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "winze/program/program.h"
#include "winze/shape/shape_rules.h"

namespace winze {

/// What of a tensor's layout in memory is compared, besides dtype, sizes and device.
struct ComparedLayout {
  bool strides = true;
  bool offset = true;
  /// Also strides of dimensions of size 1. No element is found by them, and PyTorch's own
  /// implementations of one operator differ in them.
  bool unused_strides = true;
};

/// Whether a recorded meta says the same as an inferred one, by proof: `Min(64, 64*s0)` is 64 where
/// s0 is at least 1. Whether a gradient is required is not compared: rules do not know it.
[[nodiscard]] Proof same_meta(const ShapeEnv& env, const Meta& recorded, const Meta& inferred,
                              ComparedLayout layout = {});

/// Whether all results of a call are recorded as inferred; `no` also where their numbers differ.
[[nodiscard]] Proof same_results(const ShapeEnv& env, const Node& node, const Inference& inferred,
                                 ComparedLayout layout = {});

/// Whether the storage offsets of results can be relied on: torch before 2.9 wrote 0 for parts of a
/// split and for slices of symbolic sizes.
[[nodiscard]] bool records_offsets(const ExportedProgram& program);

/// A call whose results follow from the metas of its operands (`OperandMetas`).
struct CallToInfer {
  Node node;
  bool tells_layout = true;  ///< false: dtypes and sizes follow, strides and offsets do not
};

/// What a program's record of such a call has to agree in. `offsets` tells whether it has offsets.
[[nodiscard]] ComparedLayout compared_layout(bool tells_layout, bool offsets);

/// Those of a graph and of the graphs nested in it.
[[nodiscard]] std::vector<CallToInfer> calls_to_infer(Graph& root);

/// Infers every call of the program that has a rule anew, nested graphs included, and gives a
/// finding for each whose recorded results differ, with both, and for each that PyTorch would
/// refuse. What cannot be told is no finding; what neither ranges nor guards prove has to hold for
/// the sizes that the program was exported with. Strides of dimensions of size 1 do not count, nor
/// strides and offsets of tensors under vmap (`OperandMetas`). At most 1000, and one that says how
/// many more there are. A few microseconds a call.
[[nodiscard]] std::vector<Diagnostic> verify_metas(const ExportedProgram& program);

/// The same for the calls that the edits of the journal's open transaction may have made wrong.
/// O(edits, and the uses of values that were edited).
[[nodiscard]] std::vector<Diagnostic> verify_edited_metas(const ExportedProgram& program);

}  // namespace winze
