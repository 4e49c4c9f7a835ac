// SPDX-License-Identifier: Apache-2.0
#include "winze/passes/shape/fold_shape_computation.h"

#include <algorithm>
#include <optional>
#include <variant>

#include <tsl/robin_map.h>
#include <tsl/robin_set.h>

#include "winze/passes/shape/known_values.h"
#include "winze/passes/shape/program_sizes.h"
#include "winze/program/module_calls.h"
#include "winze/schema/op_ids.h"
#include "winze/shape/meta_propagation.h"
#include "winze/shape/meta_substitution.h"

namespace winze {
namespace {

bool reads_tensor(OpId op) {
  return op == op::aten_sym_size_int || op == op::aten_sym_stride_int ||
         op == op::aten_sym_numel_default || op == op::aten_sym_storage_offset_default;
}

/// A call whose only result is a number that follows from sizes and other numbers.
bool computes_number(const Node& node) {
  if (!node.is_call() || node.value_count() != 1) return false;
  if (!reads_tensor(node.op()) && !node.graph().context().ops().get(node.op()).is_symbolic())
    return false;
  const Meta& meta = node.value().meta();
  return meta.has_expression &&
         (meta.kind == ValueKind::sym_int || meta.kind == ValueKind::sym_float ||
          meta.kind == ValueKind::sym_bool);
}

std::optional<Argument> constant_of(const SymbolicContext& symbols, const Meta& meta) {
  if (!meta.has_expression) return std::nullopt;
  const std::optional<SymValue> value = symbols.constant_value(meta.expression);
  if (!value) return std::nullopt;
  return std::visit([](auto content) { return Argument(content); }, *value);
}

/// Whether an argument of this call may be a constant where it was a number computed before. The
/// output and what runs graphs keep theirs: there the place of a number is part of a signature.
bool takes_constants(const Node& user) {
  if (!user.is_call()) return false;
  const Op& op = user.graph().context().ops().get(user.op());
  return op.kind == OpKind::overload || op.is_symbolic();
}

/// Replaces uses of a value by a constant, in arguments and in lists of them.
void replace_by_constant(Value value, const Argument& constant) {
  const auto is_it = [&](const Argument& argument) {
    return argument.is_value() && argument.value_id() == value.id();
  };
  for (const Node& user : value.users()) {
    if (!takes_constants(user)) continue;
    for (std::uint32_t index = 0; index < user.argument_count(); ++index) {
      const Argument argument = user.argument(index);
      if (is_it(argument)) user.set_argument(index, constant);
      if (!argument.is_list()) continue;
      std::vector<Argument> elements;
      for (std::uint32_t at = 0; at < argument.count(); ++at)
        elements.push_back(user.element(argument, at));
      if (std::ranges::none_of(elements, is_it)) continue;
      std::ranges::replace_if(elements, is_it, constant);
      user.set_argument(index, Argument(elements));
    }
  }
}

/// Where an input has a size.
struct InputSize {
  Value input;
  std::int64_t dim = 0;
};
using InputSizes = tsl::robin_map<SymExpr, InputSize, std::hash<SymExpr>>;
/// The first value with each expression.
using FirstValues = tsl::robin_map<SymExpr, Value, std::hash<SymExpr>>;

class ShapeFolder {
 public:
  ShapeFolder(Graph& root, PassContext& context)
      : root_(root),
        context_(context),
        symbols_(root.context().symbols()),
        preserved_(context.preserved_calls(root)) {}

  void run() {
    fold_items();
    for (Graph* graph : root_.all_graphs()) fold_numbers(*graph);
    static_cast<void>(propagate_metas(root_));
  }

