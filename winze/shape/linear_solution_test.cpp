// SPDX-License-Identifier: Apache-2.0
#include "winze/shape/linear_solution.h"

#include <gtest/gtest.h>

namespace winze {
namespace {

class LinearSolutionTest : public ::testing::Test {
 protected:
  std::optional<std::int64_t> solve(std::string_view a, std::string_view b) {
    const auto found = linear_solution(symbols_, symbols_.parse(a), symbols_.parse(b));
    if (!found) return std::nullopt;
    EXPECT_EQ(found->symbol, s0_);
    return found->value;
  }
  SymbolicContext symbols_;
  SymExpr s0_ = symbols_.symbol("s0");
  SymExpr s1_ = symbols_.symbol("s1");
};

TEST_F(LinearSolutionTest, SolvesForTheOnlySymbol) {
  EXPECT_EQ(solve("256*s0", "512"), 2);
  EXPECT_EQ(solve("2*s0 + 1", "15"), 7);
  EXPECT_EQ(solve("9", "3*s0"), 3);
  EXPECT_EQ(solve("s0 + s1", "s1 + 4"), 4);
}

TEST_F(LinearSolutionTest, FindsNothingWithoutOneInteger) {
  EXPECT_EQ(solve("2*s0", "5"), std::nullopt);
  EXPECT_EQ(solve("s0*s0", "4"), std::nullopt);
  EXPECT_EQ(solve("s0 // 2", "4"), std::nullopt);
  EXPECT_EQ(solve("s0 + s1", "4"), std::nullopt);
  EXPECT_EQ(solve("s0", "s0"), std::nullopt);
}

}  // namespace
}  // namespace winze
