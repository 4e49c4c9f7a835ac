// SPDX-License-Identifier: Apache-2.0
#include "winze/effects/alias_analysis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "winze/ir/text_parser.h"
#include "winze/program/program.h"
#include "winze/schema/op_ids.h"

namespace winze {
namespace {

/// A graph in text form, with its values by name; names are taken from all graphs, inner ones last.
class Analyzed {
 public:
  explicit Analyzed(std::string_view text)
      : graph_(parse_graph(context_, text)), analysis(*graph_) {}

  [[nodiscard]] Value operator[](std::string_view name) const {
    for (Graph* graph : graph_->all_graphs()) {
      for (Node node : graph->nodes()) {
        for (Value value : node.values()) {
          if (value.name() == name) return value;
        }
      }
    }
    throw std::out_of_range(std::string(name));
  }
  [[nodiscard]] Node node(std::string_view name) const { return (*this)[name].node(); }
  [[nodiscard]] bool shares(std::string_view a, std::string_view b) const {
    return analysis.may_share_storage((*this)[a], (*this)[b]);
  }
  [[nodiscard]] std::vector<std::string> writers(std::string_view name) const {
    std::vector<std::string> names;
    for (const StorageWrite& write : analysis.writers_of((*this)[name]))
      names.emplace_back(write.node.value().name());
    return names;
  }
  [[nodiscard]] Graph& graph() { return *graph_; }

 private:
  Context context_;
  std::unique_ptr<Graph> graph_;

 public:
  AliasAnalysis analysis;
};

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(AliasAnalysis, FollowsViews) {
  const Analyzed a(R"(graph forward(%x: f32[2, 3], %y: f32[2, 3]) {
    %t = aten.t(%x) : f32[3, 2] strides [1, 3]
    %v = aten.view(%t, [6]) : f32[6]
    %r = aten.relu(%v) : f32[6]
    return %r
  })");
  EXPECT_TRUE(a.shares("x", "v"));
  EXPECT_FALSE(a.shares("x", "r"));
  EXPECT_FALSE(a.shares("x", "y"));
}

TEST(AliasAnalysis, FollowsViewsThatMayCopy) {
  const Analyzed a(R"(graph forward(%x: f32[2, 3]) {
    %r = aten.reshape(%x, [6]) : f32[6]
    return %r
  })");
  EXPECT_TRUE(a.shares("x", "r"));
}

TEST(AliasAnalysis, FollowsElementsOfAList) {
  const Analyzed a(R"(graph forward(%x: f32[4]) {
    [%p, %q] = aten.split.Tensor(%x, 2) : f32[2], f32[2] offset [2]
    %c = aten.cat([%p, %q]) : f32[4]
    return %c
  })");
  EXPECT_TRUE(a.shares("q", "x"));
  EXPECT_FALSE(a.shares("c", "x"));
}

TEST(AliasAnalysis, OnlyTheAliasingResultShares) {
  const Analyzed a(R"(graph forward(%x: f32[4]) {
    %v, %i = aten.topk(%x, 2) : f32[2], i64[2]
    return %v
  })");
  EXPECT_FALSE(a.shares("v", "x"));
  EXPECT_FALSE(a.shares("v", "i"));
}

TEST(AliasAnalysis, AnInPlaceResultIsItsArgument) {
  const Analyzed a(R"(graph forward(%x: f32[2]) {
    %c = aten.clone(%x) : f32[2]
    %w = aten.add_.Tensor(%c, 1) : f32[2]
    return %w
  })");
  EXPECT_TRUE(a.shares("w", "c"));
  EXPECT_FALSE(a.shares("w", "x"));
  EXPECT_THAT(a.writers("c"), ElementsAre("w"));
  EXPECT_FALSE(a.analysis.is_written(a["x"]));
  EXPECT_FALSE(a.analysis.is_metadata_changed(a["c"]));
}

