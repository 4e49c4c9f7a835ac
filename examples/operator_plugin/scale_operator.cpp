// SPDX-License-Identifier: Apache-2.0
// The operator mylib::scale, as a library that `winze --load-pass-plugin` loads.
#include "winze/pass/plugin.h"
#include "winze/schema/op_registry.h"
#include "winze/shape/shape_rules.h"

namespace {

using namespace winze;

/// scale(x, by)[..., i] = x[..., i] * by[i]
void scale(ShapeCall& call) {
  const TensorMeta& x = call.tensor(0);
  const TensorMeta& by = call.tensor(1);
  if (x.dim() == 0) fail("scale: x has no dimension");
  if (by.dim() != 1) fail("scale: by has {} dimensions, not 1", by.dim());
  call.env().require_equal(x.sizes.back(), by.sizes[0], [&] {
    return fmt::format("scale: {} columns and {} factors", call.env().str(x.sizes.back()),
                       call.env().str(by.sizes[0]));
  });
  call.yield(empty_like(call.env(), x));
}

void add_operators(Context& context) {
  const OpId op = context.ops().add("mylib::scale(Tensor x, Tensor by) -> Tensor");
  ShapeRules::of(context).add(op, scale);
}

void register_passes(PassRegistry& registry) {
  registry.add_context_setup(add_operators);
}

}  // namespace

WINZE_PASS_PLUGIN(register_passes);
