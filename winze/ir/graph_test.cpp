// SPDX-License-Identifier: Apache-2.0
#include "winze/ir/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/schema/op_ids.h"

namespace winze {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

class GraphTest : public testing::Test {
 protected:
  MetaId meta(std::initializer_list<std::int64_t> sizes = {2, 3}) {
    const std::vector<SymInt> list(sizes.begin(), sizes.end());
    return context.contiguous_meta(ScalarType::float32, list);
  }
  Node relu(Value x) { return graph.call_function(op::aten_relu_default, {x}, x.meta_id()); }
  Node add(Value x, Value y) {
    return graph.call_function(op::aten_add_Tensor, {x, y}, x.meta_id());
  }
  std::vector<std::string> targets() {
    std::vector<std::string> all;
    for (const Node node : graph.nodes()) all.emplace_back(node.target());
    return all;
  }

  Context context;
  Graph graph{context};
};

TEST_F(GraphTest, NewNodesGoBeforeTheOutput) {
  const Value x = graph.placeholder("x", meta());
  const Node y = relu(x);
  graph.output(std::vector<Argument>{y.value()});
  const Node z = relu(y);
  EXPECT_THAT(targets(), ElementsAre("x", "aten.relu.default", "aten.relu.default", "output"));
  EXPECT_TRUE(y.before(z));
  EXPECT_TRUE(z.before(graph.output_node()));
}

TEST_F(GraphTest, PlaceholdersStayInFront) {
  graph.placeholder("x", meta());
  relu(graph.placeholders()[0]);
  graph.placeholder("y", meta());
  EXPECT_THAT(targets(), ElementsAre("x", "y", "aten.relu.default"));
  EXPECT_EQ(graph.last_placeholder().value().name(), "y");
}

TEST_F(GraphTest, InsertingAfterKeepsTheOrderOfCreation) {
  const Value x = graph.placeholder("x", meta());
  const Node last = relu(x);
  {
    const auto here = graph.inserting_after(x.node());
    const Node first = relu(x);
    const Node second = relu(first);
    EXPECT_EQ(x.node().next(), first);
    EXPECT_EQ(first.next(), second);
    EXPECT_EQ(second.next(), last);
  }
  EXPECT_FALSE(relu(x).before(last));
}

TEST_F(GraphTest, InsertingBeforeTheFirstNodeWorks) {
  const Node x = graph.placeholder("x", meta());
  const auto here = graph.inserting_before(x);
  const Node attribute = graph.get_attr("weight", meta());
  EXPECT_EQ(graph.first(), attribute);
  EXPECT_EQ(attribute.next(), x);
}

TEST_F(GraphTest, ACallComesFromWhereTheNodeOfItsInsertionPointDoes) {
  const auto source = [&](std::string_view line) {
    SourceInfo info;
    info.entries.push_back({context.string("stack_trace"), context.string(line)});
    return context.source(info);
  };
  const Value x = graph.placeholder("x", meta());
  const Node old = relu(x);
  old.set_source(source("old"));
  {
    const auto here = graph.inserting_before(old);
    EXPECT_EQ(relu(x).source(), old.source());
    const SourceId other = source("other");
    const CallOptions from{.source = other};
    EXPECT_EQ(graph.call_function(op::aten_relu_default, {x}, meta(), from).source(), other);
    {
      const auto there = graph.inserting_after(x.node());
      EXPECT_FALSE(relu(x).source().valid());
    }
    EXPECT_EQ(relu(x).source(), old.source());
  }
  EXPECT_FALSE(relu(x).source().valid());
}

TEST_F(GraphTest, AnArgumentEqualToTheDefaultIsTheDefault) {
  const Value x = graph.placeholder("x", meta());
  const Node plain = add(x, x);
  const Node spelled = graph.call_function(op::aten_add_Tensor, {x, x, Argument(1)}, meta());
  const Node other = graph.call_function(op::aten_add_Tensor, {x, x, Argument(2)}, meta());
  EXPECT_TRUE(plain.argument("alpha").is_default());
  EXPECT_TRUE(spelled.argument("alpha").is_default());
  EXPECT_EQ(spelled.argument_or_default(2).integer(), 1);
  EXPECT_EQ(other.argument("alpha").integer(), 2);
  other.set_argument(2, Argument(1));
  EXPECT_TRUE(other.argument(2).is_default());
}

TEST_F(GraphTest, KeywordsGoToTheirPosition) {
  const Value x = graph.placeholder("x", meta());
  const std::vector<Argument> positional{x, x};
  const std::vector<NamedArgument> keywords{{"alpha", Argument(3)}};
  const std::vector<MetaId> metas{meta()};
  const Node node = graph.call_function(op::aten_add_Tensor, positional, keywords, metas);
  EXPECT_EQ(node.argument(2).integer(), 3);
  const std::vector<NamedArgument> wrong{{"beta", Argument(3)}};
  EXPECT_THAT([&] { graph.call_function(op::aten_add_Tensor, positional, wrong, metas); },
              ThrowsMessage<Error>(HasSubstr("aten.add.Tensor has no argument \"beta\"")));
  const std::vector<NamedArgument> twice{{"other", Argument(x)}};
  EXPECT_THAT(
      [&] { graph.call_function(op::aten_add_Tensor, positional, twice, metas); },
      ThrowsMessage<Error>(HasSubstr("argument \"other\" of aten.add.Tensor is given twice")));
}

TEST_F(GraphTest, ACallStaysSpelledAsItWasGiven) {
  const Value x = graph.placeholder("x", meta());
  const std::vector<std::int64_t> dims{1};
  const Argument dim = context.integers(dims);
  const std::vector<MetaId> metas{meta()};
  // sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None)
  const auto sum = [&](std::vector<Argument> arguments, std::vector<NamedArgument> keywords) {
    return graph.call_function(op::aten_sum_dim_IntList, arguments, keywords, metas);
  };
  EXPECT_EQ(sum({x, dim, Argument(true)}, {}).positional_count(), 3);
  EXPECT_EQ(sum({x, dim}, {{"dtype", Argument(ScalarType::float64)}}).positional_count(), 2);
  const Node by_name = sum({x}, {{"dim", dim}, {"keepdim", Argument(true)}});
  EXPECT_EQ(by_name.positional_count(), 1);
  by_name.set_argument(2, Argument(false));
  EXPECT_EQ(by_name.positional_count(), 1);
  EXPECT_EQ(graph.node_copy(by_name, [](Value value) { return value; }).positional_count(), 1);
  graph.erase_node(by_name);
  EXPECT_EQ(sum({x, dim}, {}).positional_count(), 2) << "the next node in the same place";
}

TEST_F(GraphTest, TheSpellingOfACallIsChangedAndTakenBack) {
  const Value x = graph.placeholder("x", meta());
  const Node sum = add(x, x);
  const auto given_by_position = [&] { return sum.given_arguments().args.size(); };
  graph.journal().begin("respell");
  sum.set_positional_count(1);
  EXPECT_EQ(given_by_position(), 1U);
  EXPECT_THAT(sum.given_arguments().kwargs, ElementsAre(1));
  sum.set_positional_count(7);
  EXPECT_EQ(given_by_position(), 2U) << "alpha is keyword-only";
  sum.set_positional_count(0);
  graph.journal().undo();
  EXPECT_EQ(given_by_position(), 2U);
  EXPECT_EQ(graph.given_positional_count(sum), CallOptions::as_dispatched);
}

TEST_F(GraphTest, ArgumentsBeyondTheSchemaFollowPositionalOnes) {
  const Value x = graph.placeholder("x", meta());
  const std::vector<Argument> arguments{Argument::of_op(op::aten_relu_default), x, x};
  const std::vector<MetaId> metas{meta()};
  const OpId op = context.ops().find("higher_order.auto_functionalized");
  const Node node = graph.call_function(op, arguments, metas, {.positional_count = 0});
  EXPECT_EQ(node.positional_count(), 3);
}

TEST_F(GraphTest, CallsThatDoNotFitTheSchemaAreRefused) {
  const Value x = graph.placeholder("x", meta());
  EXPECT_THAT(
      [&] { graph.call_function(op::aten_relu_default, {}, meta()); },
      ThrowsMessage<Error>(HasSubstr("argument 0 (\"self\") of aten.relu.default is missing")));
  EXPECT_THAT(
      [&] { graph.call_function(op::aten_relu_default, {x, x}, meta()); },
      ThrowsMessage<Error>(HasSubstr("aten.relu.default takes at most 1 arguments, not 2")));
  EXPECT_THAT(
      [&] { graph.call_function(op::aten_relu_default, {context.string_argument("x")}, meta()); },
      ThrowsMessage<Error>(HasSubstr("takes Tensor, not a string")));
  const std::vector<MetaId> metas{meta(), meta()};
  const std::vector<Argument> arguments{x};
  EXPECT_THAT([&] { graph.call_function(op::aten_relu_default, arguments, metas); },
              ThrowsMessage<Error>(HasSubstr("yields 1 value, but 2 metas are given")));
  EXPECT_EQ(graph.size(), 1U);
}

TEST_F(GraphTest, AnArgumentThatIsSetMustFitTheSchemaAsInACall) {
  const Value x = graph.placeholder("x", meta());
  const std::vector<Argument> sizes{Argument(2), Argument(3)};
  const Node view = graph.call_function(op::aten_view_default, {x, Argument(sizes)}, meta());
  const std::uint64_t start = graph.edit_count();
  EXPECT_THAT([&] { view.set_argument(0, context.string_argument("x")); },
              ThrowsMessage<Error>(HasSubstr("aten.view.default takes Tensor, not a string")));
  const std::vector<Argument> mixed{Argument(2), context.string_argument("x")};
  EXPECT_THAT([&] { view.set_argument(1, Argument(mixed)); },
              ThrowsMessage<Error>(HasSubstr("takes SymInt[], not a string")));
  EXPECT_THAT(
      [&] { view.set_argument(1, Argument::default_value()); },
      ThrowsMessage<Error>(HasSubstr("argument 1 (\"size\") of aten.view.default is missing")));
  EXPECT_EQ(graph.edit_count(), start);
}

TEST_F(GraphTest, AListOfTheNodeItselfCanBeSet) {
  const Value x = graph.placeholder("x", meta());
  const Value y = graph.placeholder("y", meta());
  const std::vector<Argument> tensors{x, y};
  const Node cat = graph.call_function(op::aten_cat_default, {Argument(tensors)}, meta());
  cat.set_argument(0, cat.argument(0));
  EXPECT_THAT(cat.input_values(), ElementsAre(x, y));
  EXPECT_EQ(x.use_count(), 1U);
  graph.lint();
}

TEST_F(GraphTest, AValueMustBeDefinedBeforeItIsUsed) {
  const Value x = graph.placeholder("x", meta());
  const Node y = relu(x);
  const auto here = graph.inserting_before(y);
  EXPECT_THAT(
      [&] { relu(y); },
      ThrowsMessage<Error>(HasSubstr("aten.relu.default would use a value before it is defined")));
  Graph other(context);
  const Value foreign = other.placeholder("x", meta());
  EXPECT_THROW(relu(foreign), InternalError);
}

TEST_F(GraphTest, ListsHoldValuesAndConstantListsAreInterned) {
  const Value x = graph.placeholder("x", meta());
  const std::vector<Argument> tensors{x, x};
  const Node cat =
      graph.call_function(op::aten_cat_default, {Argument(tensors), Argument(1)}, meta());
  EXPECT_EQ(cat.argument(0).count(), 2U);
  EXPECT_EQ(cat.element(cat.argument(0), 1).value_id(), x.id());
  EXPECT_EQ(x.use_count(), 2U);
  EXPECT_THAT(x.users(), ElementsAre(cat));

  const std::vector<Argument> sizes{Argument(3), Argument(-1)};
  const Node view = graph.call_function(op::aten_view_default, {x, Argument(sizes)}, meta());
  EXPECT_EQ(view.argument(1).kind(), ArgumentKind::integers);
  EXPECT_THAT(context.integers_of(view.argument(1)), ElementsAre(3, -1));
}

TEST_F(GraphTest, ReplacingByWhatUsesTheValueIsSafe) {
  const Value x = graph.placeholder("x", meta());
  const Node early = relu(x);
  const Node late = add(x, early);
  Node square;
  {
    const auto here = graph.inserting_after(early);
    square = add(x, x);
  }
  EXPECT_EQ(x.replace_all_uses_with(square), 1U);
  EXPECT_EQ(early.argument_value(0), x);
  EXPECT_EQ(square.argument_value(0), x);
  EXPECT_EQ(late.argument_value(0), square.value());
}

TEST_F(GraphTest, ReplaceUsesIfAsksForEachUse) {
  const Value x = graph.placeholder("x", meta());
  const Value y = graph.placeholder("y", meta());
  const Node first = relu(x);
  const Node second = relu(x);
  EXPECT_EQ(x.replace_uses_if(y, [&](Node user) { return user == second; }), 1U);
  EXPECT_EQ(first.argument_value(0), x);
  EXPECT_EQ(second.argument_value(0), y);
}

TEST_F(GraphTest, ReplaceInputWithReachesIntoLists) {
  const Value x = graph.placeholder("x", meta());
  const Value y = graph.placeholder("y", meta());
  const std::vector<Argument> tensors{x, y, x};
  const Node cat = graph.call_function(op::aten_cat_default, {Argument(tensors)}, meta());
  EXPECT_EQ(cat.replace_input_with(x, y), 2U);
  EXPECT_FALSE(x.has_uses());
  EXPECT_EQ(y.use_count(), 3U);
  EXPECT_FALSE(cat.uses(x));
}

TEST_F(GraphTest, ErasingAUsedNodeIsRefusedAndNamesTheUsers) {
  const Value x = graph.placeholder("x", meta());
  const Node y = relu(x);
  relu(y);
  EXPECT_THAT([&] { y.erase(); }, ThrowsMessage<Error>(HasSubstr("still has 1 use")));
}

TEST_F(GraphTest, LoopsMayEraseAndInsert) {
  const Value x = graph.placeholder("x", meta());
  for (int count = 0; count < 6; ++count) relu(x);
  int seen = 0;
  for (Node node : graph.nodes()) {
    if (!node.is_call()) continue;
    ++seen;
    if (seen % 2 == 1) {
      const Node next = node.next();
      if (next) next.erase();
      node.erase();
      relu(x);
    }
    if (seen > 20) break;
  }
  EXPECT_EQ(graph.size(), 1 + static_cast<std::size_t>(graph.count(op::aten_relu_default)));
}

TEST_F(GraphTest, FindNodesFollowsEdits) {
  const Value x = graph.placeholder("x", meta());
  const Node first = relu(x);
  const Node second = relu(x);
  {
    const auto here = graph.inserting_before(first);
    relu(x);
  }
  EXPECT_EQ(graph.count(op::aten_relu_default), 3U);
  const std::vector<Node> found = graph.find_nodes(op::aten_relu_default);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[1], first);
  EXPECT_EQ(found[2], second);
  second.erase();
  EXPECT_EQ(graph.count(op::aten_relu_default), 2U);
  EXPECT_EQ(graph.count(op::aten_add_Tensor), 0U);
}

