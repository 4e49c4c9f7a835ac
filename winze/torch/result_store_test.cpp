// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/result_store.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

namespace winze {
namespace {

constexpr std::uint64_t tensor_bytes = 16;

std::vector<c10::IValue> result() {
  return {at::ones({4})};
}

/// What a program says whose reusable calls have these numbers.
std::vector<ResultKey> keys(std::initializer_list<std::uint32_t> numbers) {
  std::vector<ResultKey> all;
  for (const std::uint32_t number : numbers) all.push_back({.number = number, .is_reusable = true});
  return all;
}

TEST(ResultStore, KeepsWhatFits) {
  ResultStore store(2 * tensor_bytes);
  store.begin_run(0, keys({1, 2, 3}));
  for (const std::uint32_t number : {1, 2, 3}) store.keep(number, result());
  EXPECT_NE(store.find(1), nullptr);
  EXPECT_NE(store.find(2), nullptr);
  EXPECT_EQ(store.find(3), nullptr);
  EXPECT_EQ(store.bytes(), 2 * tensor_bytes);
  EXPECT_EQ(store.dropped(), 1U);
}

TEST(ResultStore, TellsInputsApart) {
  ResultStore store(10 * tensor_bytes);
  store.begin_run(0, keys({1}));
  store.keep(1, result());
  store.begin_run(1, keys({1}));
  EXPECT_EQ(store.find(1), nullptr);
  store.begin_run(0, keys({1}));
  EXPECT_NE(store.find(1), nullptr);
}

TEST(ResultStore, MakesRoomByWhatIsNoLongerMade) {
  ResultStore store(3 * tensor_bytes);
  store.begin_run(1, keys({7}));
  store.keep(7, result());
  store.begin_run(0, keys({1, 2}));
  store.keep(1, result());
  store.keep(2, result());
  store.begin_run(0, keys({2, 3}));  // 1 is gone
  store.keep(3, result());
  EXPECT_EQ(store.find(1), nullptr);
  EXPECT_NE(store.find(2), nullptr);
  EXPECT_NE(store.find(3), nullptr);
  EXPECT_EQ(store.dropped(), 0U);
  store.begin_run(1, keys({7}));
  EXPECT_NE(store.find(7), nullptr);  // of other inputs
}

}  // namespace
}  // namespace winze
