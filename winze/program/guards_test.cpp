// SPDX-License-Identifier: Apache-2.0
#include "winze/program/guards.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/program/program_text.h"

namespace winze {
namespace {

using testing::ElementsAre;

/// What of a guard is read: its relations, and `...` where there is more.
std::vector<std::string> read(const std::string& guard) {
  Context context;
  const ExportedProgram program =
      parse_program(context,
                    "symbol s0 in [2, 50]\nsymbol s1 in [0, 9]\n"
                    "graph f(%x: input f32[s0, 4], %n: input int = s1, %d_0_k_k: input f32[s1]) {\n"
                    "  return output %x\n}");
  const GuardReader::Result result = GuardReader(program).read(guard);
  std::vector<std::string> texts;
  for (const GuardRelation& relation : result.relations) {
    const SymbolicContext& symbols = context.symbols();
    texts.push_back(fmt::format("{} {} {}", symbols.str(relation.left), relation.relation,
                                symbols.str(relation.right)));
  }
  if (!result.is_complete) texts.emplace_back("...");
  return texts;
}

TEST(GuardReader, KnowsSizesAndIntegersOfInputs) {
  EXPECT_THAT(read("L['n'] <= L['x'].size()[0]"), ElementsAre("s1 <= s0"));
  EXPECT_THAT(read("(L['x'].size()[0] % 4) == 0"), ElementsAre("PythonMod(s0, 4) == 0"));
}

TEST(GuardReader, KnowsInputsInContainers) {
  EXPECT_THAT(read("L['d'][0]['k k'].size()[0] + 1 == L['x'].size()[0]"),
              ElementsAre("s1 + 1 == s0"));
}

TEST(GuardReader, TakesConjunctionsApart) {
  EXPECT_THAT(read("L['n'] >= 1 and L['n'] != 5"), ElementsAre("s1 >= 1", "s1 != 5"));
}

TEST(GuardReader, LeavesOutWhatOnlyPythonReads) {
  for (const char* guard :
       {"L['y'].size()[0] == 2", "L['x'].size()[2] == 2", "L['x'].stride()[0] == 2",
        "L['d'][0].size()[0] == 2", "L['x'].size()[", "L['x", "L[", "L['n'] == 1 or L['n'] == 2",
        "L['n'] ==", "L[L['n'] == 1", "L[L[L['n']] == 1", "not ___check_obj_id(L['n'])"})
    EXPECT_THAT(read(guard), ElementsAre("...")) << guard;
}

}  // namespace
}  // namespace winze
