// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "winze/program/program.h"
#include "winze/torch/compare.h"
#include "winze/torch/input_file.h"
#include "winze/torch/inputs.h"
#include "winze/torch/torch_interface.h"

namespace winze {

struct CompareProgramsOptions {
  CompareOptions compare;
  GenerateOptions generate;  ///< of inputs; its seed also is that of random operators
  /// Given inputs; empty: those stored in the program where no symbol is fixed, then generated
  /// ones.
  std::vector<InputCase> cases;
  /// How many times inputs are generated; unset: once for each choice of sizes, and at least
  /// `default_draws` times.
  std::uint32_t draws = 0;
  int threads = 0;  ///< for kernels; 0: leave
  /// Judge what departs on numbers alone by a run of the original in float64.
  bool reference = true;

  static constexpr std::uint32_t default_draws = 3;
};

/// One pair of runs.
struct ComparedRun {
  std::string
      inputs;  ///< where they are from: `stored in the program`, `generated with seed 0, draw 2`
  std::string skipped;   ///< why there was nothing to compare: the original stops on these inputs
  CompareReport report;  ///< where not skipped
};

/// The verdict on two programs.
struct ProgramsReport {
  std::string problem;  ///< the signatures do not match; nothing was run then
  std::vector<ComparedRun> runs;
  std::vector<std::string> notes;  ///< what was not compared, and why

  /// At least one pair of runs was compared, and none departs.
  [[nodiscard]] bool is_equal() const;
  /// Pairs of runs that were compared.
  [[nodiscard]] std::size_t compared() const;
  /// The first run that departs, or null.
  [[nodiscard]] const ComparedRun* first_departure() const;
  /// For people: what was compared and the verdict; with `every_value` a line for each value.
  [[nodiscard]] std::string str(bool every_value = false) const;
};

/// Runs two programs on the same inputs and compares what they return and change. Inputs are
/// matched by position. Where the calls that draw random numbers are not the same in the same
/// order, values that depend on them are compared only by facts that hold for every draw. Inputs on
/// which `a` stops with an error are skipped; where it stops by an assertion of its own, `b` has to
/// stop too. Both are of one context and have their weights at hand.
/// \throws Error where a program cannot be made ready to run, or inputs cannot be made.
[[nodiscard]] ProgramsReport compare_programs(const ExportedProgram& a, const ExportedProgram& b,
                                              const CompareProgramsOptions& options = {});

/// `compare_programs` as `winze compare` asks for it.
[[nodiscard]] CompareOutcome compare_as_requested(const ExportedProgram& a,
                                                  const ExportedProgram& b,
                                                  const CompareRequest& request);

}  // namespace winze
