// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "winze/shape/meta_propagation.h"
#include "winze/shape/meta_substitution.h"
#include "winze/support/integer_map.h"

namespace winze {

/// What a program relied on before its sizes changed: it goes on to.
class Reliances {
 public:
  /// Runs the shape rules of all calls. O(nodes).
  explicit Reliances(Graph& root);

  /// The sizes that depend on data and had no narrower range than the sizes of operands allowed, as
  /// an assertion gives one.
  [[nodiscard]] const SymSet& renewable() const { return renewable_; }
  /// Was the problem there before? `now` turns what was said of the old sizes into the new ones.
  [[nodiscard]] bool has(const PropagationProblem& problem, MetaSubstitution& now) const;

 private:
  void add_data_symbols(const Inference& inference);

  const Context& context_;
  const ShapeEnv& env_;
  SymSet seen_;
  SymSet renewable_;
  IntegerMap<std::vector<SymExpr>> conditions_;  // by call
  IntegerMap<bool> refused_;                     // by call
};

}  // namespace winze
