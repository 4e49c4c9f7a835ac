// SPDX-License-Identifier: Apache-2.0
#include "winze/ir/verifier.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/ir/graph_checker.h"
#include "winze/ir/text_parser.h"
#include "winze/ir/text_printer.h"

namespace winze {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<std::string> messages(const std::vector<Diagnostic>& found) {
  std::vector<std::string> texts;
  for (const Diagnostic& diagnostic : found) texts.push_back(diagnostic.str());
  return texts;
}

class VerifierTest : public ::testing::Test {
 protected:
  Graph& parse(const std::string& text) {
    graph_ = parse_graph(context_, text);
    return *graph_;
  }
  /// A graph of two calls; %y is used twice.
  Graph& small() {
    return parse(
        "graph forward(%x: f32[2, 3]) {\n"
        "  %y = aten.relu.default(%x) : f32[2, 3]\n"
        "  %z = aten.cat.default([%y, %y], 1) : f32[2, 6]\n"
        "  return %z\n"
        "}\n");
  }
  std::vector<std::string> findings(VerifyLevel level = VerifyLevel::structure) {
    return messages(verify(*graph_, level));
  }
  Node node(std::size_t index) {
    Node at = graph_->first();
    while (index-- > 0) at = at.next();
    return at;
  }
  auto& record(std::size_t index) { return GraphChecker::nodes(*graph_)[node(index).id().index]; }
  auto& side(std::size_t index) {
    return GraphChecker::node_sides(*graph_)[node(index).id().index];
  }
  auto& value_record(std::size_t index) {
    return GraphChecker::values(*graph_)[node(index).value().id().index];
  }
  auto& slot(std::size_t index) {
    return GraphChecker::slots(
        *graph_)[GraphChecker::nodes(*graph_)[node(index).id().index].first_slot];
  }

