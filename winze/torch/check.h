// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "winze/pass/pass_manager.h"
#include "winze/torch/compare.h"
#include "winze/torch/inputs.h"

namespace winze {

/// What of a lowering is checked on numbers.
enum class CheckMode : std::uint8_t {
  each,  ///< each pass that made edits, against the program before it; and the whole
  end,   ///< the whole alone
};

struct CheckOptions {
  CheckMode mode = CheckMode::each;
  CompareOptions compare;
  GenerateOptions generate;  ///< of inputs; its seed also is that of random operators
  /// On how many inputs each program is run; 0: on one where the program has no symbols (those
  /// stored in it, else generated), else on three with different sizes.
  std::uint32_t draws = 0;
  /// Once the runs took so long, passes are no longer checked one by one, only the whole.
  double budget_seconds = default_budget_seconds;
  /// Results of calls are kept for later runs, which then do not make the calls that compute the
  /// same of the same, until they take so many bytes.
  std::uint64_t reuse_bytes = default_reuse_bytes;
  int threads = 0;                     ///< for kernels; 0: leave
  std::vector<std::string> libraries;  ///< with operators, loaded first

  static constexpr double default_budget_seconds = 120;
  static constexpr std::uint64_t default_reuse_bytes = std::uint64_t{1} << 30U;
  static constexpr std::uint32_t default_draws = 3;
};

/// What a checked lowering did.
struct CheckOutcome {
  /// Of the passes. Where something departs, `error` names the pass and the first edit with which
  /// the program computes something else, with the graph's lines before and after it.
  Report report;
  std::size_t checked_passes = 0;
  bool checked_whole = false;      ///< the lowered program against the original
  std::size_t runs = 0;            ///< of programs
  std::size_t calls = 0;           ///< of operators, that these runs consist of
  std::size_t reused_calls = 0;    ///< of them not made, since an earlier run had the results
  double seconds = 0;              ///< spent on running and comparing
  std::vector<std::string> notes;  ///< on what inputs; what was not checked, and why

  /// One line: what was checked, at what cost.
  [[nodiscard]] std::string summary() const {
    if (checked_passes == 0 && !checked_whole && report.edits == 0)
      return "checked on numbers: nothing, since nothing was edited";
    const std::string what =
        checked_passes == 0
            ? "the whole"
            : fmt::format("{} {}", checked_passes, checked_passes == 1 ? "pass" : "passes");
    std::string text =
        fmt::format("checked on numbers: {}, in {} runs that took {:.3f} s", what, runs, seconds);
    if (reused_calls != 0) text += fmt::format(", {} of {} calls reused", reused_calls, calls);
    return text;
  }
};

/// Runs a pipeline over a program and holds it to what the program computed before, on numbers.
///
/// The program is run before the first pass; then after each pass that made edits, or at the end
/// alone, and what it returns and changes is compared (`compare`). Weights are not copied: both
/// sides read the same bytes. Calls that compute the same of the same are made once, as far as
/// memory allows (`ResultKeys`). Outputs may stop sharing storage by a pass that declares it
/// (`PassInfo::changes_output_aliasing`). A program that no longer runs departs too, and so does
/// one that draws fewer random numbers.
///
/// On a departure the pipeline is run again on copies of the original, stopped after some number of
/// edits, to find by bisection one that makes the difference: log2(edits) further runs. In mode
/// `each` the program is given back as it was before the pass, in mode `end` as it was at first.
///
/// For one thread at a time: others wait. \throws Error where the original itself cannot be run.
[[nodiscard]] CheckOutcome run_checked(const Pipeline& pipeline, const PassManagerOptions& manager,
                                       ExportedProgram& program, const CheckOptions& options);

}  // namespace winze
