// SPDX-License-Identifier: Apache-2.0
#include "winze/pass/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/pass/pass_test_passes.h"

namespace winze::testing {
namespace {

using ::testing::HasSubstr;

class PipelineTest : public ::testing::Test {
 protected:
  [[nodiscard]] Pipeline parse(std::string_view text) const {
    return Pipeline::parse(text, registry_);
  }
  [[nodiscard]] std::string error(std::string_view text) const {
    return error_of([&] { static_cast<void>(parse(text)); });
  }
  [[nodiscard]] PipelineEntry entry(std::string_view name) const {
    return pipeline_entry(registry_.get(name));
  }
  PassRegistry registry_ = test_registry();
};

TEST_F(PipelineTest, ReadsAndPrints) {
  EXPECT_EQ(parse("").str(), "");
  EXPECT_EQ(parse(" note-only ,\n erase-relus").str(), "note-only, erase-relus");
  EXPECT_EQ(parse("with-options{ fast , ops = [a, \"b c\"], to=prims }").str(),
            "with-options{fast=true, ops=[a, \"b c\"], to=prims}");
  EXPECT_EQ(parse("with-options{count=3}").str(), "with-options");
}

TEST_F(PipelineTest, WhatItPrintsReadsBackTheSame) {
  const Pipeline pipeline =
      parse("both, with-options{name=\"x, }\\\"\\n\", ops=[], scale=0.1}, with-options");
  EXPECT_EQ(parse(pipeline.str()).str(), pipeline.str());
}

TEST_F(PipelineTest, ANamedPipelineStandsForItsPasses) {
  EXPECT_EQ(parse("both, both").str(), "note-only, erase-relus, note-only, erase-relus");
}

TEST_F(PipelineTest, ANamedPipelineThatUsesItselfIsAnError) {
  registry_.add_pipeline({"round", "note-only, round", ""});
  EXPECT_THAT(error("round"), HasSubstr("pipeline round uses itself"));
}

TEST_F(PipelineTest, ErrorsPointAtTheText) {
  EXPECT_EQ(error("note-only, erase-relu"),
            "pipeline:1:12: error: there is no pass named \"erase-relu\"\n"
            "    note-only, erase-relu\n"
            "               ^\n"
            "  hint: did you mean \"erase-relus\"?");
  EXPECT_THAT(error("note-only erase-relus"),
              HasSubstr("\"e\" stands where a comma between two passes is expected"));
  EXPECT_THAT(error("note-only,"), HasSubstr("the pipeline ends where the name of a pass"));
  EXPECT_THAT(error("with-options{count=}"),
              HasSubstr("pipeline:1:20: error: \"}\" stands where a value is expected"));
  EXPECT_THAT(error("with-options{count=1"),
              HasSubstr("the pipeline ends where a comma between two options"));
  EXPECT_THAT(error("with-options{name=\"x}"), HasSubstr("this string does not end"));
  EXPECT_THAT(error("with-options{ops=[a b]}"),
              HasSubstr("\"b\" stands where a comma between two values"));
  EXPECT_THAT(error("with-options{cuont=1}"), HasSubstr("pass with-options: no option \"cuont\""));
  EXPECT_THAT(error("note-only{x=1}"), HasSubstr("option \"x\" given to a pass that takes none"));
  EXPECT_THAT(error("both{x}"), HasSubstr("a named pipeline takes no options"));
}

TEST_F(PipelineTest, AnOptionIsGivenOnce) {
  EXPECT_THAT(error("with-options{count=1, fast, count=2}"),
              HasSubstr("pipeline:1:29: error: pass with-options: option count is given twice"));
}

TEST_F(PipelineTest, IsEditedByNameAndIndex) {
  Pipeline pipeline = parse("note-only");
  pipeline.append(entry("erase-relus"));
  pipeline.insert_before("erase-relus", entry("with-options"));
  pipeline.insert_after("erase-relus", entry("needs-relus-gone"));
  pipeline.insert(0, entry("with-options"));
  EXPECT_EQ(pipeline.str(), "with-options, note-only, with-options, erase-relus, needs-relus-gone");
  pipeline.remove(1);
  pipeline.remove("with-options");
  EXPECT_EQ(pipeline.str(), "erase-relus, needs-relus-gone");
}

TEST_F(PipelineTest, EditsNameWhatIsMissing) {
  Pipeline pipeline = parse("note-only, note-only");
  EXPECT_EQ(error_of([&] { pipeline.insert_before("note-only", entry("erase-relus")); }),
            "error: the pipeline has 2 passes named \"note-only\", at 0, 1\n"
            "  hint: say which by its index");
  EXPECT_EQ(error_of([&] { pipeline.remove("erase-relus"); }),
            "error: the pipeline has no pass named \"erase-relus\"\n"
            "  hint: it is note-only, note-only");
  EXPECT_EQ(error_of([&] { pipeline.insert(3, entry("note-only")); }),
            "error: index 3 is past the end of a pipeline of 2 passes");
  EXPECT_EQ(error_of([&] { pipeline.remove(2); }),
            "error: index 2 is past the end of a pipeline of 2 passes");
  EXPECT_EQ(pipeline.size(), 2U);
}

TEST_F(PipelineTest, ChecksWhatAPassNeeds) {
  EXPECT_EQ(error("needs-relus-gone, erase-relus"),
            "error: pass needs-relus-gone (at 0) needs erase-relus before it: it cannot read relu\n"
            "  hint: add erase-relus before it");
  EXPECT_EQ(error("erase-relus, needs-relus-gone"), "");
}

TEST_F(PipelineTest, ChecksWhatAPassMustNotPrecede) {
  EXPECT_EQ(
      error("erase-relus, not-before-relus, note-only, erase-relus"),
      "error: pass not-before-relus (at 1) must not stand before erase-relus (at 3): it hides "
      "relu\n  hint: put erase-relus first");
  EXPECT_EQ(error("not-before-relus"), "");
}

TEST_F(PipelineTest, ABrokenOrderLeavesThePipelineAsItWas) {
  Pipeline pipeline = parse("erase-relus, needs-relus-gone");
  EXPECT_NE(error_of([&] { pipeline.remove("erase-relus"); }), "");
  EXPECT_EQ(pipeline.str(), "erase-relus, needs-relus-gone");
}

TEST_F(PipelineTest, DumpsOnePassALine) {
  EXPECT_EQ(parse("with-options{fast}, note-only").dump(),
            "  0  with-options{fast=true}           Takes options of every type.\n"
            "  1  note-only                         Says something.\n");
}

}  // namespace
}  // namespace winze::testing
