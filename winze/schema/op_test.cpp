// SPDX-License-Identifier: Apache-2.0
#include "winze/schema/op.h"

#include <gtest/gtest.h>

#include "winze/schema/op_ids.h"
#include "winze/schema/op_registry.h"

namespace winze {
namespace {

TEST(Op, SpellsItsTargetAsExportDoes) {
  OpRegistry registry;
  EXPECT_EQ(registry.get(op::aten_add_Tensor).target(), "torch.ops.aten.add.Tensor");
  EXPECT_EQ(registry.get(op::aten_detach_default).target(), "torch.ops.aten.detach.default");
  EXPECT_EQ(registry.get(op::higher_order_cond).target(), "torch.ops.higher_order.cond");
  EXPECT_EQ(registry.get(op::_operator_floordiv).target(), "_operator.floordiv");
  EXPECT_EQ(registry.get(op::torch_sym_max).target(), "torch.sym_max");
  EXPECT_EQ(registry.get(op::math_trunc).target(), "math.trunc");
  EXPECT_EQ(registry.get(op::torch__functorch_predispatch__add_batch_dim).target(),
            "torch._functorch.predispatch._add_batch_dim");
}

TEST(Op, EveryTargetIsFoundAgain) {
  OpRegistry registry;
  registry.for_each([&](OpId id, std::string_view name) {
    const Op& op = registry.get(id);
    EXPECT_EQ(registry.find(op.target()), id) << name;
    EXPECT_EQ(op.qualified_name, name);
    EXPECT_EQ(op.id, id);
    EXPECT_FALSE(op.is_variant());
  });
}

TEST(Op, KnowsItsTags) {
  OpRegistry registry;
  const Op& add = registry.get(op::aten_add_Tensor);
  EXPECT_TRUE(add.tags.has(Tag::core));
  EXPECT_TRUE(add.tags.has(Tag::pointwise));
  EXPECT_FALSE(add.tags.has(Tag::inplace_view));
  EXPECT_EQ(add.tag_text, "core, pointwise, pt2_compliant_tag");
}

TEST(Op, EveryTagOfTheTableIsKnown) {
  OpRegistry registry;
  registry.for_each([&](OpId id, std::string_view name) {
    const Op& op = registry.get(id);
    int written =
        op.tag_text.empty()
            ? 0
            : 1 + static_cast<int>(std::count(op.tag_text.begin(), op.tag_text.end(), ','));
    EXPECT_EQ(op.tags.size(), written) << name << " [" << op.tag_text << "]";
  });
}

TEST(Op, TellsKinds) {
  OpRegistry registry;
  EXPECT_EQ(registry.get(op::aten_add_Tensor).kind, OpKind::overload);
  EXPECT_TRUE(registry.get(op::higher_order_while_loop).is_higher_order());
  EXPECT_TRUE(registry.get(op::_operator_mul).is_symbolic());
  EXPECT_EQ(registry.get(op::torch__C__set_grad_enabled).kind, OpKind::function);
}

}  // namespace
}  // namespace winze