TEST_F(GraphTest, MovingKeepsTheOrderTopological) {
  const Value x = graph.placeholder("x", meta());
  const Node y = relu(x);
  const Node free = relu(x);
  const Node z = relu(y);
  y.prepend(free);
  EXPECT_TRUE(free.before(y));
  EXPECT_THAT([&] { y.prepend(z); }, ThrowsMessage<Error>(HasSubstr("which it uses")));
  EXPECT_THAT([&] { z.append(y); }, ThrowsMessage<Error>(HasSubstr("which uses it")));
  z.append(free);
  EXPECT_EQ(graph.last(), free);
}

TEST_F(GraphTest, DeadCodeGoesBackwardsInOneSweep) {
  const Value x = graph.placeholder("x", meta());
  relu(relu(relu(x)));
  const Node kept = relu(x);
  const Node mutation = graph.call_function(op::aten_relu__default, {x}, meta());
  const Node random = graph.call_function(op::aten_bernoulli_default, {x}, meta());
  graph.output(std::vector<Argument>{kept.value()});
  EXPECT_EQ(graph.eliminate_dead_code(), 3U);
  EXPECT_TRUE(mutation.is_alive());
  EXPECT_TRUE(random.is_alive());
  EXPECT_EQ(graph.eliminate_dead_code(), 0U);
}