  Context context_;
  std::unique_ptr<Graph> graph_;
};

TEST_F(VerifierTest, FindsNothingInASoundGraph) {
  small();
  EXPECT_THAT(findings(VerifyLevel::semantics), IsEmpty());
  EXPECT_NO_THROW(graph_->lint());
}

// --- Structure ---

TEST_F(VerifierTest, FindsAWrongBackLink) {
  small();
  record(2).prev = node(0).id();
  EXPECT_THAT(findings(), Contains(HasSubstr("the link to the previous node does not lead back")));
}

TEST_F(VerifierTest, FindsACircle) {
  small();
  record(2).next = node(1).id();
  EXPECT_THAT(findings(), Contains(HasSubstr("the list of nodes runs in a circle")));
}

TEST_F(VerifierTest, FindsALinkOutOfRange) {
  small();
  record(2).next = NodeId{1000};
  EXPECT_THAT(findings(),
              Contains(HasSubstr("the next node has index 1000, but there are 4 nodes")));
}

TEST_F(VerifierTest, FindsAWrongLastNodeAndCount) {
  small();
  GraphChecker::last(*graph_) = node(1).id();
  GraphChecker::alive(*graph_) = 7;
  EXPECT_THAT(findings(),
              Contains(HasSubstr("the last node of the list is not the graph's last node")));
  EXPECT_THAT(findings(), Contains(HasSubstr("the list has 4 nodes, but 7 are counted")));
}

TEST_F(VerifierTest, FindsOrderKeysThatDoNotRise) {
  small();
  record(2).order = record(1).order;
  EXPECT_THAT(findings(), Contains(HasSubstr("is not above that of the node before")));
}

TEST_F(VerifierTest, FindsADeadNodeInTheList) {
  small();
  record(1).alive = false;
  EXPECT_THAT(findings(), Contains(HasSubstr("an erased node is in the list of nodes")));
}

TEST_F(VerifierTest, FindsArgumentsAndResultsOutOfRange) {
  small();
  record(1).first_slot = 1000;
  record(2).first_value = 1000;
  EXPECT_THAT(findings(), Contains(HasSubstr("its arguments lie outside of the argument slots")));
  EXPECT_THAT(findings(), Contains(HasSubstr("its results lie outside of the values")));
}

TEST_F(VerifierTest, FindsAnUnknownOperator) {
  small();
  record(1).op = OpId{0x7FFFFFFF};
  EXPECT_THAT(findings(), Contains(HasSubstr("is not one of the context")));
}

TEST_F(VerifierTest, FindsAWrongOwner) {
  small();
  slot(1).owner = node(2).id();
  EXPECT_THAT(findings(), Contains(HasSubstr("argument slot 1 says that it belongs to node 2")));
}

TEST_F(VerifierTest, FindsASharedSlot) {
  small();
  record(2).first_slot = record(1).first_slot;
  EXPECT_THAT(findings(), Contains(HasSubstr("belongs to two arguments")));
}

TEST_F(VerifierTest, FindsUsesOfValuesThatAreNotThere) {
  small();
  slot(1).a = 1000;
  EXPECT_THAT(findings(), Contains(HasSubstr("it uses value 1000, but there are 3 values")));
}

TEST_F(VerifierTest, FindsAUseBeforeTheDefinition) {
  small();
  slot(1).a = node(2).value().id().index;
  EXPECT_THAT(findings(), Contains(HasSubstr("before it is defined")));
}

TEST_F(VerifierTest, FindsAWrongUseCount) {
  small();
  value_record(1).use_count = 3;
  EXPECT_THAT(findings(), Contains(HasSubstr("value 1 has 2 uses, but 3 are counted")));
}

TEST_F(VerifierTest, FindsABrokenUseList) {
  small();
  value_record(1).last_use = value_record(1).first_use;
  EXPECT_THAT(findings(),
              Contains(HasSubstr("the last use of value 1 is not the end of its list")));
}

TEST_F(VerifierTest, FindsAUseThatIsNotInTheList) {
  small();
  value_record(0).first_use = SlotId{};
  value_record(0).last_use = SlotId{};
  value_record(0).use_count = 0;
  EXPECT_THAT(findings(), Contains(HasSubstr("its use of value 0 is not in the list of uses")));
}

TEST_F(VerifierTest, FindsAForeignUse) {
  small();
  value_record(0).first_use = value_record(1).first_use;
  EXPECT_THAT(findings(), Contains(HasSubstr("which does not use it")));
}

TEST_F(VerifierTest, FindsAValueOfAnotherNode) {
  small();
  value_record(1).node = node(0).id();
  EXPECT_THAT(findings(), Contains(HasSubstr("its value 1 says that node 0 defines it")));
}

TEST_F(VerifierTest, FindsAValueWithoutMeta) {
  small();
  value_record(1).meta = MetaId{};
  EXPECT_THAT(findings(), Contains(HasSubstr("its value 1 has no meta")));
}

TEST_F(VerifierTest, FindsAWrongShapeOfANode) {
  small();
  record(3).slot_count = 1;
  EXPECT_THAT(findings(),
              Contains(HasSubstr("an output has 1 arguments and 0 results, not 2 and 0")));
}

TEST_F(VerifierTest, FindsNodesOutOfPlace) {
  parse("graph forward(%x: f32[2], %y: f32[2]) {\n  return %x\n}\n");
  std::swap(record(0).kind, record(2).kind);
  EXPECT_THAT(findings(), Contains(HasSubstr("an output stands before other nodes")));
  EXPECT_THAT(findings(), Contains(HasSubstr("a placeholder stands behind other nodes")));
}

TEST_F(VerifierTest, FindsABrokenIndex) {
  small();
  side(1).same_op_next = node(2).id();
  EXPECT_THAT(findings(),
              Contains(HasSubstr("the index by operator lists more nodes than it counts")));
  side(1).same_op_next = NodeId{};
  record(1).op = record(2).op;
  EXPECT_THAT(findings(),
              Contains(HasSubstr("the index by operator lists it under another operator")));
}

TEST_F(VerifierTest, FindsMissingSideRecords) {
  small();
  GraphChecker::node_sides(*graph_).pop_back();
  EXPECT_THAT(findings(), Contains(HasSubstr("nodes have")));
}

TEST_F(VerifierTest, FindsAWrongCountInTheIndex) {
  small();
  GraphChecker::buckets(*graph_).begin().value().count = 5;
  EXPECT_THAT(findings(), Contains(HasSubstr("the index by operator lists 1 nodes but counts 5")));
  EXPECT_THAT(findings(), Contains(HasSubstr("the index by operator holds 8 nodes of 4")));
}

TEST_F(VerifierTest, FindsGroupsThatDoNotFitTheResults) {
  small();
  GraphChecker::result_structures(*graph_)[node(1).id().index] = {{2}, std::nullopt};
  EXPECT_THAT(findings(),
              Contains(HasSubstr("its groups of results have 2 values, but it yields 1")));
}

TEST_F(VerifierTest, FindsAReferenceToAnErasedValue) {
  small();
  GraphChecker::observed(*graph_).push_back(ValueId{77});
  EXPECT_THAT(findings(),
              Contains(HasSubstr("reference 0 from outside is to a value of an erased node")));
}

constexpr const char* cond_text =
    "graph forward(%p: b8[], %x: f32[3]) {\n"
    "  %y = higher_order.cond(%p, graph t(%a: f32[3]) { return %a }, graph f(%a: f32[3]) { return "
    "%a }, [%x]) -> tuple : f32[3]\n"
    "  return %y\n"
    "}\n";

TEST_F(VerifierTest, FindsANestedGraphWithoutItsHolder) {
  parse(cond_text);
  EXPECT_THAT(findings(VerifyLevel::semantics), IsEmpty());
  GraphChecker::holder(*graph_->subgraphs()[1]) = node(0).id();
  EXPECT_THAT(findings(), Contains(HasSubstr("graph \"f\" says that another node holds it")));
}

TEST_F(VerifierTest, FindsANestedGraphInTwoCalls) {
  parse(cond_text);
  const std::uint32_t first = GraphChecker::nodes(*graph_)[node(2).id().index].first_slot;
  GraphChecker::slots(*graph_)[first + 2].a = GraphChecker::slots(*graph_)[first + 1].a;
  EXPECT_THAT(findings(), Contains(HasSubstr("graph \"t\" is an argument of two calls")));
}

TEST_F(VerifierTest, FindsBrokenStorageOfANestedGraph) {
  parse(cond_text);
  GraphChecker::alive(*graph_->subgraphs()[0]) = 9;
  EXPECT_THAT(findings(), Contains(HasSubstr("in graph \"t\"")));
}

// --- Schema ---

TEST_F(VerifierTest, FindsAnArgumentOfTheWrongKind) {
  small();
  const std::uint32_t first = record(2).first_slot;
  GraphChecker::slot_kinds(*graph_)[first + 1] = ArgumentKind::string;
  EXPECT_THAT(findings(VerifyLevel::schema),
              Contains(HasSubstr("argument 1 (\"dim\") is a string, but the schema has int")));
  EXPECT_THROW(graph_->lint(), Error);
}

TEST_F(VerifierTest, FindsADefaultThatIsSpelledOut) {
  small();
  const std::uint32_t slot_index = record(2).first_slot + 1;
  GraphChecker::slots(*graph_)[slot_index].a = 0;
  EXPECT_THAT(findings(VerifyLevel::schema),
              Contains(HasSubstr("argument 1 (\"dim\") spells out the default of the schema")));
}

TEST_F(VerifierTest, FindsAnArgumentThatIsMissing) {
  parse("graph forward(%x: f32[2]) {\n  %y = aten.add.Scalar(%x, 1) : f32[2]\n  return %y\n}\n");
  GraphChecker::slot_kinds(*graph_)[record(1).first_slot + 1] = ArgumentKind::default_value;
  EXPECT_THAT(findings(VerifyLevel::schema),
              Contains(HasSubstr("argument 1 (\"other\") is left out and has no default")));
}

TEST_F(VerifierTest, FindsTooFewArguments) {
  parse("graph forward(%x: f32[2]) {\n  %y = aten.add.Scalar(%x, 1) : f32[2]\n  return %y\n}\n");
  record(1).slot_count = 1;
  EXPECT_THAT(findings(VerifyLevel::schema),
              Contains(HasSubstr("it has 1 arguments, but aten.add.Scalar has 3")));
}

TEST_F(VerifierTest, FindsAListThatIsNotInterned) {
  parse("graph forward(%x: f32[2]) {\n  %y = aten.cat.default([%x, 1]) : f32[2]\n  return %y\n}\n");
  const std::uint32_t elements = GraphChecker::slots(*graph_)[record(1).first_slot].a;
  auto& uses = GraphChecker::values(*graph_)[0];
  uses.first_use = SlotId{};
  uses.last_use = SlotId{};
  uses.use_count = 0;
  GraphChecker::slot_kinds(*graph_)[elements] = ArgumentKind::integer;
  EXPECT_THAT(
      findings(VerifyLevel::schema),
      Contains(HasSubstr("argument 0 (\"tensors\") is a list of constants that is not interned")));
}

TEST_F(VerifierTest, FindsAValueOfTheWrongKind) {
  parse(
      "graph forward(%x: f32[2], %n: int) {\n  %y = aten.mm.default(%x, %x) : f32[2]\n  return "
      "%y\n}\n");
  node(1).value().set_meta(context_.plain_meta(ValueKind::token));
  node(2).set_argument(1, node(1).value());
  EXPECT_THAT(findings(VerifyLevel::schema),
              Contains(HasSubstr(
                  "argument 1 (\"mat2\") is a value of type token, but the schema has Tensor")));
}

TEST_F(VerifierTest, TakesAnEmptyTensorForAToken) {
  parse(
      "graph forward(%x: f32[2]) {\n  %t = prims._make_token.default() : f32[0]\n"
      "  %u, %y = higher_order.with_effects(%t, aten.sin.default, %x) -> tuple : f32[0], f32[2]\n"
      "  return %y\n}\n");
  EXPECT_THAT(findings(VerifyLevel::schema), IsEmpty());
}

TEST_F(VerifierTest, FindsAWrongNumberOfResults) {
  parse(
      "graph forward(%x: f32[2]) {\n  %v, %i = aten.topk.default(%x, 1) : f32[1], i64[1]\n  return "
      "%v\n}\n");
  record(1).value_count = 1;
  EXPECT_THAT(findings(VerifyLevel::schema),
              Contains(HasSubstr("it yields 1 values, but aten.topk.default yields 2")));
}

TEST_F(VerifierTest, ShowsTheNodeAndTheUsersLine) {
  parse(
      "graph forward(%x: f32[2]) {\n  %y = aten.relu.default(%x) : f32[2] loc 0\n  return %y\n}\n"
      "loc 0 { stack_trace: \"File \\\"m.py\\\", line 7, in forward\\n    y = relu(x)\" }");
  node(1).value().set_meta(context_.plain_meta(ValueKind::token));
  const std::vector<Diagnostic> found = verify(*graph_, VerifyLevel::meta);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].node, "%y = aten.relu.default(%x) : token");
  EXPECT_EQ(found[0].source, "m.py:7, in forward: y = relu(x)");
}

