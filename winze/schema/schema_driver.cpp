// SPDX-License-Identifier: Apache-2.0
// Prints what the operator table says of every operator, one JSON object a line, for tests that
// compare it with PyTorch.
#include <cstdio>
#include <iterator>
#include <string>

#include <fmt/format.h>

#include "winze/schema/op_registry.h"

namespace {

std::string condition_json(const winze::Op& op, const winze::EffectCondition& condition) {
  using Test = winze::EffectCondition::Test;
  if (condition.test == Test::always) return "null";
  return fmt::format(R"({{"test":"{}","argument":"{}"}})",
                     condition.test == Test::is_true ? "is_true" : "is_not_false",
                     op.schema.arguments[condition.argument].name);
}

std::string writes_json(const winze::Op& op) {
  std::string out;
  for (const winze::ArgumentWrite& write : op.effects.writes) {
    if (!out.empty()) out += ',';
    out += fmt::format(R"({{"argument":"{}","when":{}}})", op.schema.arguments[write.argument].name,
                       condition_json(op, write.when));
  }
  return out;
}

std::string aliases_json(const winze::Op& op) {
  static constexpr const char* kinds[] = {"view", "self", "maybe"};
  std::string out;
  for (const winze::ResultAlias& alias : op.effects.aliases) {
    if (!out.empty()) out += ',';
    out +=
        fmt::format(R"({{"result":{},"argument":"{}","kind":"{}"}})", alias.result,
                    op.schema.arguments[alias.argument].name, kinds[static_cast<int>(alias.kind)]);
  }
  return out;
}

void print_op(const winze::Op& op) {
  const winze::OpEffects& effects = op.effects;
  fmt::print(
      R"({{"name":"{}","target":"{}","writes":[{}],"aliases":[{}],"ordering":"{}","is_random":{},)",
      op.qualified_name, op.target(), writes_json(op), aliases_json(op),
      ordering_name(effects.ordering), effects.is_random);
  fmt::print(
      R"("random_when":{},"is_data_dependent":{},"has_dynamic_shape":{},"changes_metadata":{},)",
      condition_json(op, effects.random_when), effects.is_data_dependent, effects.has_dynamic_shape,
      effects.changes_metadata);
  fmt::print(
      R"("rebinds_storage":{},"is_uninitialized":{},"results_overlap":{},"runs_graphs":{},"is_unknown":{}}})"
      "\n",
      effects.rebinds_storage, effects.is_uninitialized, effects.results_overlap,
      effects.runs_graphs, effects.is_unknown);
}

}  // namespace

int main() {
  winze::OpRegistry registry;
  registry.for_each([&](winze::OpId id, std::string_view) { print_op(registry.get(id)); });
  return 0;
}
