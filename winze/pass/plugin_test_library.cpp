// SPDX-License-Identifier: Apache-2.0
// Libraries for plugin_test: one file, built once for each kind of plugin.
#include "winze/pass/pass_context.h"
#include "winze/pass/plugin.h"
#include "winze/shape/shape_rules.h"

namespace {

using winze::PassInfo;

void do_nothing(winze::Graph&, winze::PassContext&) {}

constexpr PassInfo first_info{.name = "plugged-in", .summary = "Does nothing.", .run = do_nothing};
constexpr PassInfo again_info{.name = "plugged-in", .summary = "Has its name.", .run = do_nothing};

/// An operator of the library's own, and what it yields.
void scale_rule(winze::ShapeCall& call) {
  call.yield(winze::empty_like(call.env(), call.tensor(0)));
}
void add_scale(winze::Context& context) {
  const winze::OpId op =
      context.ops().add("pluginlib::scale(Tensor x, float by) -> Tensor", "pointwise");
  winze::ShapeRules::of(context).add(op, scale_rule);
}

[[maybe_unused]] void register_passes(winze::PassRegistry& registry) {
  registry.add(first_info);
  registry.add_context_setup(add_scale);
}

[[maybe_unused]] void register_twice(winze::PassRegistry& registry) {
  registry.add(first_info);
  registry.add(again_info);
}

}  // namespace

#if defined(WINZE_TEST_GOOD)
WINZE_PASS_PLUGIN(register_passes);
#elif defined(WINZE_TEST_TWICE)
WINZE_PASS_PLUGIN(register_twice);
#elif defined(WINZE_TEST_OTHER_VERSION)
extern "C" const char* winze_plugin_abi() {
  return "winze-0 libother";
}
extern "C" void winze_register_passes(winze::PassRegistry& registry) {
  register_passes(registry);
}
#elif defined(WINZE_TEST_NO_ENTRY)
extern "C" const char* winze_plugin_abi() {
  return WINZE_PLUGIN_ABI;
}
#endif
