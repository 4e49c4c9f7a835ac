// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/value_facts.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <type_traits>
#include <variant>

#include <fmt/format.h>

#include "winze/effects/call_arguments.h"
#include "winze/effects/call_effects.h"
#include "winze/ir/text_printer.h"
#include "winze/torch/input_file.h"

namespace winze {
namespace {

/// Calls of a graph and the graphs nested in it that draw, outer before inner where they stand.
void list_draws(const Graph& graph, CallEffects& effects, std::vector<std::string>& draws,
                int nesting) {
  constexpr int max_nesting = 32;
  if (nesting > max_nesting) return;
  for (const Node node : graph.nodes()) {
    if (!node.is_call() || !effects.is_random(node)) continue;
    std::string text(node.target());
    for (std::uint32_t index = 0; index < node.argument_count(); ++index) {
      // Constants such as a probability decide what is drawn; of tensors the shapes do.
      const Argument argument = node.argument(index);
      if (argument.is_value() || argument.is_list() || argument.kind() == ArgumentKind::graph)
        continue;
      text += fmt::format(" {}:{}", static_cast<int>(argument.kind()), argument.bits());
    }
    for_each_input(node, [&](Value value) { text += fmt::format(" m{}", value.meta_id().index); });
    draws.push_back(std::move(text));
    for_each_body(node, [&](Graph& body) { list_draws(body, effects, draws, nesting + 1); });
  }
}

/// Which values of a program's own graph depend on random numbers. What is written in place is
/// known through every value that may share its storage.
class RandomSpread {
 public:
  explicit RandomSpread(const Graph& graph) : parents_(graph.value_capacity()) {
    std::iota(parents_.begin(), parents_.end(), 0U);
  }

  std::vector<bool> find(const Graph& graph, CallEffects& effects) {
    const OpRegistry& ops = graph.context().ops();
    for (const Node node : graph.nodes()) {
      if (node.is_call()) join_aliases(node, ops.get(node.op()));
    }
    std::vector<bool> random(parents_.size(), false);
    for (const Node node : graph.nodes()) {
      if (!node.is_call()) continue;
      bool is_random = effects.is_random(node);
      for_each_input(node, [&](Value value) { is_random = is_random || random[root(value)]; });
      if (!is_random) continue;
      for (const Value value : node.values()) random[root(value)] = true;
      for (const Value value : effects.writes(node)) random[root(value)] = true;
    }
    for (std::uint32_t value = 0; value < random.size(); ++value)
      random[value] = random[root(value)];
    return random;
  }

