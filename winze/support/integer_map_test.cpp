// SPDX-License-Identifier: Apache-2.0
#include "winze/support/integer_map.h"

#include <gtest/gtest.h>

namespace winze {
namespace {

constexpr std::uint64_t many = 20'000;

TEST(IntegerMapTest, GrowsWithItsEntriesAloneWhereLowBitsAgree) {
  IntegerMap<std::uint64_t> table;
  for (std::uint64_t high = 0; high < many; ++high) table.emplace(high << 40U, high);
  EXPECT_EQ(table.size(), many);
  EXPECT_LE(table.bucket_count(), 4 * many);
  EXPECT_EQ(table.at(std::uint64_t{7} << 40U), 7);
}

TEST(IntegerMapTest, GrowsWithItsEntriesAloneWhereHighBitsDiffer) {
  IntegerSet table;
  for (std::uint64_t high = 0; high < 6; ++high) {
    for (std::uint64_t low = 0; low < many; ++low) table.insert(high << 32U | low);
  }
  EXPECT_EQ(table.size(), 6 * many);
  EXPECT_LE(table.bucket_count(), 24 * many);
}

}  // namespace
}  // namespace winze
