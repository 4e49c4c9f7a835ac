// SPDX-License-Identifier: Apache-2.0
#include "winze/passes/shape/infer_shapes.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "winze/pass/program_checks.h"
#include "winze/passes/shape/program_sizes.h"
#include "winze/passes/shape/size_changes.h"
#include "winze/passes/shape/size_literals.h"
#include "winze/program/program.h"
#include "winze/schema/op_ids.h"
#include "winze/shape/known_conditions.h"
#include "winze/shape/meta_check.h"
#include "winze/shape/meta_propagation.h"
#include "winze/shape/meta_substitution.h"
#include "winze/support/integer_map.h"
#include "winze/support/quote.h"

namespace winze {
namespace {

/// What a program relied on before its sizes changed: it goes on to.
class Reliances {
 public:
  explicit Reliances(Graph& root)
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

  /// The sizes that depend on data and had no narrower range than the sizes of operands allowed, as
  /// an assertion gives one.
  [[nodiscard]] const SymSet& renewable() const { return renewable_; }

  [[nodiscard]] bool has(const PropagationProblem& problem, MetaSubstitution& now) const {
    if (problem.kind == PropagationProblem::Kind::refused)
      return refused_.contains(problem.node.key());
    const auto found = conditions_.find(problem.node.key());
    if (problem.kind != PropagationProblem::Kind::constraint || found == conditions_.end())
      return false;
    return std::ranges::any_of(
        found->second, [&](SymExpr condition) { return now(condition) == problem.condition; });
  }

 private:
  void add_data_symbols(const Inference& inference) {
    for (const MetaId id : inference.metas) {
      const Meta& meta = context_.meta(id);
      if (!meta.is_tensor()) continue;
      for (const SymInt size : meta.tensor.sizes) {
        if (!env_.is_unbacked(size) || !seen_.insert(size).second) continue;
        if (env_.symbols().is_symbol(size) && inference.constraints.empty())
          renewable_.insert(size);
      }
    }
  }

  const Context& context_;
  const ShapeEnv& env_;
  SymSet seen_;
  SymSet renewable_;
  IntegerMap<std::vector<SymExpr>> conditions_;
  IntegerMap<bool> refused_;
};

/// Calls that take a number of the elements of a dimension, which had a static size: they may have
/// been meant to take all of them, or a part that follows the size.
class PartsByNumber {
 public:
  explicit PartsByNumber(Graph& root) : symbols_(root.context().symbols()) {
    for (const Graph* graph : root.all_graphs()) {
      for (const Place& place : places) {
        for (const Node call : graph->find_nodes(place.op)) {
          const auto size = size_of(call, place);
          const std::int64_t count = count_of(call, place);
          if (size && size->is_constant() && count > 1 && count <= size->constant())
            parts_.push_back({call, &place, size->constant()});
        }
      }
    }
  }

  /// Warns where the size is another now.
  void report(PassContext& context) const {
    for (const Part& part : parts_) {
      const auto size = size_of(part.call, *part.place);
      if (!size || *size == SymInt(part.size_before)) continue;
      context.warn("{} takes {} elements, of {} now and of {} before", part.call,
                   count_of(part.call, *part.place), symbols_.str(*size), part.size_before);
    }
  }

 private:
  /// The arguments that are the dimension and the number.
  struct Place {
    OpId op;
    std::uint32_t dim;
    std::uint32_t count;
  };
  static constexpr std::array<Place, 3> places{{{op::aten_slice_Tensor, 1, 3},
                                                {op::aten_narrow_default, 1, 3},
                                                {op::aten_split_Tensor, 2, 1}}};
  struct Part {
    Node call;
    const Place* place;
    std::int64_t size_before;
  };

  static std::int64_t count_of(const Node& call, const Place& place) {
    const Argument count = call.argument_or_default(place.count);
    return count.kind() == ArgumentKind::integer ? count.integer() : -1;
  }
  static std::optional<SymInt> size_of(const Node& call, const Place& place) {
    const Value input = call.argument_value(0);
    const Argument dim = call.argument_or_default(place.dim);
    if (!input || !input.is_tensor() || dim.kind() != ArgumentKind::integer) return std::nullopt;
    const Sizes sizes = input.meta().tensor.sizes;
    const auto rank = static_cast<std::int64_t>(sizes.size());
    const std::int64_t at = dim.integer() < 0 ? dim.integer() + rank : dim.integer();
    if (at < 0 || at >= rank) return std::nullopt;
    return sizes[static_cast<std::size_t>(at)];
  }

