// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "winze/torch/check.h"
#include "winze/torch/executor.h"
#include "winze/torch/host_value.h"
#include "winze/torch/result_keys.h"
#include "winze/torch/result_store.h"
#include "winze/torch/value_facts.h"

namespace winze {

/// Holds programs to what an original computes on some inputs.
class NumericJudge {
 public:
  /// Chooses inputs and runs the original on them; it must outlive the judge and stay as it is.
  /// \throws Error where it cannot be made ready to run.
  NumericJudge(const ExportedProgram& original, const CheckOptions& options);

  /// Runs a program and says how it departs from what was accepted last; nothing where it does not.
  /// With `may_unshare` outputs may have stopped sharing storage.
  [[nodiscard]] std::optional<Diagnostic> judge(const ExportedProgram& program, bool may_unshare);
  /// What the program of the last `judge` computed is what the next ones are compared with.
  void accept();
  /// Makes the original the measure again.
  void reset() { accepted_ = original_values_; }

  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  [[nodiscard]] std::size_t runs() const { return runs_; }
  /// Calls of all runs, and how many of them were not made.
  [[nodiscard]] std::size_t calls() const { return calls_; }
  [[nodiscard]] std::size_t reused_calls() const { return reused_calls_; }
  /// How many results were not kept since they did not fit into the budget.
  [[nodiscard]] std::size_t results_dropped() const { return store_.dropped(); }
  /// Spent on runs and comparisons.
  [[nodiscard]] double seconds() const { return seconds_; }

 private:
  struct Case {
    std::string title;
    std::vector<HostValue> inputs;
    /// `NamedValue::place` of values that depend on memory that is not initialized.
    std::vector<std::string> undefined;
  };
  /// What one program computes: for each case what it left behind, and the numbers it draws.
  struct Values {
    std::vector<RunValues> runs;
    std::vector<std::string> draws;
  };

  void choose_cases();
  void add_case(std::string title, std::vector<HostValue> inputs);
  std::optional<Diagnostic> judge_values(const ExportedProgram& program, bool may_unshare);
  [[nodiscard]] CompareReport compare_case(std::size_t index, const ExportedProgram& program,
                                           RunValues& actual, bool may_unshare);
  [[nodiscard]] std::vector<std::string> find_undefined(RunValues& values,
                                                        const std::vector<HostValue>& inputs);
  void judge_in_float64(std::size_t index, CompareReport& report, const RunValues& expected,
                        const RunValues& actual);
  void note(std::string text);
  [[nodiscard]] RunValues run(Executor& executor, const std::vector<HostValue>& inputs,
                              std::size_t index);
  [[nodiscard]] ExecutorOptions executor_options();

  const ExportedProgram* original_;
  const CheckOptions* options_;
  ResultKeys keys_;
  ResultStore store_;
  ValueFacts original_facts_;
  Executor original_executor_;
  std::vector<Case> cases_;
  Values original_values_;
  Values accepted_;
  Values last_;
  std::optional<ExportedProgram> precise_program_;
  std::unique_ptr<Executor> precise_;
  bool has_no_reference_ = false;
  std::vector<std::string> notes_;
  std::size_t runs_ = 0;
  std::size_t calls_ = 0;
  std::size_t reused_calls_ = 0;
  double seconds_ = 0;
};

}  // namespace winze
