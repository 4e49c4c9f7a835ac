// SPDX-License-Identifier: Apache-2.0
#include "winze/passes/cleanup/remove_assert_nodes.h"

#include "winze/pass/pass_options.h"
#include "winze/schema/op.h"

namespace winze {
namespace {

/// A check, and the option that drops it.
struct Check {
  OpId op;
  bool RemoveAssertNodesOptions::* option;
};

constexpr Check checks[] = {
    {op::aten__assert_scalar_default, &RemoveAssertNodesOptions::scalar},
    {op::aten__functional_assert_scalar_default, &RemoveAssertNodesOptions::scalar},
    {op::aten__assert_tensor_metadata_default, &RemoveAssertNodesOptions::metadata},
    {op::aten__assert_async_default, &RemoveAssertNodesOptions::async},
    {op::aten__assert_async_msg, &RemoveAssertNodesOptions::async},
    {op::aten__functional_assert_async_msg, &RemoveAssertNodesOptions::async},
    {op::aten_sym_constrain_range_default, &RemoveAssertNodesOptions::range},
    {op::aten_sym_constrain_range_for_size_default, &RemoveAssertNodesOptions::range},
    {op::aten__functional_sym_constrain_range_default, &RemoveAssertNodesOptions::range},
    {op::aten__functional_sym_constrain_range_for_size_default, &RemoveAssertNodesOptions::range},
};

/// A functional check returns its last argument, the token that orders it.
void remove_check(Node check) {
  if (check.value_count() == 1) {
    const Value token = check.argument_value(check.argument_count() - 1);
    if (!token) return;
    check.value().replace_all_uses_with(token);
  }
  check.erase();
}

}  // namespace

const OptionTable& remove_assert_nodes_options() {
  using Options = RemoveAssertNodesOptions;
  static const OptionTable table = OptionTable::describe<Options>({
      option("scalar", &Options::scalar, "conditions on symbolic numbers (`_assert_scalar`)"),
      option("metadata", &Options::metadata,
             "dtype, sizes and strides of a tensor (`_assert_tensor_metadata`)"),
      option("async", &Options::async, "conditions on the content of a tensor (`_assert_async`)"),
      option("range", &Options::range, "bounds of a symbolic number (`sym_constrain_range`)"),
  });
  return table;
}

void remove_assert_nodes(Graph& graph, PassContext& context) {
  const auto& options = context.options<RemoveAssertNodesOptions>();
  for (const Check& check : checks) {
    if (!(options.*check.option)) continue;
    for (Node node : graph.find_nodes(check.op)) remove_check(node);
  }
}

}  // namespace winze