TEST_F(GraphTest, ManyInsertionsInOnePlaceKeepTheOrder) {
  const Value x = graph.placeholder("x", meta());
  const Node last = relu(x);
  for (int count = 0; count < 20000; ++count) {
    const auto here = graph.inserting_before(count % 2 == 0 ? last : x.node().next());
    relu(x);
  }
  Node previous;
  for (const Node node : graph.nodes()) {
    if (previous) {
      ASSERT_TRUE(previous.before(node));
    }
    previous = node;
  }
  EXPECT_EQ(previous, last);
}

TEST_F(GraphTest, CloneCopiesNestedGraphsNamesAndRoles) {
  const Value x =
      graph.placeholder("x", meta(), context.input_spec({.target = context.string("x")}));
  const GraphId id = graph.add_subgraph("body");
  Graph& body = graph.subgraph(id);
  const Value inner = body.placeholder("inner", meta());
  body.output(
      std::vector<Argument>{body.call_function(op::aten_relu_default, {inner}, meta()).value()});
  const Node region =
      graph.call_function(op::higher_order_wrap_with_set_grad_enabled,
                          {Argument(false), Argument::graph(id), x}, meta(), {.name = "region"});
  graph.output(std::vector<Argument>{region.value()},
               std::vector<Argument>{context.output_spec({.kind = OutputKind::user_output})});
  const std::unique_ptr<Graph> copy = graph.clone();
  EXPECT_EQ(copy->size(), graph.size());
  ASSERT_EQ(copy->subgraphs().size(), 1U);
  EXPECT_EQ(copy->subgraphs()[0]->size(), 3U);
  EXPECT_EQ(copy->placeholders()[0].argument(0), x.node().argument(0));
  EXPECT_EQ(copy->find_nodes(op::higher_order_wrap_with_set_grad_enabled)[0].value().name(),
            "region");
  EXPECT_EQ(copy->output_node().element(copy->output_node().argument(1), 0),
            graph.output_node().element(graph.output_node().argument(1), 0));
}

