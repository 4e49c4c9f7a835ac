// SPDX-License-Identifier: Apache-2.0
#include "winze/shape/known_conditions.h"

#include "winze/program/guards.h"
#include "winze/schema/op_ids.h"

namespace winze {

std::vector<SymExpr> known_conditions(const ExportedProgram& program) {
  std::vector<SymExpr> conditions;
  const GuardReader reader(program);
  for (const std::string& guard : program.guards_code) {
    const std::vector<SymExpr> wanted = reader.read(guard).conditions;
    conditions.insert(conditions.end(), wanted.begin(), wanted.end());
  }
  for (const Node assertion : program.graph->find_nodes(op::aten__assert_scalar_default)) {
    if (!assertion.argument(0).is_value()) continue;
    const Meta& meta = assertion.argument_value(0).meta();
    if (meta.kind == ValueKind::sym_bool && meta.has_expression)
      conditions.push_back(meta.expression);
  }
  return conditions;
}

KnownConditions::KnownConditions(ShapeEnv& env, std::span<const SymExpr> conditions)
    : env_(env), assumed_before_(env.assumption_count()) {
  for (const SymExpr condition : conditions) env_.assume(condition);
}

}  // namespace winze
