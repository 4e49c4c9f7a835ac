// SPDX-License-Identifier: Apache-2.0
#include "winze/support/record_array.h"

#include <gtest/gtest.h>

namespace winze {
namespace {

struct Record {
  std::uint32_t key = 7;
  std::uint32_t value = 9;
};

// More than fits into a block of malloc.
constexpr std::size_t many = 3'000'000;

TEST(RecordArrayTest, BeginsEmpty) {
  const RecordArray<Record> records;
  EXPECT_TRUE(records.empty());
  EXPECT_EQ(records.capacity(), 0U);
}

TEST(RecordArrayTest, MakesNewRecordsByDefault) {
  RecordArray<Record> records;
  records.resize(3);
  EXPECT_EQ(records[2].key, 7U);
  EXPECT_EQ(records[2].value, 9U);
}

TEST(RecordArrayTest, MakesNewRecordsAfterAnExample) {
  RecordArray<Record> records;
  records.resize(3, {1, 2});
  records.resize(4, {3, 4});
  EXPECT_EQ(records[2].key, 1U);
  EXPECT_EQ(records[3].key, 3U);
}

TEST(RecordArrayTest, KeepsContentWhileItGrowsFromSmallToLarge) {
  RecordArray<std::uint32_t> numbers;
  for (std::uint32_t i = 0; i < many; ++i) numbers.push_back(i);
  ASSERT_EQ(numbers.size(), many);
  for (std::uint32_t i = 0; i < many; ++i) ASSERT_EQ(numbers[i], i);
}

TEST(RecordArrayTest, MakesAgainWhatWasTakenAway) {
  RecordArray<Record> records;
  records.push_back({1, 2});
  records.pop_back();
  records.resize(1);
  EXPECT_EQ(records[0].key, 7U);
}

TEST(RecordArrayTest, ReservesWithoutMakingRecords) {
  RecordArray<Record> records;
  records.reserve(many);
  EXPECT_EQ(records.size(), 0U);
  EXPECT_EQ(records.capacity(), many);
  const Record* before = records.data();
  records.resize(many);
  EXPECT_EQ(records.data(), before);
}

TEST(RecordArrayTest, ReservingLessChangesNothing) {
  RecordArray<Record> records;
  records.reserve(10);
  records.reserve(5);
  EXPECT_EQ(records.capacity(), 10U);
}

TEST(RecordArrayTest, ZeroesWhatWasThere) {
  for (const std::size_t size : {std::size_t{10}, many}) {
    RecordArray<Record> records;
    records.resize(5);
    records.assign_zeroed(size);
    ASSERT_EQ(records.size(), size);
    EXPECT_EQ(records[0].key, 0U);
    EXPECT_EQ(records[size - 1].value, 0U);
  }
}

TEST(RecordArrayTest, HoldsNothingAfterBeingZeroedToNothing) {
  RecordArray<Record> records;
  records.resize(5);
  records.assign_zeroed(0);
  EXPECT_TRUE(records.empty());
}

TEST(RecordArrayTest, PrefetchingAnyIndexIsHarmless) {
  RecordArray<Record> records;
  records.prefetch(0);
  records.resize(5);
  records.prefetch(4);
  records.prefetch(many);
  EXPECT_EQ(records[4].key, 7U);
}

}  // namespace
}  // namespace winze
