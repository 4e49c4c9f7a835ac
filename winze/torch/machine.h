// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "winze/torch/code.h"
#include "winze/torch/executor.h"

namespace winze {

struct RunPlan;

/// Runs compiled graphs.
class Machine {
 public:
  explicit Machine(RunObserver* observer) : observer_(observer) {}

  /// Runs `code` on its inputs and gives what it returns. With a plan some of its calls are not
  /// made. \throws Error with the node and the user's source line.
  std::vector<c10::IValue> run(const Code& code, std::vector<c10::IValue> inputs,
                               const RunPlan* plan = nullptr);

  /// What autocast was set to where a graph enters it, innermost last.
  struct AutocastState {
    c10::DeviceType device;
    bool enabled;
    at::ScalarType dtype;
    bool cache_enabled;
  };
  std::vector<AutocastState> autocast_states;

  /// What memory that operators such as `empty` leave as it was is filled with.
  UninitializedFill fill = UninitializedFill::none;

 private:
  template <bool observed, bool planned>
  void run_instructions(const Code& code, std::vector<c10::IValue>& registers,
                        std::size_t& position, const RunPlan* plan);
  bool leave_out(const Code& code, std::size_t position, const RunPlan& plan,
                 std::vector<c10::IValue>& registers);
  void store_results(const Code& code, const Instruction& instruction,
                     std::vector<c10::IValue>& registers, Stack& stack);
  void observe(const Code& code, const Instruction& instruction, Stack& stack);

  RunObserver* observer_;
};

}  // namespace winze
