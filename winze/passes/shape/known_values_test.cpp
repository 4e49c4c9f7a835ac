// SPDX-License-Identifier: Apache-2.0
#include "winze/passes/shape/known_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/program/program_text.h"

namespace winze {
namespace {

/// The elements of %r as text, `?` where they are not known. The program has the input %x of the
/// size s0 by 4, and its size %n.
std::string elements(std::string_view body) {
  Context context;
  const std::string text = fmt::format(
      "symbol s0 in [2, 64]\n"
      "graph f(%x: input f32[s0, 4], %y: input i64[2]) {{\n"
      "  %n = aten.sym_size.int(%x, 0) : int = s0\n{}\n  return output %r\n}}\n",
      body);
  const ExportedProgram program = parse_program(context, text);
  const AliasAnalysis aliases(program);
  const KnownValues known(*program.graph, aliases, &program);
  const Argument returned = program.graph->output_node().argument(0);
  const Argument result = program.graph->output_node().element(returned, 0);
  const KnownValues::Elements* found = known.of(program.graph->value_at(result.value_id()));
  if (found == nullptr) return "?";
  std::string shown;
  for (const SymExpr element : *found)
    shown += (shown.empty() ? "" : ", ") + context.symbols().str(element);
  return shown;
}

TEST(KnownValues, FactoriesSayWhatTheyFillIn) {
  EXPECT_EQ(elements("%r = aten.full([2], 7) : i64[2]"), "7, 7");
  EXPECT_EQ(elements("%r = aten.arange.start_step(2, 8, 3) : i64[2]"), "2, 5");
  EXPECT_EQ(elements("%r = aten.scalar_tensor(%n, dtype=i64) : i64[]"), "s0");
  EXPECT_EQ(elements("%r = aten.ones([2], dtype=b8) : b8[2]"), "1, 1");
}

TEST(KnownValues, ViewsAreReadThroughTheirStrides) {
  const std::string base = "%a = aten.arange(6) : i64[6]\n%m = aten.view(%a, [2, 3]) : i64[2, 3]\n";
  EXPECT_EQ(elements(base + "%r = aten.t(%m) : i64[3, 2] strides [1, 3]"), "0, 3, 1, 4, 2, 5");
  EXPECT_EQ(elements(base + "%r = aten.select.int(%m, 1, 2) : i64[2] strides [3] offset [2]"),
            "2, 5");
  EXPECT_EQ(elements(base + "%s = aten.select.int(%m, 0, 1) : i64[3] offset [3]\n"
                            "%r = aten.expand(%s, [2, 3]) : i64[2, 3] strides [0, 1] offset [3]"),
            "3, 4, 5, 3, 4, 5");
}

TEST(KnownValues, ArithmeticBroadcasts) {
  const std::string base =
      "%a = aten.arange(3) : i64[3]\n%s = aten.scalar_tensor(%n, dtype=i64) : i64[]\n";
  EXPECT_EQ(elements(base + "%r = aten.add.Tensor(%a, %s, alpha=2) : i64[3]"),
            "2*s0, 2*s0 + 1, 2*s0 + 2");
  EXPECT_EQ(elements(base + "%r = aten.div.Tensor_mode(%s, 2, rounding_mode=\"floor\") : i64[]"),
            "s0//2");
  EXPECT_EQ(elements(base + "%r = aten.lt.Tensor(%a, %s) : b8[3]"), "?");  // 2 may be s0
  EXPECT_EQ(elements(base + "%r = aten.le.Tensor(%a, %s) : b8[3]"), "1, 1, 1");
}

TEST(KnownValues, JoinedRowByRow) {
  const std::string base =
      "%a = aten.zeros([2, 1], dtype=i64) : i64[2, 1]\n%b = aten.ones([2, 2], dtype=i64) : i64[2, "
      "2]\n";
  EXPECT_EQ(elements(base + "%r = aten.cat([%a, %b], 1) : i64[2, 3]"), "0, 1, 1, 0, 1, 1");
  EXPECT_EQ(elements("%a = aten.arange(2) : i64[2]\n%r = aten.stack([%a, %a], -1) : i64[2, 2]"),
            "0, 0, 1, 1");
}

TEST(KnownValues, CastsKeepWhatFits) {
  EXPECT_EQ(elements("%a = aten.full([1], 300) : i64[1]\n%r = aten.to.dtype(%a, i16) : i16[1]"),
            "300");
  EXPECT_EQ(elements("%a = aten.full([1], 300) : i64[1]\n%r = aten.to.dtype(%a, u8) : u8[1]"), "?");
  EXPECT_EQ(elements("%a = aten.full([1], 300) : i64[1]\n%r = aten.to.dtype(%a, b8) : b8[1]"), "1");
}

TEST(KnownValues, WhatIsNotKnownIsNotGuessed) {
  EXPECT_EQ(elements("%r = aten.add.Tensor(%y, 1) : i64[2]"), "?");
  EXPECT_EQ(elements("%r = aten.full([2], 0.5) : f32[2]"), "?");
  EXPECT_EQ(elements("%r = aten.zeros([1000], dtype=i64) : i64[1000]"), "?");
  EXPECT_EQ(elements("%a = aten.full([1], 9223372036854775807) : i64[1]\n"
                     "%r = aten.add.Tensor(%a, 1) : i64[1]"),
            "?");
}

TEST(KnownValues, ATensorThatIsWrittenIsNotKnown) {
  EXPECT_EQ(elements("%r = aten.full([1], 3) : i64[1]\n"
                     "%v = aten.view(%r, [1]) : i64[1]\n%w = aten.add_.Tensor(%v, 1) : i64[1]"),
            "?");
}

}  // namespace
}  // namespace winze
