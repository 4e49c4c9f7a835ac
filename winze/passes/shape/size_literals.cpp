// SPDX-License-Identifier: Apache-2.0
#include "winze/passes/shape/size_literals.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "winze/ir/body_calls.h"
#include "winze/schema/op.h"

namespace winze {
namespace {

/// Whether export writes sizes there. Dimensions and counts, which are no sizes, are `int`; steps
/// are SymInt as sizes are.
bool takes_sizes(const SchemaArgument& argument) {
  constexpr std::array<std::string_view, 7> steps = {
      "stride", "padding", "dilation", "output_padding", "kernel_size", "step", "storage_offset"};
  return argument.type.base_kind() == TypeKind::sym_int &&
         std::ranges::find(steps, argument.name) == steps.end();
}

bool takes_operands(const Type& type) {
  return type.is(TypeKind::scalar) || type.is(TypeKind::tensor);
}

/// Calls `use` with each number that the argument holds.
template <typename Use>
void for_each_integer(const Node& call, const Argument& argument, Use use) {
  if (argument.kind() == ArgumentKind::integer) use(argument.integer());
  if (argument.kind() == ArgumentKind::integers) {
    for (const std::int64_t number : call.graph().context().integers_of(argument)) use(number);
  }
  if (argument.kind() == ArgumentKind::list) {
    for (std::uint32_t index = 0; index < argument.count(); ++index) {
      const Argument element = call.element(argument, index);
      if (element.kind() == ArgumentKind::integer) use(element.integer());
    }
  }
}

const std::vector<SchemaArgument>& formal_arguments(const Node& call) {
  return call.graph().context().ops().get(call.op()).schema.arguments;
}

bool has_size(const Node& call, std::int64_t number) {
  for (std::uint32_t index = 0; index < call.value_count(); ++index) {
    const Value value = call.value(index);
    if (value.is_tensor() && std::ranges::find(value.meta().tensor.sizes, SymInt(number)) !=
                                 value.meta().tensor.sizes.end())
      return true;
  }
  return false;
}

/// Whether the call spells a size of its result, one of the example's or what was computed from it.
bool spells_sizes(const Node& call) {
  bool found = false;
  const std::vector<SchemaArgument>& formal = formal_arguments(call);
  for (std::uint32_t index = 0; index < call.argument_count() && index < formal.size(); ++index) {
    if (!takes_sizes(formal[index])) continue;
    for_each_integer(call, call.argument(index), [&](std::int64_t number) {
      found = found || (number > 1 && has_size(call, number));
    });
  }
  return found;
}

}  // namespace

bool SizeLiterals::has(std::int64_t number) const {
  return std::ranges::find(numbers_, number) != numbers_.end();
}

std::optional<std::int64_t> SizeLiterals::size_of(Value value) const {
  if (!value.is_tensor()) return std::nullopt;
  for (const SymInt size : value.meta().tensor.sizes) {
    if (size.is_constant() && has(size.constant())) return size.constant();
  }
  return std::nullopt;
}

std::optional<std::int64_t> SizeLiterals::in(const Node& call) const {
  if (!call.is_call()) return std::nullopt;
  std::optional<std::int64_t> found;
  if (call.input_values().empty()) {
    for (std::uint32_t index = 0; index < call.value_count() && !found; ++index)
      found = size_of(call.value(index));
    return found;
  }
  const std::vector<SchemaArgument>& formal = formal_arguments(call);
  for (std::uint32_t index = 0; index < call.argument_count() && index < formal.size(); ++index) {
    if (!takes_sizes(formal[index])) continue;
    for_each_integer(call, call.argument(index), [&](std::int64_t number) {
      if (!found && has(number) && has_size(call, number)) found = number;
    });
  }
  return found;
}

std::optional<std::int64_t> SizeLiterals::left_in(const Node& node) const {
  constexpr std::int64_t least_size = 2;
  constexpr std::int64_t least_operand = 3;
  std::optional<std::int64_t> found = in(node);
  if (found && *found >= least_size) return found;
  found.reset();
  const auto take = [&](std::int64_t number) {
    if (!found && number >= least_operand && has(number)) found = number;
  };
  if (node.is_output()) {
    for_each_integer(node, node.argument(0), take);
  } else if (node.is_call() && node.value_count() != 0 && node.value(0).is_tensor()) {
    const std::vector<SchemaArgument>& formal = formal_arguments(node);
    for (std::uint32_t index = 0; index < node.argument_count() && index < formal.size(); ++index) {
      if (takes_operands(formal[index].type)) for_each_integer(node, node.argument(index), take);
    }
  }
  return found;
}

void SizeLiterals::trace(Graph& root) {
  for (Graph* graph : root.all_graphs()) trace(*graph, graph == &root);
}

void SizeLiterals::trace(Graph& graph, bool is_root) {
  for (const Node node : graph.nodes()) {
    Node origin;
    if (node.is_call()) {
      origin = in(node) ? node : origin_of_inputs(node);
      trace_bodies(node);
    } else if (is_root && node.value_count() == 1 && size_of(node.value())) {
      origin = node;
    }
    if (!origin) continue;
    for (std::uint32_t index = 0; index < node.value_count(); ++index)
      origins_.insert_or_assign(node.value(index).key(), origin);
  }
}

void SizeLiterals::trace_bodies(const Node& call) {
  if (!call.graph().context().ops().get(call.op()).is_higher_order()) return;
  for (const BodyCall& body : body_calls(call)) {
    const std::vector<Node> inputs = body.body->placeholders();
    const std::size_t count = std::min(inputs.size(), body.operands.size());
    for (std::size_t index = 0; index < count; ++index) {
      const Argument& operand = body.operands[index].argument;
      if (!operand.is_value()) continue;
      if (const Node origin = origin_of(call.graph().value_at(operand.value_id())))
        origins_.insert_or_assign(inputs[index].value().key(), origin);
    }
  }
}

Node SizeLiterals::origin_of(Value value) const {
  const auto found = origins_.find(value.key());
  return found == origins_.end() ? Node() : found->second;
}

/// Of an operand that has such a size rather than of one that has not, and of a call rather than of
/// an input.
Node SizeLiterals::origin_of_inputs(const Node& node) const {
  Node best;
  int best_rank = 0;
  for (const Value value : node.input_values()) {
    const Node origin = origin_of(value);
    if (!origin || (!origin.is_call() && !size_of(value))) continue;
    const int rank = 1 + (size_of(value) ? 2 : 0) + (origin.is_call() ? 1 : 0);
    if (rank <= best_rank) continue;
    best = origin;
    best_rank = rank;
  }
  return best;
}

Node SizeLiterals::behind(const Node& node) const {
  return in(node) || spells_sizes(node) ? node : origin_of_inputs(node);
}

}  // namespace winze
