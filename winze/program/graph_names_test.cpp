// SPDX-License-Identifier: Apache-2.0
#include "winze/program/graph_names.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace winze {
namespace {

class GraphNamesTest : public ::testing::Test {
 protected:
  Node relu(Value input, std::string_view name = "") {
    const Argument arguments[] = {input};
    const MetaId metas[] = {meta};
    return graph.call_function(context.ops().find("aten.relu.default"), arguments, metas,
                               {.name = name});
  }
  Context context;
  const SymInt sizes[1] = {2};
  const MetaId meta = context.contiguous_meta(ScalarType::float32, sizes);
  Graph graph{context};
};

TEST_F(GraphNamesTest, GivenNamesAreKept) {
  const Node x = graph.placeholder("x", meta);
  const Node y = relu(x, "activation");
  const GraphNames names(graph);
  EXPECT_EQ(names.of(x.value()), "x");
  EXPECT_EQ(names.of(y.value()), "activation");
  EXPECT_EQ(names.of(y), "activation");
}

TEST_F(GraphNamesTest, MissingNamesComeFromTheOperator) {
  const Node x = graph.placeholder("x", meta);
  const Node a = relu(x);
  const Node b = relu(a);
  const GraphNames names(graph);
  EXPECT_EQ(names.of(a), "relu");
  EXPECT_EQ(names.of(b), "relu_1");
}

TEST_F(GraphNamesTest, ACallThatReturnsItsOnlyTensorIsNamedAsTheTensor) {
  const Node x = graph.placeholder("x", meta);
  const ResultStructure structure{{ResultStructure::single}, true};
  const Argument arguments[] = {Argument::of_op(context.ops().find("aten.relu.default")),
                                Argument(ScalarType::int32), x.value()};
  const MetaId metas[] = {meta};
  const Node a = graph.call_function(context.ops().find("higher_order.out_dtype"), arguments, metas,
                                     {.name = "y", .structure = &structure});
  const GraphNames names(graph);
  EXPECT_EQ(names.of(a.value()), "y");
  EXPECT_EQ(names.of(a), "y");
}

TEST_F(GraphNamesTest, AGivenNameIsNotTakenByAnEarlierNode) {
  const Node x = graph.placeholder("x", meta);
  const Node a = relu(x);
  const Node b = relu(a, "relu");
  const GraphNames names(graph);
  EXPECT_EQ(names.of(b), "relu");
  EXPECT_EQ(names.of(a), "relu_1");
}

TEST_F(GraphNamesTest, TheLaterOfTwoEqualNamesChanges) {
  const Node x = graph.placeholder("x", meta);
  const Node a = relu(x, "y_3");
  const Node b = relu(a, "y_3");
  const Node c = relu(b, "x");
  const GraphNames names(graph);
  EXPECT_EQ(names.of(a), "y_3");
  EXPECT_EQ(names.of(b), "y_1");
  EXPECT_EQ(names.of(c), "x_1");
}

TEST_F(GraphNamesTest, NamesOfPythonAreNotUsed) {
  const Node x = graph.placeholder("input", meta);
  const Argument arguments[] = {x.value()};
  const MetaId metas[] = {meta};
  const Node sum = graph.call_function(context.ops().find("aten.sum.default"), arguments, metas);
  const Node odd = relu(sum, "1 odd-name");
  const GraphNames names(graph);
  EXPECT_EQ(names.of(x.value()), "input");
  EXPECT_EQ(names.of(sum), "sum_1");
  EXPECT_EQ(names.of(odd), "_1_odd_name");
}

TEST_F(GraphNamesTest, ResultsAreNamedAsGetitems) {
  const Node x = graph.placeholder("x", meta);
  const MetaId metas[] = {meta, meta};
  const Argument arguments[] = {x.value(), 1};
  const Node topk = graph.call_function(context.ops().find("aten.topk.default"), arguments, metas);
  relu(topk.value(0));
  const GraphNames names(graph);
  EXPECT_EQ(names.of(topk), "topk");
  EXPECT_EQ(names.of(topk.value(0)), "getitem");
  EXPECT_EQ(names.of(topk.value(1)), "topk_unused_1");
}

TEST_F(GraphNamesTest, AttributesDoNotCollideWithValues) {
  graph.placeholder("body", meta);
  GraphNames names(graph);
  EXPECT_EQ(names.add_attribute("body"), "body_1");
  EXPECT_EQ(names.add_attribute("other"), "other");
  EXPECT_EQ(names.add_attribute("other"), "other_1");
}

TEST_F(GraphNamesTest, ManyEqualNamesStayUnique) {
  Node last = graph.placeholder("x", meta);
  for (int index = 0; index < 5000; ++index) last = relu(last, index % 2 == 0 ? "relu_7" : "");
  const GraphNames names(graph);
  std::set<std::string> seen;
  for (const Node node : graph.nodes()) EXPECT_TRUE(seen.emplace(names.of(node)).second);
}

}  // namespace
}  // namespace winze
