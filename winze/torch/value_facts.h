// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "winze/program/program.h"
#include "winze/support/string_map.h"
#include "winze/torch/compare.h"
#include "winze/torch/rounding_depths.h"

namespace winze {

/// What the graph of a program tells about the values that its runs leave behind.
class ValueFacts {
 public:
  /// O(nodes).
  explicit ValueFacts(const ExportedProgram& program);

  /// The calls that draw random numbers, in order, each as a text that tells what it draws: two
  /// programs with equal lists draw the same numbers from the same seed.
  [[nodiscard]] const std::vector<std::string>& draws() const { return draws_; }
  /// Sets the depths of values and, where `draws_otherwise`, which of them depend on random
  /// numbers.
  void annotate(RunValues& run, bool draws_otherwise) const;

 private:
  struct Fact {
    double depth = 1;
    bool is_random = false;
  };
  void add_output_facts(const ExportedProgram& program, const RoundingDepths& depths,
                        const std::vector<bool>& random);

  std::vector<std::string> draws_;
  std::vector<Fact> outputs_;  ///< of the values that are returned
  std::vector<Fact> inputs_;   ///< of the user inputs
  StringMap<Fact> buffers_;    ///< by name
};

/// Where the calls that draw in one program are a part of those in another, so that some were
/// dropped and none replaced: a sentence that says so and names the operator of one that is gone.
/// Nothing otherwise.
[[nodiscard]] std::optional<std::string> lost_draws(std::vector<std::string> before,
                                                    std::vector<std::string> after);

/// Marks the values that two runs of one program, on the same inputs but with other numbers in
/// memory that is not initialized (`UninitializedFill`), do not agree in. True where there are any.
bool mark_undefined(RunValues& run, const RunValues& with_other_fill);

/// Adds to each of two runs the buffers that only the other one may write to, as its program holds
/// them.
void complete_state(RunValues& a, const ExportedProgram& program_a, RunValues& b,
                    const ExportedProgram& program_b);

}  // namespace winze
