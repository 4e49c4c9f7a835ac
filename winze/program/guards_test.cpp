// SPDX-License-Identifier: Apache-2.0
#include "winze/program/guards.h"

#include <cstdint>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "winze/program/program_text.h"

namespace winze {
namespace {

/// A program whose guards are read, and what they say.
class GuardReaderTest : public ::testing::Test {
 protected:
  GuardReaderTest()
      : program_(parse_program(
            context_,
            "symbol s0 in [2, 50]\nsymbol s1 in [0, 9]\n"
            "graph f(%x: input f32[s0, 4], %n: input int = s1, %d_0_k_k: input f32[s1]) {\n"
            "  return output %x\n}")) {}

  /// Whether all conditions that are read of the guard hold where %x has `rows` rows and %n is `n`.
  bool holds(const std::string& guard, std::int64_t rows, std::int64_t n) {
    SymbolicContext& symbols = context_.symbols();
    const auto value_of = [&](SymExpr symbol) -> std::optional<SymValue> {
      return symbol == symbols.find_symbol("s0") ? rows : n;
    };
    for (const SymExpr condition : GuardReader(program_).read(guard).conditions) {
      if (symbols.evaluate(condition, value_of) != SymValue(true)) return false;
    }
    return true;
  }
  bool is_complete(const std::string& guard) {
    return GuardReader(program_).read(guard).is_complete;
  }
  std::size_t count(const std::string& guard) {
    return GuardReader(program_).read(guard).conditions.size();
  }

  Context context_;
  ExportedProgram program_;
};

TEST_F(GuardReaderTest, KnowsSizesAndIntegersOfInputs) {
  const std::string guard = "L['n'] <= L['x'].size()[0]";
  EXPECT_TRUE(is_complete(guard));
  EXPECT_TRUE(holds(guard, 4, 4));
  EXPECT_FALSE(holds(guard, 4, 5));
  EXPECT_TRUE(holds("(L['x'].size()[0] % 4) == 0", 8, 0));
  EXPECT_FALSE(holds("(L['x'].size()[0] % 4) == 0", 9, 0));
}

TEST_F(GuardReaderTest, KnowsInputsInContainers) {
  const std::string guard = "L['d'][0]['k k'].size()[0] + 1 == L['x'].size()[0]";
  EXPECT_TRUE(is_complete(guard));
  EXPECT_TRUE(holds(guard, 4, 3));
  EXPECT_FALSE(holds(guard, 4, 4));
}

TEST_F(GuardReaderTest, TakesConjunctionsApart) {
  const std::string guard = "L['n'] >= 1 and L['n'] != 5";
  EXPECT_EQ(count(guard), 2U);
  for (std::int64_t n = 0; n < 10; ++n) EXPECT_EQ(holds(guard, 2, n), n >= 1 && n != 5) << n;
}

TEST_F(GuardReaderTest, KeepsWhatItReadsOfAConjunction) {
  const std::string guard = "L['n'] >= 1 and callable(3)";
  EXPECT_FALSE(is_complete(guard));
  EXPECT_EQ(count(guard), 1U);
}

TEST_F(GuardReaderTest, KnowsAlternativesAndNegations) {
  for (std::int64_t n = 0; n < 10; ++n) {
    EXPECT_EQ(holds("L['n'] == 1 or (L['n'] >= 4 and not (L['n'] == 7))", 2, n),
              n == 1 || (n >= 4 && n != 7))
        << n;
    EXPECT_EQ(holds("(L['n'] + 1) * 2 == 4 or L['n'] == 3", 2, n), n == 1 || n == 3) << n;
    EXPECT_EQ(holds("not L['n'] < 3", 2, n), n >= 3) << n;
    EXPECT_EQ(holds("(L['n'] > 2) and (L['n'] < 4 or L['n'] == 6)", 2, n), n == 3 || n == 6) << n;
  }
}

TEST_F(GuardReaderTest, ReadsNoAlternativeInPart) {
  const std::string guard = "L['n'] == 1 or callable(3)";
  EXPECT_FALSE(is_complete(guard));
  EXPECT_EQ(count(guard), 0U);
}

TEST_F(GuardReaderTest, LeavesOutWhatIsNestedTooDeeply) {
  std::string guard = "L['n'] == 1";
  for (int nested = 0; nested < 1000; ++nested) guard = "not (" + guard + ")";
  EXPECT_FALSE(is_complete(guard));
  EXPECT_EQ(count(guard), 0U);
}

TEST_F(GuardReaderTest, LeavesOutWhatOnlyPythonReads) {
  for (const char* guard :
       {"L['y'].size()[0] == 2", "L['x'].size()[2] == 2", "L['x'].stride()[0] == 2",
        "L['d'][0].size()[0] == 2", "L['x'].size()[", "L['x", "L[", "L['n'] ==", "L[L['n'] == 1",
        "L[L[L['n']] == 1", "not ___check_obj_id(L['n'])"}) {
    EXPECT_FALSE(is_complete(guard)) << guard;
    EXPECT_EQ(count(guard), 0U) << guard;
  }
}

}  // namespace
}  // namespace winze