TEST(AliasAnalysis, NumbersShareNothing) {
  const Analyzed a(R"(symbol s0
  graph forward(%x: f32[s0]) {
    %n = aten.sym_size.int(%x, 0) : int = s0
    return %n
  })");
  EXPECT_FALSE(a.shares("n", "n"));
  EXPECT_FALSE(a.shares("n", "x"));
}

TEST(AliasAnalysis, TellsWhenAClassIsWritten) {
  const Analyzed a(R"(graph forward(%x: f32[4]) {
    %v = aten.view(%x, [2, 2]) : f32[2, 2]
    %a = aten.relu(%x) : f32[4]
    %w = aten.mul_.Tensor(%v, 2) : f32[2, 2]
    %b = aten.relu(%x) : f32[4]
    return %a, %b
  })");
  const AliasAnalysis& analysis = a.analysis;
  EXPECT_TRUE(analysis.is_written_between(a["x"], a.node("a"), a.node("b")));
  EXPECT_FALSE(analysis.is_written_between(a["x"], a.node("x"), a.node("a")));
  EXPECT_FALSE(analysis.is_written_between(a["a"], a.node("a"), a.node("b")));
  EXPECT_FALSE(analysis.is_written_between(a["x"], a.node("w"), a.node("b")));
  EXPECT_TRUE(analysis.is_written_after(a["x"], a.node("a")));
  EXPECT_FALSE(analysis.is_written_after(a["x"], a.node("w")));
}

TEST(AliasAnalysis, AWriteUnderAFalseConditionIsNone) {
  const char* text = R"(graph forward(%x: f32[2, 3], %w: f32[3], %m: f32[3], %v: f32[3]) {{
    %y = aten.batch_norm(%x, %w, None, %m, %v, {}, 0.1, 1e-05, False) : f32[2, 3]
    return %y
  }})";
  const Analyzed training(fmt::format(fmt::runtime(text), "True"));
  const Analyzed inference(fmt::format(fmt::runtime(text), "False"));
  EXPECT_THAT(training.writers("m"), ElementsAre("y"));
  EXPECT_THAT(inference.writers("m"), IsEmpty());
  EXPECT_THAT(training.writers("w"), IsEmpty());
}

TEST(AliasAnalysis, MetadataChangesAreWrites) {
  const Analyzed a(R"(graph forward(%x: f32[2, 3]) {
    %c = aten.clone(%x) : f32[2, 3]
    %t = aten.t_(%c) : f32[3, 2] strides [1, 3]
    return %t
  })");
  EXPECT_TRUE(a.analysis.is_metadata_changed(a["c"]));
}

TEST(AliasAnalysis, EscapesThroughInputsAndResults) {
  const Analyzed a(R"(graph forward(%x: f32[4]) {
    %a = aten.relu(%x) : f32[4]
    %v = aten.view(%a, [2, 2]) : f32[2, 2]
    %b = aten.neg(%a) : f32[4]
    %c = aten.neg(%b) : f32[4]
    return %v
  })");
  EXPECT_TRUE(a.analysis.is_input(a["x"]));
  EXPECT_TRUE(a.analysis.is_returned(a["a"]));
  EXPECT_FALSE(a.analysis.is_input(a["a"]));
  EXPECT_FALSE(a.analysis.escapes(a["b"]));
}

TEST(AliasAnalysis, TellsWhichClassIsReturnedRepeatedly) {
  const Analyzed a(R"(graph forward(%x: f32[4]) {
    %a = aten.relu(%x) : f32[4]
    %v = aten.view(%a, [2, 2]) : f32[2, 2]
    %b = aten.neg(%a) : f32[4]
    %c = aten.neg(%b) : f32[4]
    return %v, %a, %c, %c
  })");
  EXPECT_TRUE(a.analysis.is_returned_repeatedly(a["a"]));
  EXPECT_FALSE(a.analysis.is_returned_repeatedly(a["c"]));
  EXPECT_FALSE(a.analysis.is_returned_repeatedly(a["b"]));
}