TEST_F(GraphTest, GraphCopyInlinesInTermsOfTheGraph) {
  Graph body(context, "body");
  const Value inner = body.placeholder("inner", meta());
  body.output(
      std::vector<Argument>{body.call_function(op::aten_relu_default, {inner}, meta()).value()});
  const Value x = graph.placeholder("x", meta());
  tsl::robin_map<std::uint32_t, Value> values;
  values[inner.id().index] = x;
  const std::vector<Argument> returned = graph.graph_copy(body, values);
  ASSERT_EQ(returned.size(), 1U);
  const Node made = graph.value_at(returned[0].value_id()).node();
  EXPECT_TRUE(made.is_call_to(op::aten_relu_default));
  EXPECT_EQ(made.argument_value(0), x);
}

TEST_F(GraphTest, AGraphIsCopiedIntoItself) {
  const Value x = graph.placeholder("x", meta());
  graph.output(std::vector<Argument>{relu(x).value()});
  tsl::robin_map<std::uint32_t, Value> values;
  values[x.id().index] = x;
  EXPECT_EQ(graph.graph_copy(graph, values).size(), 1U);
  EXPECT_THAT(targets(), ElementsAre("x", "aten.relu.default", "aten.relu.default", "output"));
}

TEST_F(GraphTest, CopiesHaveTheResultsOfTheirOriginals) {
  const Value x = graph.placeholder("x", meta());
  const OpId op = context.ops().opaque("python.pair", {});
  const ResultStructure pair{.groups = {2}};
  const std::vector<MetaId> metas{x.meta_id(), x.meta_id()};
  Node last = graph.call_function(op, {}, metas, {.structure = &pair});
  for (int copies = 0; copies < 100; ++copies) {
    last = graph.node_copy(last, [](Value value) { return value; });
    ASSERT_NE(graph.result_structure(last), nullptr);
    ASSERT_EQ(*graph.result_structure(last), pair) << copies;
  }
  graph.lint();
}