// --- Meta ---

TEST_F(VerifierTest, FindsResultsOfTheWrongKind) {
  parse("graph forward(%x: f32[2]) {\n  %y = aten.relu.default(%x) : int\n  return %y\n}\n");
  EXPECT_THAT(findings(VerifyLevel::schema), IsEmpty());
  EXPECT_THAT(findings(VerifyLevel::meta),
              Contains(HasSubstr("result 0 has type int, but aten.relu.default returns Tensor")));
}

TEST_F(VerifierTest, ViewsByAnIndexFromDataBindSymbols) {
  const auto view = [](std::string_view index) {
    return fmt::format(
        "graph forward(%x: f32[5, 6], %i: i64[]) {{\n"
        "  %n = aten.item.default(%i) : int = u0\n"
        "  %a = aten.slice.Tensor(%x, 0, {0}) : f32[u1, 6] offset [u2]\n"
        "  %b = aten.select.int(%x, 0, {0}) : f32[6] offset [u3]\n"
        "  [%c, %d] = aten.tensor_split.indices(%x, [{0}]) : f32[u4, 6], f32[u5, 6] offset [u6]\n"
        "  return %a, %b, %c, %d\n}}\n",
        index);
  };
  parse(view("%n"));
  EXPECT_THAT(findings(VerifyLevel::semantics), IsEmpty());
  parse(view("2"));
  EXPECT_THAT(findings(VerifyLevel::semantics),
              Contains(HasSubstr("symbol u1 occurs here first, but neither an input nor this")));
}

