// SPDX-License-Identifier: Apache-2.0
#include "winze/pass/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winze {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Report sample() {
  Report report;
  report.program = "m";
  report.pipeline = "a, b, c";
  report.edits = 2;
  report.nodes_before = 5;
  report.nodes_after = 4;
  PassReport ran;
  ran.name = "a";
  ran.options = "{x=1}";
  ran.status = PassStatus::ran;
  ran.edits = 2;
  ran.seconds = 0.25;
  ran.nodes_before = 5;
  ran.nodes_after = 4;
  ran.op_changes = {{"aten.relu.default", 1, 0}};
  ran.edits_by_rule = {{"r", 2}};
  ran.statistics = {{"found", 3}};
  ran.notes = {"one \"note\""};
  ran.warnings = {"careful"};
  ran.dropped_notes = 1;
  PassReport skipped;
  skipped.name = "b";
  skipped.status = PassStatus::skipped;
  skipped.reason = "no graph calls any of x";
  PassReport not_reached;
  not_reached.name = "c";
  report.passes = {ran, skipped, not_reached};
  return report;
}

TEST(Report, AsTextHasOneLineAPassAndWhatItSaid) {
  EXPECT_EQ(sample().to_text(false),
            "  0  a{x=1}                        2 edits, 5 -> 4 nodes\n"
            "      aten.relu.default: 1 -> 0\n"
            "      rule r: 2 edits\n"
            "      found: 3\n"
            "      note: one \"note\"\n"
            "      ... and 1 more note\n"
            "      warning: careful\n"
            "  1  b                             skipped: no graph calls any of x\n"
            "  2  c                             not reached\n"
            "     all                           2 edits, 5 -> 4 nodes\n");
}

TEST(Report, ShowsTimeWhereAsked) {
  EXPECT_THAT(sample().to_text(true), HasSubstr("   250.000 ms  a{x=1}"));
  EXPECT_THAT(sample().to_text(false), Not(HasSubstr("ms")));
}

TEST(Report, AsJsonHasEveryField) {
  Report report = sample();
  report.error = Diagnostic{.message = "broke", .notes = {"n"}, .hint = "h"};
  EXPECT_EQ(
      report.to_json(),
      R"({"program": "m", "pipeline": "a, b, c", "edits": 2, "seconds": 0.0, "nodes_before": 5, )"
      R"("nodes_after": 4, "stopped_by_edit_limit": false, "error": {"message": "broke", )"
      R"("node": "", "source": "", "notes": ["n"], "hint": "h", "file": "", )"
      R"("text": "error: broke\n  note: n\n  hint: h"}, "reproducer": "", "passes": [)"
      R"({"name": "a", "options": "{x=1}", "status": "ran", "reason": "", "edits": 2, )"
      R"("seconds": 0.25, "verify_seconds": 0.0, "peak_memory_bytes": 0, "nodes_before": 5, )"
      R"("nodes_after": 4, "op_changes": [{"op": "aten.relu.default", "before": 1, "after": 0}], )"
      R"("edits_by_rule": {"r": 2}, "statistics": {"found": 3}, "notes": ["one \"note\""], )"
      R"("warnings": ["careful"], "dropped_notes": 1, "dropped_warnings": 0}, )"
      R"({"name": "b", "options": "", "status": "skipped", "reason": "no graph calls any of x", )"
      R"("edits": 0, "seconds": 0.0, "verify_seconds": 0.0, "peak_memory_bytes": 0, )"
      R"("nodes_before": 0, "nodes_after": 0, "op_changes": [], "edits_by_rule": {}, )"
      R"("statistics": {}, "notes": [], "warnings": [], "dropped_notes": 0, )"
      R"("dropped_warnings": 0}, {"name": "c", "options": "", "status": "not_reached", )"
      R"("reason": "", "edits": 0, "seconds": 0.0, "verify_seconds": 0.0, )"
      R"("peak_memory_bytes": 0, "nodes_before": 0, "nodes_after": 0, "op_changes": [], )"
      R"("edits_by_rule": {}, "statistics": {}, "notes": [], "warnings": [], )"
      R"("dropped_notes": 0, "dropped_warnings": 0}]})");
}

TEST(Report, ThrowsItsError) {
  Report report = sample();
  report.throw_if_failed();
  report.error = Diagnostic{.message = "broke"};
  EXPECT_THROW(report.throw_if_failed(), Error);
}

}  // namespace
}  // namespace winze
