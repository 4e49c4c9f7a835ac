// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "winze/program/program.h"
#include "winze/support/string_map.h"

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
/// speak of inputs as `L['x'].size()[0]`, `L['n']` and, in containers, `L['xs'][1]['k']`: here
/// these are what the metas of the inputs say.
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
  [[nodiscard]] std::string with_symbols(std::string_view guard) const;

  SymbolicContext& symbols_;
  StringMap<const Meta*> inputs_;  ///< by name
};

}  // namespace winze