TEST_F(VerifierTest, AResultThatNobodyUsesMayBeUnrecorded) {
  parse(
      "graph forward(%x: f32[2]) {\n"
      "  %a = aten.promote_types.default(f32, f64) : None\n"
      "  %b = aten.can_cast.default(f32, i32) : None\n"
      "  return %x\n}\n");
  EXPECT_THAT(findings(VerifyLevel::semantics), IsEmpty());
  parse(
      "graph forward(%x: f32[2]) {\n"
      "  %b = aten.can_cast.default(f32, i32) : None\n"
      "  return %b\n}\n");
  EXPECT_THAT(
      findings(VerifyLevel::meta),
      Contains(HasSubstr("result 0 has type None, but aten.can_cast.default returns bool")));
}

TEST_F(VerifierTest, FindsAnUnknownType) {
  parse("graph forward(%x: unknown) {\n  %y = \"#a:b\"(%x) : unknown\n  return %y\n}\n");
  EXPECT_EQ(findings(VerifyLevel::meta).size(), 1U);
  EXPECT_THAT(findings(VerifyLevel::meta),
              Each(HasSubstr("result 0 has a type that is not known")));
}

TEST_F(VerifierTest, FindsStridesOfAnotherRank) {
  parse("graph forward(%x: f32[2, 3] strides [3]) {\n  return %x\n}\n");
  EXPECT_THAT(findings(VerifyLevel::meta),
              Contains(HasSubstr("result 0 has 2 sizes but 1 strides")));
}

