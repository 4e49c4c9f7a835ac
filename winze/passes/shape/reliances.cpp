// SPDX-License-Identifier: Apache-2.0
#include "winze/passes/shape/reliances.h"

#include <algorithm>

#include "winze/shape/meta_check.h"
#include "winze/shape/shape_rules.h"

namespace winze {

Reliances::Reliances(Graph& root)
    : context_(root.context()), env_(ShapeRules::of(root.context()).env()) {
  ShapeRules& rules = ShapeRules::of(root.context());
  Inference inference;
  for (const CallToInfer& to_infer : calls_to_infer(root)) {
    const Node& call = to_infer.node;
    try {
      rules.infer(call, inference);
    } catch (const Error&) {
      refused_.emplace(call.key(), true);
    }
    for (const ShapeConstraint& constraint : inference.constraints)
      conditions_[call.key()].push_back(constraint.condition);
    add_data_symbols(inference);
  }
}

bool Reliances::has(const PropagationProblem& problem, MetaSubstitution& now) const {
  if (problem.kind == PropagationProblem::Kind::refused)
    return refused_.contains(problem.node.key());
  const auto found = conditions_.find(problem.node.key());
  if (problem.kind != PropagationProblem::Kind::constraint || found == conditions_.end())
    return false;
  return std::ranges::any_of(
      found->second, [&](SymExpr condition) { return now(condition) == problem.condition; });
}

void Reliances::add_data_symbols(const Inference& inference) {
  for (const MetaId id : inference.metas) {
    const Meta& meta = context_.meta(id);
    if (!meta.is_tensor()) continue;
    for (const SymInt size : meta.tensor.sizes) {
      if (!env_.is_unbacked(size) || !seen_.insert(size).second) continue;
      if (env_.symbols().is_symbol(size) && inference.constraints.empty()) renewable_.insert(size);
    }
  }
}

}  // namespace winze
