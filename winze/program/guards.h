// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "winze/program/program.h"

namespace winze {

/// A comparison of integers, as a guard has it.
struct GuardRelation {
  SymExpr left;
  SymExpr right;
  std::string relation;  ///< `==`, `!=`, `<=`, `>=`, `<` or `>`
};

/// Whether it holds for all values within the ranges.
[[nodiscard]] Proof prove(SymbolicContext& symbols, const GuardRelation& relation);

/// Reads the guards that export records (`ExportedProgram::guards_code`). They are Python, and
/// speak of inputs as `L['x'].size()[0]` and `L['n']`: here these are what the metas of the inputs
/// say.
class GuardReader {
 public:
  /// Keeps the metas that the inputs have now.
  explicit GuardReader(const ExportedProgram& program);

  struct Result {
    std::vector<GuardRelation> relations;  ///< all of which the guard wants
    bool is_complete = true;               ///< false where there is more that only Python reads
  };
  [[nodiscard]] Result read(const std::string& guard) const;

 private:
  void read_comparison(std::string_view text, Result& result) const;

  SymbolicContext& symbols_;
  std::vector<std::pair<std::string, std::string>>
      names_;  ///< how an input is spelled, and its size
};

}  // namespace winze