  SymbolicContext& symbols_;
  std::vector<Part> parts_;
};

/// The static sizes that inputs had and do not have any more.
std::vector<std::int64_t> sizes_that_went(const Context& context, const SizeChanges& changes) {
  std::vector<std::int64_t> numbers;
  for (const auto& [input, meta] : changes.inputs) {
    const Sizes before = input.value().meta().tensor.sizes;
    const Sizes now = context.meta(meta).tensor.sizes;
    for (std::size_t dim = 0; dim < std::min(before.size(), now.size()); ++dim) {
      if (before[dim].is_constant() && before[dim] != now[dim])
        numbers.push_back(before[dim].constant());
    }
  }
  return numbers;
}

/// Warns of numbers that may mean a size that is another now, where nothing contradicts them.
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

/// What keeps the program from the new sizes: each number once, at the call that it stands in, and
/// not what follows from it.
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

/// While it lives, ranges of symbols that stand for data follow the new sizes.
class RenewedRanges {
 public:
  RenewedRanges(ShapeEnv& env, SymSet symbols) : env_(env) {
    env_.renew_ranges(std::move(symbols));
  }
  RenewedRanges(const RenewedRanges&) = delete;
  RenewedRanges& operator=(const RenewedRanges&) = delete;
  ~RenewedRanges() { env_.renew_ranges({}); }

 private:
  ShapeEnv& env_;
};

void infer_for_new_sizes(Graph& graph, PassContext& context, const InferShapesOptions& options) {
  ExportedProgram& program = context.edit_program();
  const SizeChanges changes = read_size_changes(program, options.sym, options.input);
  SizeLiterals literals(sizes_that_went(program.context(), changes));
  const Reliances reliances(graph);
  const PartsByNumber parts(graph);
  const ProgramSizes sizes(program);
  MetaSubstitution substitution(program.context(), changes.replacements);

  std::vector<SymExpr> conditions = known_conditions(program);
  for (SymExpr& condition : conditions) condition = substitution(condition);
  if (!changes.replacements.empty()) substitution.apply(graph);
  sizes.update_symbols(program, changes);
  ShapeEnv& env = ShapeRules::of(program.context()).env();
  const RenewedRanges renewed(env, reliances.renewable());
  const KnownConditions known(env, conditions);
  MetaPropagation propagation(graph);
  propagation.set_compare_offsets(records_offsets(program));
  for (const auto& [input, meta] : changes.inputs)
    propagation.set_meta(input.value(), program.context().meta(meta));
  std::vector<PropagationProblem> problems = propagation.run_all().problems;
  std::erase_if(problems, [&](const PropagationProblem& problem) {
    return reliances.has(problem, substitution);
  });
  throw_what_stands_in_the_way(graph, problems, literals);

  sizes.refresh_ranges(program);
  sizes.update_guards(program);
  for (const std::string& warning : changes.warnings) context.warn("{}", warning);
  parts.report(context);
  report_numbers(graph, literals, context);
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
  // What export decided by its example, and a valid program says so, sizes alone do not tell.
  if (context.has_program() && verify_metas(context.program()).empty()) return;
  MetaPropagation propagation(graph);
  propagation.set_compare_offsets(!context.has_program() || records_offsets(context.program()));
  Propagation result = propagation.run_all();
  // What has to be assumed had to be before.
  std::erase_if(result.problems, [](const PropagationProblem& problem) {
    return problem.kind == PropagationProblem::Kind::constraint;
  });
  if (result.problems.empty()) return;
  std::vector<Diagnostic> findings;
  findings.reserve(result.problems.size());
  std::ranges::transform(result.problems, std::back_inserter(findings), diagnostic_of);
  throw Error(summary_of(findings, "not every meta can be inferred"));
}

}  // namespace winze