TEST(AliasAnalysis, UnknownOperatorsTieAndWriteAllTheyAreGiven) {
  const Analyzed a(R"(graph forward(%x: f32[2], %y: f32[2], %z: f32[2]) {
    %r = "#my:op"(%x, [%y]) : f32[2]
    return %r
  })");
  EXPECT_TRUE(a.shares("x", "y"));
  EXPECT_TRUE(a.shares("y", "r"));
  EXPECT_FALSE(a.shares("x", "z"));
  EXPECT_THAT(a.writers("y"), ElementsAre("r"));
  EXPECT_TRUE(a.analysis.is_metadata_changed(a["x"]));
}

constexpr std::string_view cond_text = R"(graph forward(%p: b8[], %x: f32[3], %y: f32[3]) {
  %before = aten.relu(%x) : f32[3]
  %r = higher_order.cond(%p, graph yes(%a: f32[3], %b: f32[3]) {
    %w = aten.add_.Tensor(%a, 1) : f32[3]
    %n = aten.neg(%b) : f32[3]
    return %n
  }, graph no(%c: f32[3], %d: f32[3]) {
    %m = aten.neg(%d) : f32[3]
    return %m
  }, [%x, %y]) -> tuple : f32[3]
  %after = aten.relu(%x) : f32[3]
  return %r, %before, %after
})";

TEST(AliasAnalysis, OperandsAreThePlaceholdersOfBodies) {
  const Analyzed a(cond_text);
  EXPECT_TRUE(a.shares("x", "a"));
  EXPECT_TRUE(a.shares("x", "c"));
  EXPECT_TRUE(a.shares("y", "b"));
  EXPECT_FALSE(a.shares("x", "b"));
  EXPECT_FALSE(a.shares("r", "x"));
  EXPECT_TRUE(a.shares("r", "n"));
}

TEST(AliasAnalysis, AWriteInABodyIsAWriteOfTheCall) {
  const Analyzed a(cond_text);
  EXPECT_TRUE(a.analysis.is_written_between(a["x"], a.node("before"), a.node("after")));
  EXPECT_FALSE(a.analysis.is_written_between(a["y"], a.node("before"), a.node("after")));
  EXPECT_FALSE(a.analysis.is_written_between(a["x"], a.node("x"), a.node("r")));
  EXPECT_THAT(a.writers("x"), ElementsAre("w"));
}

TEST(AliasAnalysis, WhatABodyReturnsIsWhatTheCallYields) {
  const Analyzed a(R"(graph forward(%x: f32[4], %z: f32[4]) {
    %u, %v = higher_order.wrap_with_set_grad_enabled(False, graph body(%a: f32[4], %b: f32[4]) {
      %w = aten.view(%a, [2, 2]) : f32[2, 2]
      return %w, %b
    }, %x, %z) -> tuple : f32[2, 2], f32[4]
    return %u
  })");
  EXPECT_TRUE(a.shares("u", "x"));
  EXPECT_TRUE(a.shares("v", "z"));
  EXPECT_FALSE(a.shares("u", "z"));
}

TEST(AliasAnalysis, ALoopHandsOnWhatItYields) {
  const Analyzed a(R"(graph forward(%i: i64[], %x: f32[4], %k: f32[4]) {
    %j, %y = higher_order.while_loop(graph more(%a: i64[], %b: f32[4], %c: f32[4]) {
      %lt = aten.lt.Scalar(%a, 3) : b8[]
      return %lt
    }, graph step(%d: i64[], %e: f32[4], %f: f32[4]) {
      %g = aten.add.Tensor(%d, 1) : i64[]
      %h = aten.mul.Tensor(%e, %f) : f32[4]
      return %g, %h
    }, [%i, %x], [%k]) -> tuple : i64[], f32[4]
    return %j, %y
  })");
  EXPECT_TRUE(a.shares("x", "y"));
  EXPECT_TRUE(a.shares("h", "e"));
  EXPECT_TRUE(a.shares("k", "f"));
  EXPECT_FALSE(a.shares("k", "y"));
}

