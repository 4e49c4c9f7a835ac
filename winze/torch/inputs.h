// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "winze/program/program.h"
#include "winze/torch/host_value.h"
#include "winze/torch/symbol_choices.h"

namespace winze {

struct GenerateOptions {
  std::uint64_t seed = 0;
  /// Fixed by the user, such as `s0=7`; an Error where one is outside its range or not there.
  SymbolValues symbols;
  /// Sizes are chosen so that all values of the graph together take at most so many bytes.
  std::uint64_t max_bytes = std::uint64_t{256} << 20U;
};

/// Inputs for one run, and how they came about.
struct GeneratedInputs {
  std::vector<HostValue> values;   ///< one for each of `user_inputs`
  SymbolValues symbols;            ///< sizes that were chosen
  std::vector<std::string> notes;  ///< what was left out, as of an upper end that needs much memory
  std::string description;         ///< `generated with seed 0, draw 2, s0=3, s1=5`
};

/// Makes inputs for a program from the metas of its placeholders and from what the graph does with
/// them. The same seed and draw give the same numbers on every machine.
///
/// Draw 0 has the sizes that were exported with; further ones have distinct primes, the upper and
/// the lower ends of the symbols' ranges, then these again with other numbers. Integers that index
/// something stay in its range, masks have both values, no tensor is all zero where it need not be.
class InputGenerator {
 public:
  /// Analyses the graph: O(nodes). An Error where a fixed symbol does not fit.
  explicit InputGenerator(const ExportedProgram& program, GenerateOptions options = {});
  ~InputGenerator();
  InputGenerator(const InputGenerator&) = delete;
  InputGenerator& operator=(const InputGenerator&) = delete;

  /// Number of different choices of sizes; 1 where none is dynamic. Draw `n` has choice
  /// `n % size_count()`.
  [[nodiscard]] std::uint32_t size_count() const;
  /// An Error that names the input where one cannot be made: a script object, a sparse tensor.
  [[nodiscard]] GeneratedInputs generate(std::uint32_t draw) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace winze