TEST_F(VerifierTest, FindsNegativeSizes) {
  parse("graph forward(%x: f32[-2] strides [-1] offset [-3]) {\n  return %x\n}\n");
  EXPECT_THAT(findings(VerifyLevel::meta), Contains(HasSubstr("result 0 has the size -2")));
  EXPECT_THAT(findings(VerifyLevel::meta), Contains(HasSubstr("result 0 has the stride -1")));
  EXPECT_THAT(findings(VerifyLevel::meta),
              Contains(HasSubstr("result 0 has the storage offset -3")));
}

TEST_F(VerifierTest, FindsASymbolThatNothingBinds) {
  parse(
      "graph forward(%x: f32[s0]) {\n"
      "  %y = aten.relu.default(%x) : f32[s1]\n"
      "  %z = aten.nonzero.default(%x) : i64[u0, 1]\n"
      "  %v = aten.relu.default(%z) : i64[u1, 1]\n"
      "  return %z\n}\n");
  EXPECT_THAT(findings(VerifyLevel::meta), Contains(HasSubstr("symbol s1 occurs here first")));
  EXPECT_THAT(findings(VerifyLevel::meta), Contains(HasSubstr("symbol u1 occurs here first")));
  EXPECT_THAT(findings(VerifyLevel::meta), Each(Not(HasSubstr("symbol u0"))));
}

