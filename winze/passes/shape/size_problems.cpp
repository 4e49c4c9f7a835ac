// SPDX-License-Identifier: Apache-2.0
#include "winze/passes/shape/size_problems.h"

#include "winze/pass/program_checks.h"
#include "winze/program/program.h"
#include "winze/support/integer_map.h"
#include "winze/support/quote.h"

namespace winze {
namespace {

bool is_user_input(const Node& node) {
  if (!node.is_placeholder()) return false;
  const Argument role = node.argument(0);
  return role.kind() == ArgumentKind::input_spec &&
         node.graph().context().input_spec_of(role).kind == InputKind::user_input;
}

/// What to do about a problem that comes of `culprit`, which may be nothing.
std::string hint_of(const PropagationProblem& problem, const Node& culprit,
                    const Diagnostic& finding) {
  using Kind = PropagationProblem::Kind;
  if (culprit && is_user_input(culprit))
    return fmt::format("where it is that size too, change it with --input '{}=...'",
                       culprit.target());
  if (problem.kind == Kind::unknown) return finding.hint;
  const bool fixes_a_symbol = !finding.hint.empty();
  if (problem.kind == Kind::constraint && !fixes_a_symbol && !culprit)
    return "give its symbols ranges that prove it, as with --sym, or export the module anew with "
           "these sizes dynamic";
  return "a number that export wrote into the program came of the example's size: export the "
         "module anew with this size dynamic, or with the size that it is to have";
}

/// The finding at the call, or the input, from which the number came that the problem is about.
Diagnostic diagnostic_at(const PropagationProblem& problem, const Node& culprit,
                         const SizeLiterals& literals) {
  Diagnostic finding = diagnostic_of(problem);
  finding.hint = hint_of(problem, culprit, finding);
  if (!culprit || culprit == problem.node) return finding;
  Context& context = problem.node.graph().context();
  finding.notes.push_back(fmt::format("it came to light at {}{}", finding.node,
                                      finding.source.empty() ? "" : ", from " + finding.source));
  finding.node = culprit.str();
  finding.source.clear();
  if (const auto line = context.user_line(culprit.source())) finding.source = line->str();
  finding.message = culprit.is_call()
                        ? fmt::format("the {} in {} does not follow: {}", *literals.in(culprit),
                                      context.ops().qualified_name(culprit.op()), finding.message)
                        : fmt::format("{} still has the size {}: {}", quote(culprit.target()),
                                      *literals.size_of(culprit.value()), finding.message);
  return finding;
}

}  // namespace

void report_numbers(Graph& root, const SizeLiterals& literals, PassContext& context) {
  if (literals.empty()) return;
  context.warn(
      "the program was exported for one size where it takes another now: branches that Python took "
      "for that size, and numbers computed from it, stay as they are");
  constexpr std::size_t shown = 8;
  std::size_t count = 0;
  for (const Graph* graph : root.all_graphs()) {
    for (const Node call : graph->nodes()) {
      const std::optional<std::int64_t> number = literals.left_in(call);
      if (!number || ++count > shown) continue;
      const auto line = root.context().user_line(call.source());
      context.warn(
          "a size was {}, and {} stays as it was{}: that is right unless it means that size",
          *number, call, line ? fmt::format(", from {}", line->str()) : "");
    }
  }
  if (count > shown) context.warn("so do {} calls more", count - shown);
}

void throw_what_stands_in_the_way(Graph& root, const std::vector<PropagationProblem>& problems,
                                  SizeLiterals& literals) {
  if (problems.empty()) return;
  literals.trace(root);
  IntegerSet named;
  for (const PropagationProblem& problem : problems) named.insert(problem.node.key());
  std::vector<Diagnostic> findings;
  for (const PropagationProblem& problem : problems) {
    const bool is_of_sizes = problem.kind != PropagationProblem::Kind::unknown;
    const Node culprit = is_of_sizes ? literals.behind(problem.node) : Node();
    if (culprit && culprit != problem.node && !named.insert(culprit.key()).second) continue;
    findings.push_back(diagnostic_at(problem, culprit, literals));
  }
  throw Error(summary_of(findings, "the program does not fit the new sizes"));
}

}  // namespace winze
