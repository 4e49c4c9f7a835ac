// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "winze/pass/pass_context.h"
#include "winze/pass/pass_registry.h"
#include "winze/schema/op_ids.h"
#include "winze/support/error_of.h"

/// Small passes for the tests of this component.
namespace winze::testing {

inline void erase_relus(Graph& graph, PassContext& context) {
  for (Node relu : graph.find_nodes(op::aten_relu_default)) {
    relu.value().replace_all_uses_with(relu.argument_value(0));
    relu.erase();
    context.count("relus");
  }
}
inline constexpr PassInfo erase_relus_info{.name = "erase-relus",
                                           .summary = "Replaces relu by its input.",
                                           .description = {},
                                           .run = erase_relus,
                                           .scope = PassScope::every_graph,
                                           .triggers = {op::aten_relu_default},
                                           .leaves_none_of = {op::aten_relu_default}};

inline void note_only(Graph& graph, PassContext& context) {
  context.note("{} nodes", graph.size());
  context.warn("nothing was done");
}
inline constexpr PassInfo note_only_info{
    .name = "note-only", .summary = "Says something.", .run = note_only};

struct SampleOptions {
  enum class Target : std::uint8_t { core, prims };
  bool fast = false;
  std::int64_t count = 3;
  double scale = 1.5;
  std::string name = "x";
  std::vector<std::string> ops = {"add", "mul"};
  Target to = Target::core;
};
inline const OptionTable& sample_options() {
  using Options = SampleOptions;
  static const OptionTable table = OptionTable::describe<Options>({
      option("fast", &Options::fast, "go fast"),
      option("count", &Options::count, "how many"),
      option("scale", &Options::scale, "how large"),
      option("name", &Options::name, "what"),
      option("ops", &Options::ops, "which"),
      option("to", &Options::to, "where to",
             {{"core-aten", Options::Target::core}, {"prims", Options::Target::prims}}),
  });
  return table;
}
inline constexpr PassInfo with_options_info{.name = "with-options",
                                            .summary = "Takes options of every type.",
                                            .run = note_only,
                                            .options = sample_options};

inline constexpr PassInfo needs_relus_info{.name = "needs-relus-gone",
                                           .summary = "Stands behind another.",
                                           .run = note_only,
                                           .needs = {"erase-relus"},
                                           .order_reason = "it cannot read relu"};
inline constexpr PassInfo not_before_info{.name = "not-before-relus",
                                          .summary = "Stands behind another, if that is there.",
                                          .run = note_only,
                                          .after = {"erase-relus"},
                                          .order_reason = "it hides relu"};

inline PassRegistry test_registry() {
  PassRegistry registry;
  for (const PassInfo* info : {&erase_relus_info, &note_only_info, &with_options_info,
                               &needs_relus_info, &not_before_info}) {
    registry.add(*info);
  }
  registry.add_pipeline({"both", "note-only, erase-relus", "Two of them."});
  return registry;
}

}  // namespace winze::testing
