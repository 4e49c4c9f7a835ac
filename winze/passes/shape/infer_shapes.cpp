// SPDX-License-Identifier: Apache-2.0
#include "winze/passes/shape/infer_shapes.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "winze/pass/program_checks.h"
#include "winze/passes/shape/program_sizes.h"
#include "winze/passes/shape/reliances.h"
#include "winze/passes/shape/size_changes.h"
#include "winze/passes/shape/size_literals.h"
#include "winze/passes/shape/size_problems.h"
#include "winze/program/program.h"
#include "winze/schema/op_ids.h"
#include "winze/shape/known_conditions.h"
#include "winze/shape/meta_check.h"
#include "winze/shape/meta_propagation.h"
#include "winze/shape/meta_substitution.h"

namespace winze {
namespace {

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
