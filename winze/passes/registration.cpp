// SPDX-License-Identifier: Apache-2.0
#include "winze/passes/registration.h"

#include "winze/passes/cleanup/common_subexpressions.h"
#include "winze/passes/cleanup/dead_code.h"
#include "winze/passes/cleanup/eliminate_sym_min_max.h"
#include "winze/passes/cleanup/inline_no_grad_regions.h"
#include "winze/passes/cleanup/remove_assert_nodes.h"
#include "winze/passes/cleanup/remove_detach.h"
#include "winze/passes/cleanup/remove_no_op_casts.h"
#include "winze/passes/cleanup/remove_no_op_clones.h"
#include "winze/passes/cleanup/remove_no_op_views.h"
#include "winze/passes/cleanup/repair_input_as_output.h"
#include "winze/passes/shape/fold_shape_computation.h"
#include "winze/passes/shape/infer_shapes.h"

namespace winze {

void register_cleanup_passes(PassRegistry& registry) {
  registry.add(inline_no_grad_regions_info);
  registry.add(remove_detach_info);
  registry.add(remove_assert_nodes_info);
  registry.add(eliminate_sym_min_max_info);
  registry.add(remove_no_op_casts_info);
  registry.add(remove_no_op_views_info);
  registry.add(remove_no_op_clones_info);
  registry.add(common_subexpressions_info);
  registry.add(dead_code_info);
  registry.add(repair_input_as_output_info);
}

void register_shape_passes(PassRegistry& registry) {
  registry.add(infer_shapes_info);
  registry.add(fold_shape_computation_info);
}

void register_named_pipelines(PassRegistry& registry) {
  // Right for every program, one that is trained further included: nothing here is seen by
  // autograd, by who holds an alias of an input, or by who relies on a run-time check.
  registry.add_pipeline({.name = "default",
                         .text = "remove-no-op-clones, common-subexpressions, dead-code",
                         .summary = "Clean-up that is right for every program, those that are "
                                    "trained further included."});
  registry.add_pipeline({.name = "inference",
                         .text = "inline-no-grad-regions, remove-detach, remove-no-op-casts, "
                                 "remove-no-op-views, default",
                         .summary = "Clean-up for programs that are only run: autograd's borders, "
                                    "casts and views that change nothing go, then the same as "
                                    "`default`."});
}

void register_builtin_passes(PassRegistry& registry) {
  register_cleanup_passes(registry);
  register_shape_passes(registry);
  register_named_pipelines(registry);
}

PassRegistry all_passes() {
  PassRegistry registry;
  register_builtin_passes(registry);
  return registry;
}

}  // namespace winze
