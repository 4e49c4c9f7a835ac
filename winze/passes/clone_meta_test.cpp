// SPDX-License-Identifier: Apache-2.0
#include "winze/passes/clone_meta.h"

#include <gtest/gtest.h>

namespace winze {
namespace {

using Sizes = std::vector<SymInt>;

class CloneMetaTest : public ::testing::Test {
 protected:
  MetaId tensor(const Sizes& sizes, const Sizes& strides, SymInt offset = 0) {
    TensorMeta meta;
    meta.sizes = sizes;
    meta.strides = strides;
    meta.storage_offset = offset;
    return context_.tensor_meta(meta);
  }
  Context context_;
};

TEST_F(CloneMetaTest, KeepsTheStridesOfADenseTensor) {
  const MetaId plain = tensor({2, 3}, {3, 1});
  const MetaId transposed = tensor({2, 3}, {1, 2});
  EXPECT_EQ(meta_of_clone(context_, plain), plain);
  EXPECT_EQ(meta_of_clone(context_, transposed), transposed);
}

TEST_F(CloneMetaTest, BeginsAtTheStartOfItsStorage) {
  EXPECT_EQ(meta_of_clone(context_, tensor({2, 3}, {3, 1}, 5)), tensor({2, 3}, {3, 1}));
}

// The strides below are those that torch.empty_strided(sizes, strides).clone() has.
TEST_F(CloneMetaTest, ClosesGapsInTheOrderOfDimensions) {
  EXPECT_EQ(meta_of_clone(context_, tensor({2, 3}, {6, 1})), tensor({2, 3}, {3, 1}));
  EXPECT_EQ(meta_of_clone(context_, tensor({2, 3}, {1, 4})), tensor({2, 3}, {1, 2}));
  EXPECT_EQ(meta_of_clone(context_, tensor({2, 3}, {0, 1})), tensor({2, 3}, {3, 1}));
  EXPECT_EQ(meta_of_clone(context_, tensor({2, 3}, {1, 0})), tensor({2, 3}, {3, 1}));
  EXPECT_EQ(meta_of_clone(context_, tensor({2, 3, 4}, {1, 20, 4})), tensor({2, 3, 4}, {1, 8, 2}));
  EXPECT_EQ(meta_of_clone(context_, tensor({2, 3, 4}, {1, 0, 2})), tensor({2, 3, 4}, {1, 2, 6}));
  EXPECT_EQ(meta_of_clone(context_, tensor({3, 1, 4}, {4, 9, 1})), tensor({3, 1, 4}, {4, 9, 1}));
}

TEST_F(CloneMetaTest, AnEmptyTensorIsDense) {
  const MetaId empty = tensor({0, 3}, {7, 2});
  EXPECT_EQ(meta_of_clone(context_, empty), empty);
}

TEST_F(CloneMetaTest, KnowsContiguousSymbolicTensors) {
  const SymInt s0 = context_.symbols().symbol("s0");
  const MetaId contiguous = tensor({s0, 3}, {3, 1});
  EXPECT_EQ(meta_of_clone(context_, contiguous), contiguous);
  EXPECT_EQ(meta_of_clone(context_, tensor({3, s0}, {1, 3})), std::nullopt);
  EXPECT_EQ(meta_of_contiguous_clone(context_, tensor({3, s0}, {1, 3})), tensor({3, s0}, {s0, 1}));
}

}  // namespace
}  // namespace winze
