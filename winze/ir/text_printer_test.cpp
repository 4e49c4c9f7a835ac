// SPDX-License-Identifier: Apache-2.0
#include "winze/ir/text_printer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "winze/ir/text_parser.h"

namespace winze {
namespace {

class TextPrinterTest : public ::testing::Test {
 protected:
  OpId op(std::string_view name) { return context_.ops().find_or_throw(name); }
  MetaId f32(std::vector<SymInt> sizes) {
    return context_.contiguous_meta(ScalarType::float32, sizes);
  }
  std::string reprint(const std::string& text) { return print_graph(*parse_graph(context_, text)); }

  Context context_;
  Graph graph_{context_};
};

TEST_F(TextPrinterTest, PrintsASmallGraph) {
  const Node x = graph_.placeholder("x", f32({2, 3}));
  const Node y =
      graph_.call_function(op("aten.relu.default"), {x.value()}, f32({2, 3}), {.name = "y"});
  graph_.output(std::vector<Argument>{y.value()});
  EXPECT_EQ(print_graph(graph_),
            "graph forward(%x: f32[2, 3]) {\n"
            "  %y = aten.relu.default(%x) : f32[2, 3]\n"
            "  return %y\n"
            "}\n");
}

TEST_F(TextPrinterTest, LeavesDefaultsOutAndNamesWhatFollowsThem) {
  const Node x = graph_.placeholder("x", f32({2}));
  const Node a =
      graph_.call_function(op("aten.add.Tensor"), {x.value(), 1, 2}, f32({2}), {.name = "a"});
  const Node b =
      graph_.call_function(op("aten.add.Tensor"), {x.value(), 1, 1}, f32({2}), {.name = "b"});
  EXPECT_EQ(a.str(), "%a = aten.add.Tensor(%x, 1, alpha=2) : f32[2]");
  EXPECT_EQ(b.str(), "%b = aten.add.Tensor(%x, 1) : f32[2]");
}

TEST_F(TextPrinterTest, NumbersValuesWithoutAName) {
  const Node x = graph_.placeholder("", f32({2}));
  const Node y =
      graph_.call_function(op("aten.relu.default"), {x.value()}, f32({2}), {.name = "0"});
  const Node z = graph_.call_function(op("aten.relu.default"), {y.value()}, f32({2}));
  graph_.output(std::vector<Argument>{z.value()});
  const std::string text = print_graph(graph_);
  EXPECT_EQ(text,
            "graph forward(%0: f32[2]) {\n"
            "  %\"0\" = aten.relu.default(%0) : f32[2]\n"
            "  %1 = aten.relu.default(%\"0\") : f32[2]\n"
            "  return %1\n"
            "}\n");
  EXPECT_EQ(reprint(text), text);
}

TEST_F(TextPrinterTest, MakesNamesUnique) {
  const Node x = graph_.placeholder("x", f32({2}));
  const Node y =
      graph_.call_function(op("aten.relu.default"), {x.value()}, f32({2}), {.name = "x"});
  const Node z =
      graph_.call_function(op("aten.relu.default"), {y.value()}, f32({2}), {.name = "x_1"});
  graph_.output(std::vector<Argument>{z.value()});
  const std::string text = print_graph(graph_);
  EXPECT_EQ(text,
            "graph forward(%x: f32[2]) {\n"
            "  %x_2 = aten.relu.default(%x) : f32[2]\n"
            "  %x_1 = aten.relu.default(%x_2) : f32[2]\n"
            "  return %x_1\n"
            "}\n");
}

TEST_F(TextPrinterTest, ShowsTheIndexOfAnUnnamedValueInAMessage) {
  const Node x = graph_.placeholder("", f32({2}));
  EXPECT_EQ(x.str(), "%#0: f32[2]");
}

TEST_F(TextPrinterTest, ShowsTheUsersLineAsAComment) {
  const Node x = graph_.placeholder("x", f32({2}));
  SourceInfo info;
  info.entries.push_back({context_.string("stack_trace"),
                          context_.string("File \"m.py\", line 3, in forward\n    y = x.relu()")});
  const SourceId source = context_.source(info);
  const Node y = graph_.call_function(op("aten.relu.default"), {x.value()}, f32({2}),
                                      {.source = source, .name = "y"});
  graph_.output(std::vector<Argument>{y.value()});
  EXPECT_EQ(print_graph(graph_, {.sources = TextSources::comments}),
            "graph forward(%x: f32[2]) {\n"
            "  // m.py:3, in forward: y = x.relu()\n"
            "  %y = aten.relu.default(%x) : f32[2]\n"
            "  return %y\n"
            "}\n");
  EXPECT_EQ(print_graph(graph_, {.sources = TextSources::none}),
            "graph forward(%x: f32[2]) {\n"
            "  %y = aten.relu.default(%x) : f32[2]\n"
            "  return %y\n"
            "}\n");
}

TEST_F(TextPrinterTest, PrintsFloatsAsPythonDoes) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Node x = graph_.placeholder("x", f32({2}));
  std::string text;
  for (const double value : {1.0, -0.0, 0.1, 1e16, 1e-5, infinity, -infinity, std::nan("")}) {
    const Node node =
        graph_.call_function(op("aten.mul.Scalar"), {x.value(), value}, f32({2}), {.name = "y"});
    const std::string line = node.str();
    text += line.substr(line.find(", ") + 2, line.find(')') - line.find(", ") - 2) + " ";
  }
  EXPECT_EQ(text, "1.0 -0.0 0.1 1e+16 1e-05 inf -inf nan ");
}

TEST_F(TextPrinterTest, TakesTheDeviceOfTheFirstTensorForGranted) {
  const Device cuda{context_.device_type("cuda"), 1};
  const Node x = graph_.placeholder(
      "x", context_.contiguous_meta(ScalarType::float32, std::vector<SymInt>{2}, cuda));
  const Node y =
      graph_.call_function(op("aten.relu.default"), {x.value()}, f32({2}), {.name = "y"});
  graph_.output(std::vector<Argument>{y.value()});
  const std::string text = print_graph(graph_);
  EXPECT_EQ(text,
            "device cuda:1\n"
            "graph forward(%x: f32[2]) {\n"
            "  %y = aten.relu.default(%x) : f32[2] device cpu\n"
            "  return %y\n"
            "}\n");
  EXPECT_EQ(reprint(text), text);
}

TEST_F(TextPrinterTest, PrintsMoreNodesThanItsEstimateIsFrom) {
  constexpr std::size_t count = 2500;
  Value last = graph_.placeholder("x", f32({2})).value();
  for (std::size_t index = 0; index < count; ++index)
    last = graph_.call_function(op("aten.relu.default"), {last}, f32({2})).value();
  graph_.output(std::vector<Argument>{last});
  const std::string text = print_graph(graph_);
  EXPECT_EQ(std::ranges::count(text, '\n'), count + 3);
  EXPECT_EQ(reprint(text), text);
  // One block, with room for longer lines than the first ones.
  EXPECT_LT(text.capacity(), 2 * text.size());
}

TEST_F(TextPrinterTest, RefusesGraphsThatNestTooDeep) {
  Graph* inner = &graph_;
  const OpId op_id = op("higher_order.wrap");
  for (int depth = 0; depth < 70; ++depth) {
    const GraphId id = inner->add_subgraph("g");
    Graph* nested = &inner->subgraph(id);
    inner->call_function(op_id, std::vector<Argument>{Argument::graph(id)}, std::vector<MetaId>{});
    inner = nested;
  }
  EXPECT_THROW(static_cast<void>(print_graph(graph_)), Error);
}

}  // namespace
}  // namespace winze
