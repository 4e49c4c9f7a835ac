// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/rounding_depths.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "winze/effects/call_arguments.h"
#include "winze/effects/higher_order_calls.h"
#include "winze/torch/element.h"

namespace winze {
namespace {

/// How the roundings of a call are counted.
enum class Family : std::uint8_t {
  moving,       ///< elements are moved, chosen or cast: none
  product,      ///< as many as the last dimension of `argument` is long
  convolution,  ///< as many as an output element sums products: weight elements a channel
  attention,    ///< head size and number of keys
  reduction,    ///< elements of the first argument for each element of the result
  row,          ///< the longest dimension: normalizations, softmax, cumulative sums
  recurrent,    ///< steps times features
};

struct FamilyRow {
  std::string_view op;  ///< base name; a trailing `*` stands for any ending
  Family family;
  std::uint32_t argument = 0;
};

constexpr FamilyRow family_rows[] = {
    {"_assert*", Family::moving},
    {"_reshape_alias", Family::moving},
    {"_unsafe_view", Family::moving},
    {"abs", Family::moving},
    {"alias*", Family::moving},
    {"amax", Family::moving},
    {"amin", Family::moving},
    {"as_strided*", Family::moving},
    {"broadcast*", Family::moving},
    {"cat", Family::moving},
    {"chunk", Family::moving},
    {"clamp*", Family::moving},
    {"clone", Family::moving},
    {"constant_pad_nd", Family::moving},
    {"contiguous", Family::moving},
    {"copy", Family::moving},
    {"detach*", Family::moving},
    {"embedding", Family::moving},
    {"expand*", Family::moving},
    {"fill*", Family::moving},
    {"flatten", Family::moving},
    {"flip", Family::moving},
    {"gather", Family::moving},
    {"index_copy", Family::moving},
    {"index_select", Family::moving},
    {"index", Family::moving},
    {"lift_fresh*", Family::moving},
    {"masked_*", Family::moving},
    {"max_pool*", Family::moving},
    {"max", Family::moving},
    {"maximum", Family::moving},
    {"min", Family::moving},
    {"minimum", Family::moving},
    {"narrow", Family::moving},
    {"neg", Family::moving},
    {"new_*", Family::moving},
    {"pad", Family::moving},
    {"permute*", Family::moving},
    {"pixel_*", Family::moving},
    {"relu*", Family::moving},
    {"repeat*", Family::moving},
    {"reshape*", Family::moving},
    {"roll", Family::moving},
    {"select*", Family::moving},
    {"slice*", Family::moving},
    {"sort", Family::moving},
    {"split*", Family::moving},
    {"squeeze*", Family::moving},
    {"stack", Family::moving},
    {"sym_*", Family::moving},
    {"t", Family::moving},
    {"to", Family::moving},
    {"_to_copy", Family::moving},
    {"topk", Family::moving},
    {"transpose*", Family::moving},
    {"unbind*", Family::moving},
    {"unflatten", Family::moving},
    {"unfold*", Family::moving},
    {"unsqueeze*", Family::moving},
    {"view*", Family::moving},
    {"where", Family::moving},
    {"addbmm", Family::product, 1},
    {"addmm", Family::product, 1},
    {"addmv", Family::product, 1},
    {"baddbmm", Family::product, 1},
    {"bilinear", Family::product},
    {"bmm", Family::product},
    {"dot", Family::product},
    {"einsum", Family::row},
    {"linear", Family::product},
    {"matmul", Family::product},
    {"mm", Family::product},
    {"mv", Family::product},
    {"tensordot", Family::product},
    {"_convolution*", Family::convolution, 1},
    {"conv*", Family::convolution, 1},
    {"_scaled_dot_product*", Family::attention},
    {"scaled_dot_product*", Family::attention},
    {"avg_pool*", Family::reduction},
    {"adaptive_avg_pool*", Family::reduction},
    {"linalg_vector_norm", Family::reduction},
    {"logsumexp", Family::reduction},
    {"mean", Family::reduction},
    {"norm*", Family::reduction},
    {"prod", Family::reduction},
    {"std*", Family::reduction},
    {"sum*", Family::reduction},
    {"var*", Family::reduction},
    {"_log_softmax", Family::row},
    {"_native_batch_norm*", Family::row},
    {"_softmax", Family::row},
    {"batch_norm*", Family::row},
    {"cum*", Family::row},
    {"embedding_bag*", Family::row},
    {"_embedding_bag*", Family::row},
    {"group_norm", Family::row},
    {"index_add", Family::row},
    {"index_put", Family::row},
    {"instance_norm", Family::row},
    {"layer_norm", Family::row},
    {"log_softmax", Family::row},
    {"native_*norm*", Family::row},
    {"rms_norm", Family::row},
    {"scatter*", Family::row},
    {"softmax", Family::row},
    {"gru*", Family::recurrent},
    {"lstm*", Family::recurrent},
    {"rnn*", Family::recurrent},
};

bool matches(std::string_view pattern, std::string_view name) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  const std::string_view rest = pattern.substr(star + 1);
  if (!name.starts_with(pattern.substr(0, star))) return false;
  return rest.empty() || name.find(rest.substr(0, rest.find('*'))) != std::string_view::npos;
}

const FamilyRow* find_family(std::string_view name) {
  for (const FamilyRow& row : family_rows) {
    if (matches(row.op, name)) return &row;
  }
  return nullptr;
}

std::string_view base_name(std::string_view target) {
  std::string_view name = target.substr(target.find('.') + 1);
  name = name.substr(0, name.find('.'));
  if (name.size() > 1 && name.ends_with('_')) name.remove_suffix(1);
  return name;
}

/// Counts the roundings of calls, sizes as their hints.
class RoundingCounter {
 public:
  explicit RoundingCounter(const ExportedProgram& program) : program_(program) {}

