// SPDX-License-Identifier: Apache-2.0
#include "winze/effects/call_effects.h"

#include <algorithm>

#include <tsl/robin_set.h>

#include "winze/effects/call_arguments.h"
#include "winze/schema/op.h"

namespace winze {
namespace {

bool is_false(const Argument& argument) {
  switch (argument.kind()) {
    case ArgumentKind::boolean:
      return !argument.boolean();
    case ArgumentKind::integer:
      return argument.integer() == 0;
    case ArgumentKind::floating:
      return argument.floating() == 0;
    default:
      return false;
  }
}

/// An operator in a graph without its schema's own writes: these go to copies.
bool runs_on_copies(const Op& op) {
  return op.qualified_name == "higher_order.auto_functionalized" ||
         op.qualified_name == "higher_order.auto_functionalized_v2";
}

CallFacts facts_of_op(const OpEffects& effects) {
  return {.writes = effects.writes_anything(),
          .changes_metadata = effects.changes_metadata,
          .is_random = effects.is_random,
          .is_unknown = effects.is_unknown,
          .ordering = effects.ordering};
}

}  // namespace

void CallFacts::add(const CallFacts& other) {
  writes = writes || other.writes;
  changes_metadata = changes_metadata || other.changes_metadata;
  is_random = is_random || other.is_random;
  is_unknown = is_unknown || other.is_unknown;
  ordering = std::max(ordering, other.ordering);
}

bool holds(const EffectCondition& condition, Node call) {
  if (condition.is_always() || condition.argument >= call.argument_count()) return true;
  const Argument argument = call.argument_or_default(condition.argument);
  switch (condition.test) {
    case EffectCondition::Test::always:
      return true;
    case EffectCondition::Test::is_true:
      return !argument.is_none() && !is_false(argument);
    case EffectCondition::Test::is_not_false:
      return !is_false(argument);
  }
  return true;
}

CallFacts CallEffects::facts(Node node) {
  CallFacts facts;
  if (!node.is_call()) return facts;
  const OpEffects& effects = context_->ops().get(node.op()).effects;
  if (effects.is_pure()) return facts;
  facts = facts_of_op(effects);
  facts.is_random = effects.is_random && holds(effects.random_when, node);
  if (!effects.is_unknown) {
    facts.writes = false;
    for (const ArgumentWrite& write : effects.writes) {
      if (facts.writes || !holds(write.when, node)) continue;
      for_each_value(node, node.argument(write.argument), [&](Value) { facts.writes = true; });
    }
  }
  if (effects.runs_graphs) add_bodies(node, facts);
  return facts;
}

void CallEffects::add_bodies(Node node, CallFacts& facts) {
  for_each_body(node, [&](Graph& body) { facts.add(body_facts(body)); });
  const bool on_copies = runs_on_copies(context_->ops().get(node.op()));
  for (std::uint32_t i = 0; i < node.argument_count(); ++i) {
    for_each_leaf(node, node.argument(i), [&](const Argument& leaf) {
      if (leaf.kind() != ArgumentKind::op) return;
      CallFacts run = facts_of_op(context_->ops().get(leaf.op()).effects);
      if (on_copies) run.writes = run.changes_metadata = false;
      facts.add(run);
    });
  }
}

// Graphs nest at most as deep as the IR allows, so the recursion is bounded.
const CallFacts& CallEffects::body_facts(Graph& body) {
  if (const auto found = bodies_.find(&body); found != bodies_.end()) return found->second;
  CallFacts facts;
  for (Node node : body.nodes()) {
    if (node.is_call()) facts.add(this->facts(node));
  }
  return bodies_.emplace(&body, facts).first->second;
}

std::vector<Value> CallEffects::writes(Node node) {
  std::vector<Value> written;
  if (!facts(node).writes) return written;
  const OpEffects& effects = context_->ops().get(node.op()).effects;
  tsl::robin_set<std::uint32_t> seen;
  const auto add = [&](Value value) {
    if (seen.insert(value.id().index).second) written.push_back(value);
  };
  if (effects.is_unknown || effects.runs_graphs) {
    for_each_input(node, [&](Value value) {
      const ValueKind kind = value.meta().kind;
      if (kind == ValueKind::tensor || kind == ValueKind::unknown ||
          kind == ValueKind::custom_object) {
        add(value);
      }
    });
    return written;
  }
  for (const ArgumentWrite& write : effects.writes) {
    if (holds(write.when, node)) for_each_value(node, node.argument(write.argument), add);
  }
  return written;
}

}  // namespace winze
