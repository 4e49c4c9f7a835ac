// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "winze/torch/code.h"
#include "winze/torch/result_keys.h"
#include "winze/torch/result_store.h"

namespace winze {

/// Which calls of a program's own graph a run makes, and of which it takes the results of an
/// earlier run.
struct RunPlan {
  enum class Step : std::uint8_t {
    run,
    keep,  ///< run, and keep the results
    take,  ///< the results are kept from an earlier run
    skip,  ///< nothing that runs needs the results
  };
  ResultStore* store = nullptr;
  std::vector<Step> steps;             ///< by instruction
  std::vector<std::uint32_t> numbers;  ///< by instruction: `ResultKey::number`
  std::size_t left_out = 0;            ///< calls that are not run
};

/// Plans a run from its end: what is returned or has an effect is needed, and so is what that takes
/// in, unless the store has it. O(instructions and operands). `keys` are those of the program whose
/// own graph `code` is made of; the store has begun the run.
[[nodiscard]] RunPlan plan_run(const Code& code, const std::vector<ResultKey>& keys,
                               ResultStore& store);

}  // namespace winze
