// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "winze/program/program.h"
#include "winze/torch/host_value.h"

namespace winze {

/// Values of the symbols of a program, by name.
using SymbolValues = std::vector<std::pair<std::string, std::int64_t>>;

struct GenerateOptions {
  std::uint64_t seed = 0;
  /// Fixed by the user, such as `s0=7`; an Error where one is outside its range or not there.
  SymbolValues symbols;
  /// Symbol values are chosen so that all values of the graph together take at most so many bytes.
  std::uint64_t max_bytes = std::uint64_t{256} << 20U;
};

/// Inputs for one run, and how they came about.
struct GeneratedInputs {
  std::vector<HostValue> values;   ///< one for each user input, in the order of the placeholders
  SymbolValues symbols;            ///< sizes that were chosen
  std::string description;         ///< `inputs: generated, seed 0, draw 2, s0=3, s1=5`
  std::vector<std::string> notes;  ///< such as that an upper bound was not tried
};

/// Makes inputs for a program from the metas of its placeholders and from what the graph does with
/// them. The same seed gives the same numbers on every machine.
///
/// Draw 0 has the sizes that were exported with, the next ones both ends of the symbols' ranges,
/// primes, and so on. Integers that index something stay in its range, masks have both values, no
/// tensor is all zero.
class InputGenerator {
 public:
  /// Analyses the graph: O(nodes).
  explicit InputGenerator(const ExportedProgram& program, GenerateOptions options = {});
  ~InputGenerator();
  InputGenerator(const InputGenerator&) = delete;
  InputGenerator& operator=(const InputGenerator&) = delete;

  /// Number of different choices of symbol values; 1 where there are no symbols. Draw `n` has
  /// choice `n % size_count()`.
  [[nodiscard]] std::uint32_t size_count() const;
  /// An Error where an input cannot be made (a script object, an opaque type).
  [[nodiscard]] GeneratedInputs generate(std::uint32_t draw) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace winze
