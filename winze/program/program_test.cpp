// SPDX-License-Identifier: Apache-2.0
#include "winze/program/program.h"

#include <gtest/gtest.h>

#include <vector>

namespace winze {
namespace {

std::uint64_t needed(std::vector<SymInt> sizes, std::vector<SymInt> strides, SymInt offset = 0) {
  TensorMeta meta;
  meta.sizes = sizes;
  meta.strides = strides;
  meta.storage_offset = offset;
  return storage_size_needed(meta);
}

TEST(StorageSizeNeeded, ReachesToTheLastElement) {
  EXPECT_EQ(needed({2, 3}, {3, 1}), 24U);
  EXPECT_EQ(needed({2, 3}, {1, 2}), 24U);
  EXPECT_EQ(needed({3, 3}, {8, 2}, 17), (17U + 16U + 4U + 1U) * 4U);
  EXPECT_EQ(needed({}, {}), 4U);
  EXPECT_EQ(needed({3, 4}, {1, 0}), 12U);
}

TEST(StorageSizeNeeded, IsZeroWithoutElements) {
  EXPECT_EQ(needed({0, 4}, {4, 1}, 7), 0U);
}

TEST(StorageSizeNeeded, RefusesWhatOverflows) {
  constexpr std::int64_t huge = std::int64_t{1} << 62;
  EXPECT_THROW((void)needed({huge, huge}, {huge, 1}), Error);
  EXPECT_THROW((void)needed({huge}, {huge}), Error);
  EXPECT_THROW((void)needed({1}, {1}, huge), Error);
  EXPECT_THROW((void)needed({2}, {1}, -1), Error);
}

TEST(WeightTable, KeepsOrderAndFindsByName) {
  WeightTable table;
  for (const char* name : {"a", "b", "c"}) table.add({.fqn = name});
  EXPECT_THROW(table.add({.fqn = "b"}), Error);
  const auto is_a = [](const Weight& weight) { return weight.fqn == "a"; };
  EXPECT_EQ(table.erase_if(is_a), 1U);
  EXPECT_EQ(table.erase_if(is_a), 0U);
  EXPECT_EQ(table.find("a"), nullptr);
  EXPECT_EQ(table.find("c"), &table.entries()[1]);
}

}  // namespace
}  // namespace winze