  /// Depths of the values of a graph, given those of its placeholders.
  std::vector<double> depths(const Graph& graph, const std::vector<double>& given, int nesting);

 private:
  [[nodiscard]] double size_of(SymInt size) const {
    if (size.is_constant()) return static_cast<double>(size.constant());
    const SymHint hint = program_.expressions.hint(program_.context().symbols(), size);
    const auto* number = std::get_if<std::int64_t>(&hint);
    return number == nullptr ? 2 : static_cast<double>(*number);
  }
  [[nodiscard]] double elements(const TensorMeta& meta) const {
    double count = 1;
    for (const SymInt size : meta.sizes) count *= std::max(1.0, size_of(size));
    return count;
  }
  [[nodiscard]] double longest(const TensorMeta& meta) const {
    double size = 1;
    for (const SymInt axis : meta.sizes) size = std::max(size, size_of(axis));
    return size;
  }
  [[nodiscard]] double last(const TensorMeta& meta) const {
    return meta.sizes.empty() ? 1 : size_of(meta.sizes.back());
  }
  [[nodiscard]] double terms(Node call) const;
  [[nodiscard]] double family_terms(const FamilyRow& row,
                                    const std::vector<const TensorMeta*>& given,
                                    const TensorMeta& result) const;
  double through_bodies(Node call, const std::vector<double>& depths, double before, int nesting);

