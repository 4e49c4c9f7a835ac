// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "winze/pass/pipeline.h"
#include "winze/pass/report.h"

namespace winze {

struct ExportedProgram;

/// What is checked after each pass. Before the first and after the last the whole program is,
/// unless `none`.
enum class VerifyEach : std::uint8_t {
  none,
  changed,  ///< the nodes that were edited and their neighbours, metas that follow from them
            ///< inferred anew: costs time for the edits only
  whole,    ///< the whole program, at every level, all metas inferred anew; at both ends too
};

/// How a program is shown around a pass that changed it.
enum class PrintChange : std::uint8_t {
  none,
  diff,  ///< the lines that differ, with some around them
  full,  ///< the whole program
};

/// The instruments of a run.
struct PassManagerOptions {
  VerifyEach verify_each = VerifyEach::changed;
  std::vector<std::string> print_before;  ///< names of passes, or `all`
  std::vector<std::string> print_after;
  PrintChange print_on_change = PrintChange::none;
  bool print_on_failure = false;  ///< the program as the failing pass left it
  /// Stop after so many edits of the whole run: the program is as after the n-th.
  std::optional<std::uint64_t> stop_after_edits;
  /// Where a reproducer goes when a pass fails: program and pipeline in one text file. Empty: none.
  std::filesystem::path reproducer;
  /// Where prints go; standard error when unset.
  std::function<void(std::string_view)> print;
  /// Asked after each pass that made edits, once what it left is found valid: gives what is wrong
  /// with the program by another measure, such as numbers. The pass then failed.
  std::function<std::optional<Diagnostic>(const PassInfo& info)> check_pass;
  /// Told before each pass: its index and the number of passes.
  std::function<void(std::size_t index, std::size_t count, const PassInfo& info)> progress;
};

/// Runs a pipeline over programs.
class PassManager {
 public:
  /// \throws Error where an option names a pass that is not in the pipeline.
  explicit PassManager(Pipeline pipeline, PassManagerOptions options = {});

  [[nodiscard]] const Pipeline& pipeline() const { return pipeline_; }

  /// Runs the pipeline. When a pass fails (throws, leaves an invalid graph, or an operator that it
  /// promised to leave none of) the program is given back as it was before that pass, the later
  /// passes are not run, and the report holds the error.
  [[nodiscard]] Report run(ExportedProgram& program) const;

 private:
  Pipeline pipeline_;
  PassManagerOptions options_;
};

}  // namespace winze