TEST_F(GraphTest, AnInsertionPointOutlivesTheNodeBeforeIt) {
  const Value x = graph.placeholder("x", meta());
  const Node before = relu(x);
  const Node end = relu(x);
  const auto here = graph.inserting_before(end);
  {
    const auto there = graph.inserting_after(end);
    graph.erase_node(before);
    for (int index = 0; index < 4; ++index) relu(x);
  }
  const Node made = relu(x);
  EXPECT_TRUE(made.before(end));
  EXPECT_EQ(made.prev(), x.node());
  graph.lint();
}

TEST_F(GraphTest, ReferencesFollowReplacementsAndEndWithTheNode) {
  const Value x = graph.placeholder("x", meta());
  const Node y = relu(x);
  const Node z = relu(x);
  const std::uint32_t reference = graph.observe(y);
  y.replace_all_uses_with(z);
  EXPECT_EQ(graph.observed(reference), z.value());
  y.erase();
  EXPECT_EQ(graph.observed(reference), z.value());
  z.erase();
  EXPECT_FALSE(graph.observed(reference).valid());
}

TEST_F(GraphTest, ANestedGraphBelongsToOneCall) {
  const Value x = graph.placeholder("x", meta());
  const GraphId id = graph.add_subgraph("body");
  graph.subgraph(id).output({});
  const auto call = [&] {
    return graph.call_function(op::higher_order_wrap_with_set_grad_enabled,
                               {Argument(false), Argument::graph(id), x}, meta());
  };
  call();
  EXPECT_THROW(call(), InternalError);
}

#ifdef WINZE_CHECK_HANDLES
TEST_F(GraphTest, AStaleHandleIsAnError) {
  const Value x = graph.placeholder("x", meta());
  const Node y = relu(x);
  const Value value = y;
  y.erase();
  EXPECT_THAT([&] { (void)y.next(); }, ThrowsMessage<InternalError>(HasSubstr("stale")));
  EXPECT_THROW((void)value.use_count(), InternalError);
}
#endif

}  // namespace
}  // namespace winze
