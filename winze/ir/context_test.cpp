// SPDX-License-Identifier: Apache-2.0
#include "winze/ir/context.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/ir/op_signature.h"
#include "winze/schema/op_ids.h"

namespace winze {
namespace {

using testing::ElementsAre;

TEST(Context, EqualMetasHaveOneId) {
  Context context;
  const std::vector<SymInt> sizes{2, 3};
  const MetaId first = context.contiguous_meta(ScalarType::float32, sizes);
  EXPECT_EQ(first, context.contiguous_meta(ScalarType::float32, std::vector<SymInt>{2, 3}));
  EXPECT_NE(first, context.contiguous_meta(ScalarType::float16, sizes));
  EXPECT_NE(first, context.contiguous_meta(ScalarType::float32, std::vector<SymInt>{3, 2}));
  EXPECT_THAT(context.meta(first).tensor.strides, ElementsAre(3, 1));
}

TEST(Context, AnEmptyDimensionCountsAsOneInStrides) {
  Context context;
  const std::vector<SymInt> sizes{2, 0, 3};
  EXPECT_THAT(context.meta(context.contiguous_meta(ScalarType::float32, sizes)).tensor.strides,
              ElementsAre(3, 3, 1));
}

TEST(Context, SymbolicStridesAreProducts) {
  Context context;
  const SymInt s0 = context.symbols().symbol("s0");
  const std::vector<SymInt> sizes{2, s0, 3};
  const Meta& meta = context.meta(context.contiguous_meta(ScalarType::float32, sizes));
  EXPECT_FALSE(meta.tensor.is_static());
  EXPECT_EQ(meta.tensor.strides[0], context.symbols().mul(s0, 3));
}

TEST(Context, ListsAreComparedByBits) {
  Context context;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(context.floats(std::vector<double>{nan}), context.floats(std::vector<double>{nan}));
  EXPECT_NE(context.floats(std::vector<double>{0.0}), context.floats(std::vector<double>{-0.0}));
  EXPECT_EQ(context.integers({}), context.strings({}));
  EXPECT_EQ(context.complex_of(context.complex(1, -2)), std::complex<double>(1, -2));
}

TEST(Context, DevicesHaveNames) {
  Context context;
  const Device cuda{context.device_type("cuda"), 1};
  EXPECT_EQ(context.device_text(cuda), "cuda:1");
  EXPECT_EQ(context.device_text({}), "cpu");
  EXPECT_EQ(context.device_type("cuda"), cuda.type);
}

TEST(OpSignature, HasDefaultsAsArguments) {
  Context context;
  const OpSignature& convolution = context.signature(op::aten_conv2d_default);
  ASSERT_EQ(convolution.arguments.size(), 7U);
  EXPECT_TRUE(convolution.arguments[2].default_value.is_none());
  EXPECT_THAT(context.integers_of(convolution.arguments[3].default_value), ElementsAre(1, 1));
  EXPECT_EQ(convolution.arguments[6].default_value.integer(), 1);
  EXPECT_FALSE(convolution.arguments[1].has_default);
  EXPECT_EQ(convolution.value_count, 1U);
}

TEST(Context, KeepsWhatIsAttachedUnderItsKey) {
  const int first = 0;
  const int second = 0;
  const auto content = std::make_shared<int>(7);
  {
    Context context;
    EXPECT_EQ(context.attachment(&first), nullptr);
    context.attachment(&first) = content;
    EXPECT_EQ(context.attachment(&second), nullptr);
    EXPECT_EQ(context.attachment(&first), content);
    EXPECT_EQ(content.use_count(), 2);
  }
  EXPECT_EQ(content.use_count(), 1);
}

TEST(OpSignature, KnowsWhatArgumentsTake) {
  Context context;
  const OpSignature& add = context.signature(op::aten_add_Tensor);
  EXPECT_TRUE(add.arguments[1].kinds.contains(ArgumentKind::value));
  EXPECT_TRUE(add.arguments[1].kinds.contains(ArgumentKind::integer))
      << "export leaves numbers for tensors";
  EXPECT_FALSE(add.arguments[1].kinds.contains(ArgumentKind::none));
  EXPECT_TRUE(context.signature(op::aten__scaled_dot_product_flash_attention_backward_default)
                  .arguments[6]
                  .kinds.contains(ArgumentKind::none))
      << "gradients are computed with undefined tensors";
  EXPECT_FALSE(context.signature(op::aten_split_Tensor).fixed_values);
}

}  // namespace
}  // namespace winze