  const ExportedProgram& program_;
};

double RoundingCounter::family_terms(const FamilyRow& row,
                                     const std::vector<const TensorMeta*>& given,
                                     const TensorMeta& result) const {
  const TensorMeta* chosen = row.argument < given.size() ? given[row.argument] : nullptr;
  if (chosen == nullptr) return 1;
  switch (row.family) {
    case Family::moving:
      return 0;
    case Family::product:
      return last(*chosen);
    case Family::convolution:
      return chosen->sizes.empty() ? 1
                                   : elements(*chosen) / std::max(1.0, size_of(chosen->sizes[0]));
    case Family::attention: {
      const TensorMeta& keys = given.size() > 1 ? *given[1] : *chosen;
      const double count = keys.dim() > 1 ? size_of(keys.sizes[keys.dim() - 2]) : 1;
      return last(*chosen) + 2 * count;
    }
    case Family::reduction:
      return std::max(1.0, elements(*chosen) / elements(result));
    case Family::row:
      return longest(*chosen);
    case Family::recurrent:
      return longest(*chosen) * last(result);
  }
  return 1;
}

double RoundingCounter::terms(Node call) const {
  const FamilyRow* row = find_family(base_name(call.target()));
  const TensorMeta* result = nullptr;
  for (const Value value : call.values()) {
    if (value.is_tensor() && result == nullptr) result = &value.meta().tensor;
  }
  if (row == nullptr || result == nullptr) return 1;
  if (row->family == Family::moving) return 0;
  std::vector<const TensorMeta*> given;
  for_each_input(call, [&](Value value) {
    if (value.is_tensor()) given.push_back(&value.meta().tensor);
  });
  const double count = family_terms(*row, given, *result);
  // Low precisions are summed in float32: each term weighs (eps32 / eps)^2 of the result's
  // rounding.
  const double epsilon = epsilon_of(result->dtype);
  const double summed = std::min(epsilon, epsilon_of(ScalarType::float32));
  const double weight = epsilon == 0 ? 1 : (summed / epsilon) * (summed / epsilon);
  return 1 + count * weight;
}

double RoundingCounter::through_bodies(Node call, const std::vector<double>& depths, double before,
                                       int nesting) {
  constexpr int max_nesting = 32;
  double deepest = before + 1;
  if (nesting >= max_nesting) return deepest;
  for_each_body(call, [&](Graph& body) {
    std::vector<double> given(body.placeholders().size(), before);
    if (const auto operands = body_operands(call, body)) {
      for (std::size_t index = 0; index < std::min(given.size(), operands->size()); ++index) {
        const Argument& operand = (*operands)[index];
        if (operand.is_value()) given[index] = depths[operand.value_id().index];
      }
    }
    const std::vector<double> inside = this->depths(body, given, nesting + 1);
    double after = before;
    for_each_input(body.output_node(),
                   [&](Value value) { after = std::max(after, inside[value.id().index]); });
    double rounds = 1;
    if (is_loop(call)) rounds = RoundingDepths::loop_rounds;
    for_each_input(call, [&](Value value) {
      if (is_loop(call) && value.is_tensor() && value.meta().tensor.dim() > 0)
        rounds = std::max(rounds, size_of(value.meta().tensor.sizes[0]));
    });
    deepest = std::max(deepest, before + rounds * (after - before));
  });
  return deepest;
}

std::vector<double> RoundingCounter::depths(const Graph& graph, const std::vector<double>& given,
                                            int nesting) {
  std::vector<double> depths(graph.value_capacity(), 0);
  std::size_t placeholder = 0;
  for (const Node node : graph.nodes()) {
    if (node.is_placeholder()) {
      if (placeholder < given.size()) depths[node.value().id().index] = given[placeholder];
      ++placeholder;
    }
    if (!node.is_call()) continue;
    double before = 0;
    for_each_input(node, [&](Value value) { before = std::max(before, depths[value.id().index]); });
    const bool is_nested = program_.context().ops().get(node.op()).is_higher_order();
    const double after =
        is_nested ? through_bodies(node, depths, before, nesting) : before + terms(node);
    for (const Value value : node.values()) depths[value.id().index] = after;
    // What is written in place is read through the argument, too.
    const Op& op = program_.context().ops().get(node.op());
    for (const ArgumentWrite& write : op.effects.writes) {
      for_each_value(node, node.argument(write.argument), [&](Value value) {
        double& depth = depths[value.id().index];
        depth = std::max(depth, after);
      });
    }
  }
  return depths;
}

}  // namespace

RoundingDepths::RoundingDepths(const ExportedProgram& program)
    : depths_(RoundingCounter(program).depths(*program.graph, {}, 0)) {}

double RoundingDepths::depth(Value value) const {
  return std::max(1.0, depths_[value.id().index]);
}

}  // namespace winze