 private:
  /// Gives numbers that were taken for data-dependent the values that they are known to have.
  void fold_items() {
    std::vector<Node> items;
    for (const Graph* graph : root_.all_graphs()) {
      for (const OpId op : {op::aten_item_default, op::aten__local_scalar_dense_default}) {
        for (const Node item : graph->find_nodes(op)) items.push_back(item);
      }
    }
    if (items.empty() || !context_.has_program()) return;
    const AliasAnalysis aliases = context_.alias_analysis(root_);
    const KnownValues known(root_, aliases, &context_.program());
    SizeChanges changes;
    for (const Node& item : items) {
      const Meta& meta = item.value().meta();
      const Value tensor = item.argument_value(0);
      const KnownValues::Elements* const elements = tensor ? known.of(tensor) : nullptr;
      if (elements == nullptr || elements->size() != 1 || meta.kind != ValueKind::sym_int ||
          !meta.has_expression || !symbols_.is_symbol(meta.expression))
        continue;
      // Out of its range an assertion fails when the program runs.
      const Range range = symbols_.range(elements->front());
      if (intersection(range, symbols_.range(meta.expression)) != range) continue;
      changes.replacements.emplace(meta.expression, elements->front());
      folded_[&item.graph()].insert(item.id().index);
    }
    if (changes.replacements.empty()) return;
    ExportedProgram& program = context_.edit_program();
    const ProgramSizes sizes(program);
    MetaSubstitution(program.context(), changes.replacements).apply(root_);
    sizes.update_symbols(program, changes);
  }

  void fold_numbers(Graph& graph) {
    const InputSizes inputs = sizes_of_inputs(graph);
    FirstValues first;
    std::vector<Node> numbers;
    for (const Node node : graph.nodes()) {
      if (node.is_call_to(op::aten__assert_scalar_default)) {
        if (holds(node)) numbers.push_back(node);
      } else if (computes_number(node) || is_folded(node)) {
        numbers.push_back(node);
        fold(node, inputs, first);
      }
    }
    // Users come after what they use.
    for (std::size_t at = numbers.size(); at-- > 0;) {
      if (numbers[at].has_no_uses()) numbers[at].erase();
    }
  }

  void fold(const Node& node, const InputSizes& inputs, FirstValues& first) {
    const Value value = node.value();
    if (const auto constant = constant_of(symbols_, value.meta()))
      return replace_by_constant(value, *constant);
    if (value.meta().kind != ValueKind::sym_int) return;
    const SymExpr expression = value.meta().expression;
    const auto [earlier, is_first] = first.emplace(expression, value);
    if (!is_first && preserved_.same(earlier->second.node(), node)) {
      value.replace_all_uses_with(earlier->second);
      return;
    }
    read_from_input(node, expression, inputs);
  }

  /// `sym_size(%y, 0)` as the size of an input that is known to be the same.
  void read_from_input(const Node& node, SymExpr expression, const InputSizes& inputs) {
    const auto found = inputs.find(expression);
    if (node.op() != op::aten_sym_size_int || found == inputs.end() ||
        node.argument_value(0).node().is_placeholder() || preserved_.of(node) != 0)
      return;
    node.set_argument(0, found->second.input);
    node.set_argument(1, found->second.dim);
  }

  [[nodiscard]] static InputSizes sizes_of_inputs(const Graph& graph) {
    InputSizes sizes;
    for (const Node input : graph.placeholders()) {
      const Meta& meta = input.value().meta();
      if (!meta.is_tensor()) continue;
      for (std::size_t dim = 0; dim < meta.tensor.dim(); ++dim) {
        if (!meta.tensor.sizes[dim].is_constant())
          sizes.emplace(meta.tensor.sizes[dim],
                        InputSize{input.value(), static_cast<std::int64_t>(dim)});
      }
    }
    return sizes;
  }

  [[nodiscard]] bool is_folded(const Node& node) const {
    const auto found = folded_.find(&node.graph());
    return found != folded_.end() && found->second.contains(node.id().index);
  }

  /// Whether an assertion is of the constant True.
  [[nodiscard]] bool holds(const Node& assertion) const {
    const Argument condition = assertion.argument(0);
    if (condition.kind() == ArgumentKind::boolean) return condition.boolean();
    if (!condition.is_value()) return false;
    const auto value =
        constant_of(symbols_, assertion.graph().value_at(condition.value_id()).meta());
    return value && value->kind() == ArgumentKind::boolean && value->boolean();
  }

  Graph& root_;
  PassContext& context_;
  SymbolicContext& symbols_;
  PreservedCalls preserved_;
  /// Calls of item that yield what is known, by their graph.
  tsl::robin_map<const Graph*, tsl::robin_set<std::uint32_t>> folded_;
};

}  // namespace

void fold_shape_computation(Graph& graph, PassContext& context) {
  ShapeFolder(graph, context).run();
}

}  // namespace winze