TEST_F(VerifierTest, FindsBodiesThatDoNotFitTheirOperands) {
  parse(
      "graph forward(%p: b8[], %x: f32[3]) {\n"
      "  %y = higher_order.cond(%p, graph t(%a: f32[4]) { return %a }, graph f() { return }, [%x]) "
      "-> tuple : f32[3]\n"
      "  return %y\n}\n");
  const std::vector<std::string> found = findings(VerifyLevel::meta);
  EXPECT_THAT(found, Contains(HasSubstr("input 0 of graph \"t\" is f32[4], but f32[3] is passed")));
  EXPECT_THAT(
      found,
      Contains(HasSubstr("graph \"t\" returns f32[4] as result 0, but the call yields f32[3]")));
  EXPECT_THAT(found, Contains(HasSubstr("graph \"f\" takes 0 inputs, and is passed 1")));
  EXPECT_THAT(found, Contains(HasSubstr("graph \"f\" returns 0 values, but the call yields 1")));
}

// --- Bounds and increments ---

TEST_F(VerifierTest, ListsAtMostAThousandFindings) {
  std::string text = "graph forward(%x: f32[2]) {\n";
  for (int index = 0; index < 1200; ++index)
    text += "  %y" + std::to_string(index) + " = aten.relu.default(%x) : int\n";
  parse(text + "  return\n}\n");
  const std::vector<Diagnostic> found = verify(*graph_, VerifyLevel::meta);
  ASSERT_EQ(found.size(), 1001U);
  EXPECT_EQ(found.back().message, "200 more findings are not listed");
}

TEST_F(VerifierTest, VerifiesSomeNodesAndWhatTouchesThem) {
  small();
  const Node relu = node(1);
  const std::vector<Node> some{relu};
  EXPECT_THAT(verify(some, VerifyLevel::meta), IsEmpty());
  relu.value().set_meta(context_.plain_meta(ValueKind::token));
  const std::vector<std::string> found = messages(verify(some, VerifyLevel::meta));
  EXPECT_THAT(found,
              Contains(HasSubstr("result 0 has type token, but aten.relu.default returns Tensor")));
  EXPECT_THAT(found,
              Contains(HasSubstr(
                  "argument 0 (\"tensors\") is a value of type token, but the schema has Tensor")));
}

TEST_F(VerifierTest, FindsBrokenLinksOfSomeNodes) {
  small();
  const std::vector<Node> some{node(1)};
  record(2).prev = node(0).id();
  EXPECT_THAT(messages(verify(some, VerifyLevel::structure)),
              Contains(HasSubstr("its link to the next node is broken, or out of order")));
}

TEST_F(VerifierTest, FindsBrokenUsesOfSomeNodes) {
  small();
  const std::vector<Node> some{node(1)};
  value_record(1).use_count = 3;
  EXPECT_THAT(messages(verify(some, VerifyLevel::structure)),
              Contains(HasSubstr("value 1 has 2 uses, but 3 are counted")));
  value_record(1).use_count = 2;
  std::swap(record(1).order, record(2).order);
  EXPECT_THAT(messages(verify(some, VerifyLevel::structure)),
              Contains(HasSubstr("value 1 is used by node 2, which stands before it")));
}

TEST_F(VerifierTest, FindsAUserThatComesBefore) {
  small();
  const std::vector<Node> some{node(2)};
  std::swap(record(1).order, record(2).order);
  EXPECT_THAT(messages(verify(some, VerifyLevel::structure)),
              Contains(HasSubstr("before it is defined by node 1")));
}

TEST(VerifyLevelName, GoesBothWays) {
  for (const VerifyLevel level :
       {VerifyLevel::structure, VerifyLevel::schema, VerifyLevel::meta, VerifyLevel::semantics}) {
    EXPECT_EQ(verify_level_from_name(name_of(level)), level);
  }
  EXPECT_EQ(verify_level_from_name("all"), std::nullopt);
}

}  // namespace
}  // namespace winze
