// SPDX-License-Identifier: Apache-2.0
#include "winze/passes/shape/infer_shapes.h"

#include <algorithm>

#include <tsl/robin_map.h>

#include "winze/pass/program_checks.h"
#include "winze/passes/shape/program_sizes.h"
#include "winze/passes/shape/size_changes.h"
#include "winze/program/program.h"
#include "winze/schema/op_ids.h"
#include "winze/shape/meta_check.h"
#include "winze/shape/meta_propagation.h"
#include "winze/shape/meta_substitution.h"

namespace winze {
namespace {

std::uint64_t key_of(const Node& node) {
  return std::uint64_t{node.graph().serial()} << 32U | node.id().index;
}

/// What a program relied on before its sizes changed: it goes on to.
class Reliances {
 public:
  explicit Reliances(Graph& root) {
    ShapeRules& rules = ShapeRules::of(root.context());
    Inference inference;
    for (const CallToInfer& to_infer : calls_to_infer(root)) {
      const Node& call = to_infer.node;
      try {
        rules.infer(call, inference);
      } catch (const Error&) {
        refused_.emplace(key_of(call), true);
      }
      for (const ShapeConstraint& constraint : inference.constraints)
        conditions_[key_of(call)].push_back(constraint.condition);
    }
  }

  [[nodiscard]] bool has(const PropagationProblem& problem, MetaSubstitution& now) const {
    if (problem.kind == PropagationProblem::Kind::refused)
      return refused_.contains(key_of(problem.node));
    const auto found = conditions_.find(key_of(problem.node));
    if (problem.kind != PropagationProblem::Kind::constraint || found == conditions_.end())
      return false;
    return std::ranges::any_of(
        found->second, [&](SymExpr condition) { return now(condition) == problem.condition; });
  }

 private:
  tsl::robin_map<std::uint64_t, std::vector<SymExpr>> conditions_;
  tsl::robin_map<std::uint64_t, bool> refused_;
};

/// Slices up to what was the end of a static size. They may have been meant to take all of it.
class WholeSlices {
 public:
  explicit WholeSlices(const Graph& root) : symbols_(root.context().symbols()) {
    for (const Graph* graph : root.all_graphs()) {
      for (const Node slice : graph->find_nodes(op::aten_slice_Tensor)) {
        const auto size = sliced_size(slice);
        if (size && size->is_constant() && end_of(slice) == size->constant())
          slices_.push_back(slice);
      }
    }
  }

  /// Warns where there is more to cut off now.
  void report(PassContext& context) const {
    const ShapeEnv env(symbols_);
    for (const Node& slice : slices_) {
      const auto size = sliced_size(slice);
      if (!size || env.known_at_least(end_of(slice), *size)) continue;
      context.warn("{} ended with its input, and of {} elements now takes {} at most", slice,
                   symbols_.str(*size), end_of(slice));
    }
  }

 private:
  static std::int64_t end_of(const Node& slice) {
    const Argument end = slice.argument_or_default(3);
    return end.kind() == ArgumentKind::integer ? end.integer() : -1;
  }
  static std::optional<SymInt> sliced_size(const Node& slice) {
    const Value input = slice.argument_value(0);
    const Argument dim = slice.argument_or_default(1);
    if (!input || !input.is_tensor() || dim.kind() != ArgumentKind::integer) return std::nullopt;
    const Sizes sizes = input.meta().tensor.sizes;
    const auto rank = static_cast<std::int64_t>(sizes.size());
    const std::int64_t at = dim.integer() < 0 ? dim.integer() + rank : dim.integer();
    if (at < 0 || at >= rank) return std::nullopt;
    return sizes[static_cast<std::size_t>(at)];
  }

  SymbolicContext& symbols_;
  std::vector<Node> slices_;
};

void throw_if_any(const std::vector<PropagationProblem>& problems, std::string what) {
  std::vector<Diagnostic> findings;
  findings.reserve(problems.size());
  for (const PropagationProblem& problem : problems) {
    Diagnostic& finding = findings.emplace_back(diagnostic_of(problem));
    if (finding.hint.empty() && problem.kind == PropagationProblem::Kind::refused)
      finding.hint = "numbers that export wrote into the program for the example's sizes stay";
  }
  if (!findings.empty()) throw Error(summary_of(findings, std::move(what)));
}

void infer_for_new_sizes(Graph& graph, PassContext& context, const InferShapesOptions& options) {
  ExportedProgram& program = context.edit_program();
  const SizeChanges changes = read_size_changes(program, options.sym, options.input);
  const Reliances reliances(graph);
  const WholeSlices slices(graph);
  const ProgramSizes sizes(program);
  MetaSubstitution substitution(program.context(), changes.replacements);

  if (!changes.replacements.empty()) substitution.apply(graph);
  sizes.update_symbols(program, changes);
  MetaPropagation propagation(graph);
  propagation.set_compare_offsets(records_offsets(program));
  for (const auto& [input, meta] : changes.inputs)
    propagation.set_meta(input.value(), program.context().meta(meta));
  std::vector<PropagationProblem> problems = propagation.run_all().problems;
  std::erase_if(problems, [&](const PropagationProblem& problem) {
    return reliances.has(problem, substitution);
  });
  throw_if_any(problems, "the program does not fit the new sizes");

  sizes.update_guards(program);
  for (const std::string& warning : changes.warnings) context.warn("{}", warning);
  slices.report(context);
  if (sizes.drop_example_inputs(program))
    context.warn("the recorded sample inputs are dropped: they do not fit the new sizes");
}

}  // namespace

const OptionTable& infer_shapes_options() {
  static const OptionTable table = OptionTable::describe<InferShapesOptions>({
      option("sym", &InferShapesOptions::sym,
             "New values or ranges of symbols: `\"s0=7\"`, `\"s0=[2, 64]\"`"),
      option("input", &InferShapesOptions::input,
             "New types of inputs: `\"x=f32[s0, 128]\"`; a symbol that the program does not have "
             "makes a size dynamic, from 2 on unless `sym` gives a range"),
  });
  return table;
}

void infer_shapes(Graph& graph, PassContext& context) {
  const auto& options = context.options<InferShapesOptions>();
  if (!options.sym.empty() || !options.input.empty())
    return infer_for_new_sizes(graph, context, options);
  MetaPropagation propagation(graph);
  propagation.set_compare_offsets(!context.has_program() || records_offsets(context.program()));
  Propagation result = propagation.run_all();
  // What has to be assumed had to be before.
  std::erase_if(result.problems, [](const PropagationProblem& problem) {
    return problem.kind == PropagationProblem::Kind::constraint;
  });
  throw_if_any(result.problems, "not every meta can be inferred");
}

}  // namespace winze
