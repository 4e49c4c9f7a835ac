// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "winze/effects/alias_analysis.h"
#include "winze/program/program.h"
#include "winze/shape/shape_env.h"
#include "winze/support/integer_map.h"

namespace winze {

/// The elements of small tensors of integers and truth values, as far as they are known before a
/// program runs: constants, and what is computed of them and of sizes. Element by element they are
/// expressions over the symbols of the program; a truth value is 0 or 1.
///
/// A tensor that anything writes to is not known. Made by going over the graphs once: O(nodes).
class KnownValues {
 public:
  using Elements = std::vector<SymExpr>;
  /// Larger tensors are not looked at.
  static constexpr std::int64_t most_elements = 256;

  /// `program` gives the contents of constants; null where there is none.
  KnownValues(Graph& root, const AliasAnalysis& aliases, const ExportedProgram* program);

  /// In row-major order; null where they are not known.
  [[nodiscard]] const Elements* of(Value value) const;

 private:
  void visit(const Node& node, const AliasAnalysis& aliases);
  void read_constant(const Node& placeholder, const ExportedProgram& program);
  void set(Value value, Elements elements);

  SymbolicContext& symbols_;
  IntegerMap<Elements> elements_;
};

}  // namespace winze
