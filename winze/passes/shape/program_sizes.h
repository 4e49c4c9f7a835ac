// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "winze/passes/shape/size_changes.h"
#include "winze/program/guards.h"

namespace winze {

/// What surrounds the graph of a program and speaks of its sizes: ranges, hints, guards, recorded
/// inputs. Keeps what it says before sizes change, and brings it in step afterwards.
class ProgramSizes {
 public:
  /// Before anything changes.
  explicit ProgramSizes(const ExportedProgram& program);

  /// Ranges and hints of symbols. Before metas are inferred, since proofs need the ranges.
  void update_symbols(ExportedProgram& program, const SizeChanges& changes) const;
  /// Ranges that inferring metas gave to symbols that stand for data.
  void refresh_ranges(ExportedProgram& program) const;
  /// Drops guards that did no more than name a size of the example. Once the inputs have their new
  /// metas. \throws Error where a guard cannot hold any more.
  void update_guards(ExportedProgram& program) const;
  /// Drops the recorded inputs where they do not fit any more; false where there were none, or
  /// where they stay.
  bool drop_example_inputs(ExportedProgram& program) const;

 private:
  /// A user input as it was.
  struct Example {
    Node input;
    ScalarType dtype = ScalarType::float32;
    std::vector<std::optional<std::int64_t>> sizes;  ///< of the recorded input, where it is known
  };
  /// What the recorded inputs have where the new ones have a symbol, by symbol.
  [[nodiscard]] SymMap examples_of(const ExportedProgram& program,
                                   const SizeChanges& changes) const;
  void update_ranges(ExportedProgram& program, const SizeChanges& changes) const;
  void update_hints(ExportedProgram& program, const SizeChanges& changes) const;

  std::vector<Example> examples_;
  GuardReader guards_;
};

}  // namespace winze
