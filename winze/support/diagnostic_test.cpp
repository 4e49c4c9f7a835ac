// SPDX-License-Identifier: Apache-2.0
#include "winze/support/diagnostic.h"

#include <gtest/gtest.h>

namespace winze {
namespace {

TEST(Diagnostic, PrintsEveryPartItHas) {
  Diagnostic diagnostic;
  diagnostic.message = "unknown dtype \"f33\"";
  diagnostic.where = {.file = "a.wz", .line = 3, .column = 5, .source_text = "%x: f33[2]"};
  diagnostic.node = "%y = aten.relu.default(%x)";
  diagnostic.source = "model.py:12, in forward: y = x.relu()";
  diagnostic.notes = {"dtypes are f32, f16"};
  diagnostic.hint = "use f32";
  EXPECT_EQ(diagnostic.str(),
            "a.wz:3:5: error: unknown dtype \"f33\"\n"
            "    %x: f33[2]\n"
            "        ^\n"
            "  node: %y = aten.relu.default(%x)\n"
            "  from: model.py:12, in forward: y = x.relu()\n"
            "  note: dtypes are f32, f16\n"
            "  hint: use f32");
}

Diagnostic at_column(int column, std::string line) {
  Diagnostic diagnostic;
  diagnostic.message = "no";
  diagnostic.where = {.line = 1, .column = column, .source_text = std::move(line)};
  return diagnostic;
}

TEST(Diagnostic, PutsTheCaretBelowCharactersNotBytes) {
  EXPECT_EQ(at_column(5, "\xc3\xbc\t\xff!").str(),
            "line 1:5: error: no\n"
            "    \xc3\xbc ?!\n"
            "       ^");
  EXPECT_EQ(at_column(3, "ab").str(), "line 1:3: error: no\n    ab\n      ^");
}

TEST(Diagnostic, ShowsOfALongLineWhatIsNearThePlace) {
  const std::string line = std::string(3000, 'a') + "!" + std::string(3000, 'b');
  const std::string text = at_column(3001, line).str();
  EXPECT_LT(text.size(), 800U);
  const std::size_t shown = text.find("...a");
  const std::size_t caret = text.rfind('^') - text.rfind('\n');
  ASSERT_NE(shown, std::string::npos);
  EXPECT_EQ(text[text.find("\n    ...a") + caret], '!');
  EXPECT_NE(text.find("bbb...\n"), std::string::npos);
}

TEST(Diagnostic, NamesRecordAndPath) {
  Diagnostic diagnostic;
  diagnostic.message = "a string is wanted";
  diagnostic.where = {.file = "m.pt2", .record = "models/model.json", .path = "graph_module.graph"};
  EXPECT_EQ(diagnostic.str(),
            "m.pt2: models/model.json: at graph_module.graph: error: a string is wanted");
}

TEST(Error, CarriesItsDiagnostic) {
  try {
    fail("no op named \"{}\"", "aten.foo");
  } catch (const Error& error) {
    EXPECT_EQ(error.diagnostic().message, "no op named \"aten.foo\"");
    EXPECT_STREQ(error.what(), "error: no op named \"aten.foo\"");
    return;
  }
  FAIL() << "fail() returned";
}

TEST(Check, NamesTheConditionWhenItDoesNotHold) {
  EXPECT_NO_THROW(WINZE_CHECK(1 + 1 == 2, "sums"));
  try {
    WINZE_CHECK(1 + 1 == 3, "sum is {}", 2);
  } catch (const InternalError& error) {
    EXPECT_NE(std::string(error.what()).find("sum is 2 (1 + 1 == 3 at "), std::string::npos);
    return;
  }
  FAIL() << "the check passed";
}

}  // namespace
}  // namespace winze
