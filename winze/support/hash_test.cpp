// SPDX-License-Identifier: Apache-2.0
#include "winze/support/hash.h"

#include <gtest/gtest.h>

#include <bit>
#include <set>

namespace winze {
namespace {

TEST(Hash, DependsOnOrder) {
  EXPECT_NE(hash_combine(hash_combine(0, 1), 2), hash_combine(hash_combine(0, 2), 1));
}

TEST(Hash, SpreadsNeighboursOverTheLowBits) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t i = 0; i < 4096; ++i) seen.insert(hash_integer(i) & 0xffffU);
  EXPECT_GT(seen.size(), 3800U);  // 4096 random draws of 65536 hit about 3971 different ones
}

TEST(Hash, SpreadsSequencesOverTheLowBits) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t i = 0; i < 64; ++i) {
    for (std::uint64_t j = 0; j < 64; ++j)
      seen.insert(hash_combine(hash_combine(2, i), j) & 0xffffU);
  }
  EXPECT_GT(seen.size(), 3800U);
}

TEST(Hash, NoElementMakesItForgetThoseBefore) {
  // Each constant of the function, and its neighbours, which make one of its factors 0 or 1.
  for (const std::uint64_t constant :
       {0x589965cc75374cc3ULL, 0x8ebc6af09c88c6e3ULL, 0xe7037ed1a0b428dbULL, 0ULL}) {
    for (const std::uint64_t element : {constant, constant ^ 1U, ~constant}) {
      std::set<std::uint64_t> seen;
      for (std::uint64_t before = 0; before < 1000; ++before)
        seen.insert(hash_combine(hash_combine(2, before), element));
      EXPECT_EQ(seen.size(), 1000U) << element;
    }
  }
}

TEST(Hash, SecretsDiffer) {
  EXPECT_NE(SecretHash()(1, 2), SecretHash()(1, 2));
  EXPECT_NE(SecretHash().bytes("a"), SecretHash().bytes("a"));
}

TEST(Hash, ChangesHalfOfTheBitsWithOneBit) {
  int changed = 0;
  for (unsigned bit = 0; bit < 64; ++bit) {
    changed += std::popcount(hash_integer(12345) ^ hash_integer(12345 ^ (std::uint64_t{1} << bit)));
  }
  EXPECT_NEAR(changed / 64.0, 32.0, 4.0);
}

TEST(Hash, IsXxh3ForBytes) {
  EXPECT_EQ(hash_bytes(""),
            0x2d06800538d394c2ULL);  // the published test value of XXH3 for no input
  EXPECT_NE(hash_bytes("a", 1), hash_bytes("a", 2));
}

}  // namespace
}  // namespace winze
