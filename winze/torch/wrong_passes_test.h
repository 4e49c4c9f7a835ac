// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "winze/pass/pass_context.h"
#include "winze/pass/pass_info.h"
#include "winze/schema/op_ids.h"

/// Passes that change what a program computes, each in a way that passes for a chip or a runtime
/// have done. The check has to name each of them.
namespace winze::testing {

/// Makes `value` from `other` for all users.
inline void replace_and_erase(Node node, Value other) {
  node.value().replace_all_uses_with(other);
  node.erase();
}

inline void drop_mutation(Graph& graph, PassContext& /*context*/) {
  for (Node add : graph.find_nodes(op::aten_add__Tensor))
    replace_and_erase(add, add.argument_value(0));
}

inline void merge_random_calls(Graph& graph, PassContext& /*context*/) {
  const std::vector<Node> draws = graph.find_nodes(op::aten_rand_like_default);
  for (std::size_t i = 1; i < draws.size(); ++i) replace_and_erase(draws[i], draws[0]);
}

inline void swap_operands(Graph& graph, PassContext& /*context*/) {
  for (Node sub : graph.find_nodes(op::aten_sub_Tensor)) {
    const Argument first = sub.argument(0);
    sub.set_argument(0, sub.argument(1));
    sub.set_argument(1, first);
  }
}

inline void round_constants(Graph& graph, PassContext& /*context*/) {
  for (Node mul : graph.find_nodes(op::aten_mul_Tensor)) {
    if (mul.argument(1).kind() == ArgumentKind::floating)
      mul.set_argument(
          1, static_cast<double>(static_cast<float>(mul.argument(1).floating() * 16)) / 16 + 0.001);
  }
}

inline void cast_down(Graph& graph, PassContext& /*context*/) {
  for (Node mm : graph.find_nodes(op::aten_mm_default)) {
    const MetaId wide = mm.value().meta_id();
    TensorMeta meta = mm.value().meta().tensor;
    meta.dtype = ScalarType::bfloat16;
    const MetaId narrow = graph.context().tensor_meta(meta);
    const auto here = graph.inserting_after(mm);
    const Node down =
        graph.call_function(op::aten_to_dtype, {mm.value(), ScalarType::bfloat16}, narrow);
    const Node up =
        graph.call_function(op::aten_to_dtype, {down.value(), ScalarType::float32}, wide);
    mm.value().replace_uses_if(up, [&](Node user) { return !(user == down); });
  }
}

inline void forget_fill(Graph& graph, PassContext& /*context*/) {
  for (Node fill : graph.find_nodes(op::aten_masked_fill_Scalar))
    replace_and_erase(fill, fill.argument_value(0));
}

/// Lets relu write over its input although that is read later.
inline void reuse_buffers(Graph& graph, PassContext& /*context*/) {
  for (Node relu : graph.find_nodes(op::aten_relu_default)) {
    const auto here = graph.inserting_before(relu);
    const Node in_place =
        graph.call_function(op::aten_relu__default, {relu.argument(0)}, relu.value().meta_id());
    replace_and_erase(relu, in_place);
  }
}

/// Puts the example's size in the place of the symbol.
inline void fix_sizes(Graph& graph, PassContext& /*context*/) {
  for (Node size : graph.find_nodes(op::aten_sym_size_int)) {
    for (Node user : size.users()) {
      if (user.is_call_to(op::_operator_mul)) user.set_argument(0, std::int64_t{4});
      if (user.is_call_to(op::aten_div_Scalar)) user.set_argument(1, std::int64_t{4});
    }
  }
}

inline constexpr std::array wrong_passes{
    PassInfo{.name = "drop-mutation", .summary = "Wrong.", .run = drop_mutation},
    PassInfo{.name = "merge-random-calls", .summary = "Wrong.", .run = merge_random_calls},
    PassInfo{.name = "swap-operands", .summary = "Wrong.", .run = swap_operands},
    PassInfo{.name = "round-constants", .summary = "Wrong.", .run = round_constants},
    PassInfo{.name = "cast-down", .summary = "Wrong.", .run = cast_down},
    PassInfo{.name = "forget-fill", .summary = "Wrong.", .run = forget_fill},
    PassInfo{.name = "reuse-buffers", .summary = "Wrong.", .run = reuse_buffers},
    PassInfo{.name = "fix-sizes", .summary = "Wrong.", .run = fix_sizes},
};

}  // namespace winze::testing