 private:
  std::uint32_t root(std::uint32_t value) {
    while (parents_[value] != value) value = parents_[value] = parents_[parents_[value]];
    return value;
  }
  std::uint32_t root(Value value) { return root(value.id().index); }
  void join_aliases(Node node, const Op& op) {
    for (const ResultAlias& alias : op.effects.aliases) {
      if (alias.argument >= node.argument_count()) continue;
      for_each_value(node, node.argument(alias.argument), [&](Value source) {
        for (const Value result : node.values()) parents_[root(result)] = root(source);
      });
    }
  }
  std::vector<std::uint32_t> parents_;
};

std::vector<const NamedValue*> buffers_of(const RunValues& run) {
  std::vector<const NamedValue*> buffers;
  for (const NamedValue& value : run.values) {
    if (value.role == NamedValue::Role::buffer) buffers.push_back(&value);
  }
  return buffers;
}

/// A weight as the program holds it; nothing where it is no plain static tensor.
std::optional<HostTensor> host_weight(const ExportedProgram& program, std::string_view name) {
  const Weight* weight = program.state_dict.find(name);
  if (weight == nullptr) weight = program.constants.find(name);
  if (weight == nullptr || weight->kind != PayloadKind::tensor || !weight->meta.valid())
    return std::nullopt;
  const TensorMeta& meta = program.context().meta(weight->meta).tensor;
  const Storage& storage = program.storage(*weight);
  if (!meta.is_static() || !storage.has_bytes) return std::nullopt;
  HostTensor tensor;
  tensor.dtype = meta.dtype;
  for (const SymInt size : meta.sizes) tensor.sizes.push_back(size.constant());
  for (const SymInt stride : meta.strides) tensor.strides.push_back(stride.constant());
  tensor.offset = meta.storage_offset.constant();
  tensor.storage = storage.bytes;
  return tensor;
}

void add_missing_buffers(RunValues& to, const ExportedProgram& program, const RunValues& from) {
  std::vector<std::string> known;
  for (const NamedValue* buffer : buffers_of(to)) known.push_back(buffer->name);
  std::ranges::sort(known);
  for (const NamedValue* buffer : buffers_of(from)) {
    if (std::ranges::binary_search(known, buffer->name)) continue;
    std::optional<HostTensor> weight = host_weight(program, buffer->name);
    if (!weight) continue;
    NamedValue added = *buffer;
    added.value = std::move(*weight);
    to.values.push_back(std::move(added));
  }
}

/// To the bit. Containers count as different.
bool is_same(const HostValue& a, const HostValue& b) {
  const HostTensor* left = a.tensor();
  const HostTensor* right = b.tensor();
  if (left != nullptr && right != nullptr) {
    return left->dtype == right->dtype && left->sizes == right->sizes &&
           contiguous_bytes(*left).string_view() == contiguous_bytes(*right).string_view();
  }
  return std::visit(
      [](const auto& x, const auto& y) {
        using X = std::decay_t<decltype(x)>;
        if constexpr (!std::is_same_v<X, std::decay_t<decltype(y)>> ||
                      std::is_same_v<X, HostTensor> || std::is_same_v<X, HostSequence>) {
          return false;
        } else if constexpr (std::is_same_v<X, double>) {
          return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
        } else {
          return x == y;
        }
      },
      a.content, b.content);
}

}  // namespace

ValueFacts::ValueFacts(const ExportedProgram& program) {
  const RoundingDepths depths(program);
  CallEffects effects(program.context());
  list_draws(*program.graph, effects, draws_, 0);
  std::vector<bool> random(program.graph->value_capacity(), false);
  if (!draws_.empty()) random = RandomSpread(*program.graph).find(*program.graph, effects);
  for (const Node input : user_inputs(program)) {
    const Value value = input.value();
    inputs_.push_back({depths.depth(value), random[value.id().index]});
  }
  for (const Node placeholder : program.graph->placeholders()) {
    const Value value = placeholder.value();
    if (const Weight* weight = program.weight_of(placeholder))
      buffers_[weight->fqn] = {depths.depth(value), random[value.id().index]};
  }
  add_output_facts(program, depths, random);
}

void ValueFacts::add_output_facts(const ExportedProgram& program, const RoundingDepths& depths,
                                  const std::vector<bool>& random) {
  const Node output = program.graph->output_node();
  const Argument values = output.argument(0U);
  const Argument specs = output.argument(1U);
  if (!values.is_list()) return;
  StringViewMap<std::size_t> positions;  // of user inputs
  for (const Node input : user_inputs(program)) positions.emplace(input.target(), positions.size());
  for (std::uint32_t index = 0; index < values.count(); ++index) {
    Fact fact;
    const Argument returned = output.element(values, index);
    if (returned.is_value()) {
      const Value value = program.graph->value_at(returned.value_id());
      fact = {depths.depth(value), random[value.id().index]};
    }
    OutputSpec spec;
    if (specs.is_list() && index < specs.count()) {
      const Argument role = output.element(specs, index);
      if (role.kind() == ArgumentKind::output_spec) spec = program.context().output_spec_of(role);
    }
    switch (spec.kind) {
      case OutputKind::buffer_mutation:
      case OutputKind::parameter_mutation:
        buffers_[std::string(program.context().text(spec.target))] = fact;
        break;
      case OutputKind::user_input_mutation: {
        const auto found = positions.find(program.context().text(spec.target));
        if (found != positions.end()) inputs_[found->second] = fact;
        break;
      }
      case OutputKind::token:
        break;
      default:
        outputs_.push_back(fact);
    }
  }
}

void ValueFacts::annotate(RunValues& run, bool draws_otherwise) const {
  for (NamedValue& value : run.values) {
    Fact fact;
    if (value.role == NamedValue::Role::buffer) {
      if (const auto found = buffers_.find(value.name); found != buffers_.end())
        fact = found->second;
    } else {
      const std::vector<Fact>& facts = value.role == NamedValue::Role::output ? outputs_ : inputs_;
      if (value.position < facts.size()) fact = facts[value.position];
    }
    value.depth = fact.depth;
    value.is_random = draws_otherwise && fact.is_random;
  }
}

std::optional<std::string> lost_draws(std::vector<std::string> before,
                                      std::vector<std::string> after) {
  if (after.size() >= before.size()) return std::nullopt;
  std::ranges::sort(before);
  std::ranges::sort(after);
  if (!std::ranges::includes(before, after)) return std::nullopt;
  std::vector<std::string> lost;
  std::ranges::set_difference(before, after, std::back_inserter(lost));
  const std::string_view gone = lost.front();  // the operator, then what its draws depend on
  return fmt::format("{} of {} calls that draw random numbers are left: one of {} is gone",
                     after.size(), before.size(), gone.substr(0, gone.find(' ')));
}

bool mark_undefined(RunValues& run, const RunValues& with_other_fill) {
  bool any = false;
  for (std::size_t i = 0; i < run.values.size() && i < with_other_fill.values.size(); ++i) {
    NamedValue& value = run.values[i];
    value.is_undefined = !is_same(value.value, with_other_fill.values[i].value);
    any = any || value.is_undefined;
  }
  return any;
}

void complete_state(RunValues& a, const ExportedProgram& program_a, RunValues& b,
                    const ExportedProgram& program_b) {
  add_missing_buffers(a, program_a, b);
  add_missing_buffers(b, program_b, a);
}

}  // namespace winze
