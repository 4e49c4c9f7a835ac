// SPDX-License-Identifier: Apache-2.0
#include "winze/pass/pass_options.h"

#include <gtest/gtest.h>

#include "winze/pass/pass_test_passes.h"

namespace winze::testing {
namespace {

TEST(PassOptions, StartWithTheDefaultsOfTheStruct) {
  const PassOptions options(sample_options());
  EXPECT_EQ(options.get<SampleOptions>().count, 3);
  EXPECT_EQ(options.str(), "");
}

TEST(PassOptions, AreSetByText) {
  PassOptions options(sample_options());
  options.set("fast", "true");
  options.set("count", "-7");
  options.set("scale", "1e-3");
  options.set("name", "a b");
  options.set("ops", OptionText{.is_list = true, .items = {"x", "y z"}});
  options.set("to", "prims");
  const auto& values = options.get<SampleOptions>();
  EXPECT_TRUE(values.fast);
  EXPECT_EQ(values.count, -7);
  EXPECT_EQ(values.scale, 1e-3);
  EXPECT_EQ(values.name, "a b");
  EXPECT_EQ(values.ops, (std::vector<std::string>{"x", "y z"}));
  EXPECT_EQ(values.to, SampleOptions::Target::prims);
  EXPECT_EQ(options.str(),
            "{fast=true, count=-7, scale=0.001, name=\"a b\", ops=[x, \"y z\"], to=prims}");
}

TEST(PassOptions, ACopyDoesNotFollowItsOriginal) {
  PassOptions original(sample_options());
  const PassOptions copy = original;
  original.set("count", "4");
  EXPECT_EQ(copy.get<SampleOptions>().count, 3);
  EXPECT_FALSE(copy == original);
}

TEST(PassOptions, RefuseValuesThatDoNotFit) {
  PassOptions options(sample_options());
  const auto set = [&](std::string_view name, std::string_view text) {
    return error_of([&] { options.set(name, text); });
  };
  EXPECT_EQ(set("fast", "yes"), "error: option fast: \"yes\" is not true or false");
  EXPECT_EQ(set("count", "3.5"), "error: option count: \"3.5\" is not an integer");
  EXPECT_EQ(set("count", "99999999999999999999"),
            "error: option count: \"99999999999999999999\" is out of range");
  EXPECT_EQ(set("scale", "big"), "error: option scale: \"big\" is not a number");
  EXPECT_EQ(set("to", "prim"),
            "error: option to: \"prim\" is none of core-aten, prims\n"
            "  hint: did you mean \"prims\"?");
  EXPECT_EQ(set("cuont", "3"), "error: no option \"cuont\"\n  hint: did you mean \"count\"?");
  EXPECT_EQ(error_of([&] { options.set("count", OptionText{.is_list = true, .items = {}}); }),
            "error: option count: a list was given where an integer is expected");
  EXPECT_EQ(options.str(), "");
}

TEST(PassOptions, OfAPassWithoutAnyTakeNone) {
  PassOptions options;
  EXPECT_EQ(error_of([&] { options.set("x", "1"); }),
            "error: option \"x\" given to a pass that takes none");
}

TEST(PassOptions, AskingForAnotherStructIsAFault) {
  const PassOptions options(sample_options());
  EXPECT_THROW(static_cast<void>(options.get<int>()), InternalError);
}

}  // namespace
}  // namespace winze::testing
