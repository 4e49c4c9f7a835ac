// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "winze/program/program.h"
#include "winze/shape/shape_env.h"

namespace winze {

/// Conditions on sizes that hold wherever a run of the program comes through: the guards on its
/// inputs and what it asserts.
[[nodiscard]] std::vector<SymExpr> known_conditions(const ExportedProgram& program);

/// While it lives, conditions are assumed.
class KnownConditions {
 public:
  KnownConditions(ShapeEnv& env, std::span<const SymExpr> conditions);
  KnownConditions(const KnownConditions&) = delete;
  KnownConditions& operator=(const KnownConditions&) = delete;
  ~KnownConditions() { env_.forget_assumptions(assumed_before_); }

 private:
  ShapeEnv& env_;
  std::size_t assumed_before_;
};

}  // namespace winze
