// SPDX-License-Identifier: Apache-2.0
#include "winze/symbolic/expr_store.h"

#include <array>
#include <vector>

#include <gtest/gtest.h>

namespace winze {
namespace {

TEST(ExprStore, GivesEqualNodesOneIndexWhileTheTableGrows) {
  ExprStore store;
  const SymExpr s0 = store.intern_symbol("s0", SymbolAssumptions::positive_integer());
  const auto make = [&](std::int64_t number) {
    const std::array sum{SymExpr(number), s0};
    return std::array{store.intern(SymOp::add, SymKind::int_kind, sum),
                      store.intern_float(static_cast<double>(number) / 2),
                      store.intern_rational(number, 7)};
  };
  std::vector<std::array<SymExpr, 3>> made;
  for (std::int64_t number = 1; number < 2000; ++number) made.push_back(make(number));
  const std::size_t size = store.size();
  for (std::size_t at = 0; at < made.size(); ++at)
    EXPECT_EQ(make(static_cast<std::int64_t>(at) + 1), made[at]);
  EXPECT_EQ(store.size(), size);
}

/// The step of the hash of the structure, which can be turned back: files can be made of
/// expressions for which it is the same.
std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15U;
  return hash ^ (hash >> 29);
}

TEST(ExprStore, TellsNodesOfEqualHashApart) {
  ExprStore store;
  const SymExpr s0 = store.intern_symbol("s0", SymbolAssumptions::positive_integer());
  const auto colliding = [&](std::int64_t number) {
    const std::array sum{SymExpr(number), s0};
    const SymExpr left = store.intern(SymOp::add, SymKind::int_kind, sum);
    const std::uint64_t so_far = mix(static_cast<std::uint64_t>(SymOp::floor_div) + 1, 2);
    const std::uint64_t divisor = mix(so_far, store.node(left).hash) ^ 77U;
    const std::array division{left, SymExpr::from_bits(divisor)};
    return store.intern(SymOp::floor_div, SymKind::int_kind, division);
  };
  const SymExpr one = colliding(1);
  const SymExpr two = colliding(2);
  EXPECT_EQ(store.node(one).hash, store.node(two).hash);
  EXPECT_NE(one, two);
  EXPECT_EQ(colliding(1), one);
  EXPECT_NE(store.before(one, two), store.before(two, one));
}

}  // namespace
}  // namespace winze
