// SPDX-License-Identifier: Apache-2.0
#include "winze/ir/journal.h"

#include <gtest/gtest.h>

#include "winze/ir/graph.h"
#include "winze/schema/op_ids.h"

namespace winze {
namespace {

class JournalTest : public testing::Test {
 protected:
  JournalTest() {
    const std::vector<SymInt> sizes{2, 3};
    meta = context.contiguous_meta(ScalarType::float32, sizes);
    x = graph.placeholder("x", meta);
  }
  Node relu(Value value) { return graph.call_function(op::aten_relu_default, {value}, meta); }

  Context context;
  Graph graph{context};
  MetaId meta;
  Value x;
};

TEST_F(JournalTest, CountsEveryEditAndNothingElse) {
  const std::uint64_t start = graph.edit_count();
  const Node y = relu(x);
  EXPECT_EQ(graph.edit_count(), start + 1);
  y.value().set_meta(meta);
  (void)y.users();
  EXPECT_EQ(graph.edit_count(), start + 1);
  y.erase();
  EXPECT_EQ(graph.edit_count(), start + 2);
}

TEST_F(JournalTest, EditsOfNestedGraphsCountToo) {
  const GraphId id = graph.add_subgraph("body");
  const std::uint64_t start = graph.edit_count();
  graph.subgraph(id).placeholder("y", meta);
  EXPECT_EQ(graph.edit_count(), start + 1);
}

TEST_F(JournalTest, UndoBringsBackAnErasedNodeWithItsNameAndUses) {
  const Node y = relu(x);
  y.value().set_name("y");
  Journal& journal = graph.journal();
  journal.begin("test");
  y.erase();
  const Node other = relu(x);
  (void)other;
  journal.undo();
  ASSERT_EQ(graph.size(), 2U);
  const Node again = graph.find_nodes(op::aten_relu_default)[0];
  EXPECT_EQ(again.value().name(), "y");
  EXPECT_EQ(again.argument_value(0), x);
  EXPECT_EQ(x.use_count(), 1U);
}

TEST_F(JournalTest, UndoTakesBackTheReplacementOfAList) {
  const std::vector<Argument> two{x, x};
  const Node cat = graph.call_function(op::aten_cat_default, {Argument(two)}, meta);
  graph.journal().begin("test");
  cat.set_argument(0, Argument::empty_list());
  graph.journal().undo();
  EXPECT_EQ(cat.argument(0).count(), 2U);
  EXPECT_EQ(x.use_count(), 2U);
}

TEST_F(JournalTest, AnEraserOfANestedGraphCanBeUndone) {
  const GraphId id = graph.add_subgraph("body");
  graph.subgraph(id).output(
      std::vector<Argument>{graph.subgraph(id).placeholder("y", meta).value()});
  const Node region = graph.call_function(op::higher_order_wrap_with_set_grad_enabled,
                                          {Argument(false), Argument::graph(id), x}, meta);
  graph.journal().begin("test");
  region.erase();
  EXPECT_TRUE(graph.subgraphs().empty());
  graph.journal().undo();
  ASSERT_EQ(graph.subgraphs().size(), 1U);
  EXPECT_EQ(graph.subgraphs()[0]->size(), 2U);
}

TEST_F(JournalTest, EntriesSayWhoDidWhat) {
  Journal& journal = graph.journal();
  journal.begin("first");
  const Node y = relu(x);
  journal.set_author("second");
  y.erase();
  ASSERT_EQ(journal.pending(), 2U);
  EXPECT_EQ(journal.entry(0).author, "first");
  EXPECT_EQ(journal.entry(0).kind, EditKind::create_node);
  EXPECT_EQ(journal.entry(1).author, "second");
  EXPECT_EQ(journal.entry(1).kind, EditKind::erase_node);
  journal.commit();
  EXPECT_EQ(journal.pending(), 0U);
}

TEST_F(JournalTest, TheEditPastTheLimitIsNotMade) {
  graph.journal().begin("test");
  graph.journal().set_edit_limit(2);
  relu(x);
  relu(x);
  EXPECT_THROW(relu(x), EditLimitReached);
  EXPECT_EQ(graph.size(), 3U);
  graph.journal().commit();
  EXPECT_NO_THROW(relu(x));
}

TEST_F(JournalTest, ReferencesAreUndoneToo) {
  const Node y = relu(x);
  const std::uint32_t reference = graph.observe(y);
  graph.journal().begin("test");
  const Node z = relu(x);
  y.replace_all_uses_with(z);
  y.erase();
  EXPECT_EQ(graph.observed(reference), z.value());
  graph.journal().undo();
  EXPECT_EQ(graph.observed(reference).node().argument_value(0), x);
  EXPECT_EQ(graph.observed(reference).id(),
            graph.find_nodes(op::aten_relu_default)[0].value().id());
}

TEST_F(JournalTest, OneTransactionAtATime) {
  graph.journal().begin("test");
  EXPECT_THROW(graph.journal().begin("other"), InternalError);
  graph.journal().commit();
  EXPECT_THROW(graph.journal().commit(), InternalError);
}

/// The entry of a node, with no kind where it was not edited.
Journal::Change change_of(const Graph& graph, NodeId node) {
  for (const Journal::Change& change : graph.journal().changes()) {
    if (change.graph_serial == graph.serial() && change.node == node) return change;
  }
  return {};
}

TEST_F(JournalTest, WatchingNamesTheEditedNodesAndNoOthers) {
  const Node y = relu(x);
  const Node z = relu(y.value());
  const Node untouched = relu(x);
  graph.journal().watch();
  EXPECT_TRUE(graph.journal().changes().empty());
  const Node made = relu(x);
  z.set_argument(0, x);
  untouched.append(y);
  EXPECT_TRUE(change_of(graph, made.id()).has(EditKind::create_node));
  EXPECT_TRUE(change_of(graph, y.id()).has(EditKind::move_node));
  EXPECT_TRUE(change_of(graph, z.id()).has(EditKind::set_slot));
  EXPECT_FALSE(change_of(graph, z.id()).has(EditKind::move_node));
  EXPECT_EQ(change_of(graph, untouched.id()).kinds, 0);
}

TEST_F(JournalTest, WatchingNamesUsersWhoseInputWasReplaced) {
  const Node y = relu(x);
  const Node other = relu(x);
  const Node user = relu(other.value());
  const Node second_user = relu(other.value());
  graph.journal().watch();
  other.value().replace_all_uses_with(y.value());
  EXPECT_TRUE(change_of(graph, user.id()).has(EditKind::replace_uses));
  EXPECT_TRUE(change_of(graph, second_user.id()).has(EditKind::replace_uses));
  EXPECT_EQ(change_of(graph, y.id()).kinds, 0);
}

TEST_F(JournalTest, WatchingOutlastsTransactions) {
  graph.journal().watch();
  graph.journal().begin("first");
  const Node y = relu(x);
  graph.journal().commit();
  graph.journal().begin("second");
  y.erase();
  graph.journal().commit();
  const Journal::Change change = change_of(graph, y.id());
  EXPECT_TRUE(change.has(EditKind::create_node));
  EXPECT_TRUE(change.has(EditKind::erase_node));
  EXPECT_EQ(graph.journal().changes().size(), 1U);
}

TEST_F(JournalTest, WatchingTellsNestedGraphsApart) {
  const GraphId id = graph.add_subgraph("body");
  graph.journal().watch();
  Graph& body = graph.subgraph(id);
  const Value inner = body.placeholder("y", meta);
  EXPECT_TRUE(change_of(body, inner.node().id()).has(EditKind::create_node));
  EXPECT_EQ(change_of(graph, inner.node().id()).kinds, 0);
}

}  // namespace
}  // namespace winze