TEST(AliasAnalysis, OperandsOfAnotherShapeShareAll) {
  const Analyzed a(R"(graph forward(%x: f32[4], %y: f32[4]) {
    %r = higher_order.associative_scan(graph combine(%a: f32[4], %b: f32[4], %c: f32[4]) {
      %s = aten.add.Tensor(%a, %b) : f32[4]
      return %s
    }, [%x], [%y]) -> tuple : f32[4]
    return %r
  })");
  EXPECT_TRUE(a.shares("x", "a"));
  EXPECT_TRUE(a.shares("y", "b"));
}

TEST(AliasAnalysis, MergedClassesKeepTheirWrites) {
  Analyzed a(R"(graph forward(%x: f32[4]) {
    %c = aten.clone(%x) : f32[4]
    %w = aten.mul_.Tensor(%c, 2) : f32[4]
    %d = aten.neg(%x) : f32[4]
    %e = aten.neg(%d) : f32[4]
    return %e
  })");
  a.analysis.merge(a["d"], a["c"]);
  EXPECT_TRUE(a.shares("d", "w"));
  EXPECT_TRUE(a.analysis.is_written_between(a["d"], a.node("c"), a.node("d")));
  EXPECT_FALSE(a.analysis.is_written_after(a["d"], a.node("d")));
}

TEST(AliasAnalysis, TwoMergedWrittenClassesKnowNoOrder) {
  Analyzed a(R"(graph forward(%x: f32[4]) {
    %c = aten.clone(%x) : f32[4]
    %d = aten.clone(%x) : f32[4]
    %w = aten.mul_.Tensor(%c, 2) : f32[4]
    %v = aten.mul_.Tensor(%d, 2) : f32[4]
    %e = aten.neg(%d) : f32[4]
    return %e
  })");
  a.analysis.merge(a["c"], a["d"]);
  EXPECT_TRUE(a.analysis.is_written_after(a["c"], a.node("e")));
  EXPECT_THAT(a.writers("d"), ElementsAre("w", "v"));
}

TEST(AliasAnalysis, ValuesMadeLaterGetTheCarefulAnswer) {
  Analyzed a(R"(graph forward(%x: f32[4]) {
    %y = aten.relu(%x) : f32[4]
    return %y
  })");
  const Value made =
      a.graph().call_function(op::aten_neg_default, {a["x"]}, a["x"].meta_id()).value();
  EXPECT_TRUE(a.analysis.may_share_storage(made, a["x"]));
  EXPECT_TRUE(a.analysis.is_written_after(made, a.node("y")));
  EXPECT_TRUE(a.analysis.escapes(made));
}

TEST(AliasAnalysis, TiedWeightsShareStorage) {
  Context context;
  ExportedProgram program(context);
  program.graph = parse_graph(context, R"(graph forward(
      %a: param "a" f32[4], %b: param "b" f32[4], %c: buffer "c" f32[4]) {
    return output %a
  })");
  Storage storage;
  storage.size = 16;
  const StorageId shared = program.add_storage(storage);
  const StorageId other = program.add_storage(storage);
  const MetaId meta = program.graph->placeholders()[0].value().meta_id();
  for (const auto& [name, id] :
       {std::pair{"a", shared}, std::pair{"b", shared}, std::pair{"c", other}}) {
    program.state_dict.add({.fqn = name, .meta = meta, .storage = id, .unknown_fields = {}});
  }
  const AliasAnalysis analysis(program);
  const std::vector<Node> inputs = program.graph->placeholders();
  EXPECT_TRUE(analysis.may_share_storage(inputs[0].value(), inputs[1].value()));
  EXPECT_FALSE(analysis.may_share_storage(inputs[0].value(), inputs[2].value()));
}

}  // namespace
}  // namespace winze
