// SPDX-License-Identifier: Apache-2.0
#include "winze/pass/pass_registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/pass/pass_test_passes.h"

namespace winze::testing {
namespace {

using ::testing::HasSubstr;

TEST(PassRegistry, FindsWhatWasAdded) {
  const PassRegistry registry = test_registry();
  EXPECT_EQ(registry.find("erase-relus"), &erase_relus_info);
  EXPECT_EQ(registry.find("both"), nullptr);
  EXPECT_EQ(registry.find_pipeline("both")->text, "note-only, erase-relus");
}

TEST(PassRegistry, SuggestsTheNearestName) {
  const PassRegistry registry = test_registry();
  EXPECT_EQ(error_of([&] { static_cast<void>(registry.get("erase-relu")); }),
            "error: there is no pass named \"erase-relu\"\n  hint: did you mean \"erase-relus\"?");
}

TEST(PassRegistry, ADuplicateIsAnError) {
  PassRegistry registry = test_registry();
  EXPECT_EQ(error_of([&] { registry.add(note_only_info); }),
            "error: there is a pass named \"note-only\" already");
  EXPECT_EQ(error_of([&] { registry.add_pipeline({"both", "", ""}); }),
            "error: there is a pipeline named \"both\" already");
  EXPECT_EQ(error_of([&] { registry.add_pipeline({"note-only", "", ""}); }),
            "error: there is a pass named \"note-only\" already");
}

TEST(PassRegistry, NamesHaveOneForm) {
  PassRegistry registry;
  for (const char* name : {"", "Abc", "a_b", "-a", "a-", "a b", "1a"}) {
    const PassInfo info{.name = name, .run = note_only};
    EXPECT_THAT(error_of([&] { registry.add(info); }), HasSubstr("is not a name for a pass"))
        << name;
  }
  const PassInfo all{.name = "all", .run = note_only};
  EXPECT_THAT(error_of([&] { registry.add(all); }), HasSubstr("\"all\" means every pass"));
}

TEST(PassReference, ListsPassesWithOptionsAndExamples) {
  PassRegistry registry = test_registry();
  const std::string page = markdown_reference(registry);
  EXPECT_THAT(page, HasSubstr("### `with-options`"));
  EXPECT_THAT(page, HasSubstr("| `to` | `core-aten` or `prims` | `core-aten` | where to |"));
  EXPECT_THAT(page, HasSubstr("Looks for `aten.relu.default`"));
  EXPECT_THAT(page, HasSubstr("| `both` | Two of them. | `note-only, erase-relus` |"));
  EXPECT_THAT(page, HasSubstr("Needs `erase-relus` before it: it cannot read relu."));
}

TEST(PassReference, SaysThatOutputsStopSharing) {
  static constexpr PassInfo info{
      .name = "copy", .summary = "Copies.", .run = note_only, .changes_output_aliasing = true};
  PassRegistry registry;
  registry.add(info);
  EXPECT_THAT(markdown_reference(registry), HasSubstr("- Makes outputs stop sharing storage"));
  EXPECT_THAT(text_reference(registry), HasSubstr("  makes outputs stop sharing storage\n"));
}

TEST(PassReference, ShowsTheSameAsPlainText) {
  const std::string text = text_reference(test_registry());
  EXPECT_THAT(text, HasSubstr("with-options\n  Takes options of every type.\n"));
  EXPECT_THAT(text, HasSubstr("    to=core-aten"));
  EXPECT_THAT(text, HasSubstr("  looks for: aten.relu.default\n"));
}

}  // namespace
}  // namespace winze::testing
