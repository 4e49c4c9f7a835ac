// SPDX-License-Identifier: Apache-2.0
#include "winze/shape/meta_propagation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/ir/text_types.h"
#include "winze/program/program_text.h"
#include "winze/schema/op_ids.h"
#include "winze/shape/meta_check.h"

namespace winze {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// A program, its values by name, and the types that they have.
class MetaPropagationTest : public testing::Test {
 protected:
  Graph& parse(std::string_view text) {
    program_.emplace(parse_program(context_, text));
    return *program_->graph;
  }
  Value value(std::string_view name) {
    for (const Graph* graph : program_->graph->all_graphs()) {
      for (const Node node : graph->nodes()) {
        for (std::uint32_t index = 0; index < node.value_count(); ++index) {
          if (node.value(index).name() == name) return node.value(index);
        }
      }
    }
    ADD_FAILURE() << "no value " << name;
    return {};
  }
  std::string type(std::string_view name) {
    std::string text;
    append_type(text, context_, value(name).meta_id(), Device{});
    return text;
  }
  Meta tensor(std::initializer_list<SymInt> sizes) {
    const std::vector<SymInt> list = sizes;
    return context_.meta(context_.contiguous_meta(ScalarType::float32, list));
  }

  Context context_;
  std::optional<ExportedProgram> program_;
};

constexpr std::string_view chain = R"(symbol s0 in [2, 64]
graph f(%x: input f32[2, 3], %z: input f32[5]) {
  %a = aten.relu(%x) : f32[2, 3]
  %s = aten.sum.dim_IntList(%a, [0]) : f32[3]
  %b = aten.neg(%s) : f32[3]
  %c = aten.neg(%z) : f32[5]
  return output %b, output %c
})";

TEST_F(MetaPropagationTest, GoesNoFurtherThanMetasChange) {
  Graph& graph = parse(chain);
  MetaPropagation propagation(graph);
  propagation.set_meta(value("x"), tensor({7, 3}));
  const Propagation result = propagation.run();
  EXPECT_EQ(type("a"), "f32[7, 3]");
  EXPECT_EQ(type("s"), "f32[3]");
  EXPECT_EQ(result.inferred, 2U);  // %b follows from what did not change
  EXPECT_EQ(result.changed, 2U);
  EXPECT_THAT(result.problems, IsEmpty());
}

TEST_F(MetaPropagationTest, WhatSaysTheSameStaysAsItIsSpelled) {
  Graph& graph = parse(R"(symbol s0 in [2, 64]
graph f(%x: input f32[s0]) {
  %a = aten.relu(%x) : f32[Min(100, s0)]
  return output %a
})");
  const Propagation result = MetaPropagation(graph).run_all();
  EXPECT_EQ(type("a"), "f32[Min(100, s0)]");
  EXPECT_EQ(result.changed, 0U);
}

TEST_F(MetaPropagationTest, MakesASizeDynamic) {
  Graph& graph = parse(chain);
  MetaPropagation propagation(graph);
  propagation.set_meta(value("x"), tensor({*context_.symbols().find_symbol("s0"), 3}));
  EXPECT_THAT(propagation.run().problems, IsEmpty());
  EXPECT_EQ(type("a"), "f32[s0, 3]");
  EXPECT_EQ(type("b"), "f32[3]");
}

TEST_F(MetaPropagationTest, ANumberOfTheExampleIsAConstraint) {
  Graph& graph = parse(R"(symbol s0 in [2, 64]
graph f(%x: input f32[2, 3]) {
  %a = aten.view(%x, [2, 3, 1]) : f32[2, 3, 1]
  return output %a
})");
  MetaPropagation propagation(graph);
  propagation.set_meta(value("x"), tensor({*context_.symbols().find_symbol("s0"), 3}));
  const Propagation result = propagation.run();
  ASSERT_THAT(result.problems, SizeIs(1));
  EXPECT_EQ(result.problems[0].node.value().name(), "a");
  EXPECT_THAT(diagnostic_of(result.problems[0]).message,
              HasSubstr("aten.view.default fixes s0 to 2"));
}

TEST_F(MetaPropagationTest, ACallThatPyTorchRefusesIsAProblem) {
  Graph& graph = parse(R"(graph f(%x: input f32[2, 3], %y: input f32[3]) {
  %a = aten.add.Tensor(%x, %y) : f32[2, 3]
  return output %a
})");
  MetaPropagation propagation(graph);
  propagation.set_meta(value("y"), tensor({4}));
  const Propagation result = propagation.run();
  ASSERT_THAT(result.problems, SizeIs(1));
  EXPECT_THAT(diagnostic_of(result.problems[0]).message,
              HasSubstr("aten.add.Tensor refuses its arguments: The size of tensor a (3)"));
  EXPECT_EQ(type("a"), "f32[2, 3]");
}

TEST_F(MetaPropagationTest, AnotherNumberOfResultsIsAProblem) {
  Graph& graph = parse(R"(graph f(%x: input f32[4]) {
  [%a, %b] = aten.split.Tensor(%x, 2) : f32[2], f32[2]
  return output %a, output %b
})");
  MetaPropagation propagation(graph);
  propagation.set_meta(value("x"), tensor({6}));
  const Propagation result = propagation.run();
  ASSERT_THAT(result.problems, SizeIs(1));
  EXPECT_THAT(result.problems[0].message, HasSubstr("yields 3 values, and the program takes 2"));
}

TEST_F(MetaPropagationTest, WithoutARuleResultsStayWhileInputsDo) {
  context_.ops().add("mylib::thing(Tensor x) -> Tensor", "");
  Graph& graph = parse(R"(graph f(%x: input f32[4]) {
  %a = mylib.thing(%x) : f32[9]
  %b = aten.relu(%a) : f32[9]
  return output %b
})");
  EXPECT_THAT(MetaPropagation(graph).run_all().problems, IsEmpty());
  MetaPropagation propagation(graph);
  propagation.set_meta(value("x"), tensor({6}));
  const Propagation result = propagation.run();
  ASSERT_THAT(result.problems, SizeIs(1));
  EXPECT_THAT(diagnostic_of(result.problems[0]).message,
              HasSubstr("what mylib.thing.default yields now is not known: no shape rule"));
}

TEST_F(MetaPropagationTest, UnderAutocastResultsDoNotFollow) {
  Graph& graph = parse(R"(graph f(%x: input f32[4]) {
  %a = aten.relu(%x) : f32[4]
  %t = torch.amp.autocast_mode._enter_autocast("cpu", bf16, True, False) : unknown
  %b = aten.relu(%a) : bf16[4]
  torch.amp.autocast_mode._exit_autocast(%t)
  %c = aten.relu(%b) : bf16[4]
  return output %c
})");
  EXPECT_EQ(MetaPropagation(graph).run_all().changed, 0U);
  EXPECT_EQ(type("b"), "bf16[4]");
  MetaPropagation propagation(graph);
  propagation.set_meta(value("x"), tensor({6}));
  const Propagation result = propagation.run();
  ASSERT_THAT(result.problems, SizeIs(1));
  EXPECT_THAT(result.problems[0].message, HasSubstr("autocast converts"));
}

// The halves of a scan over dimension 1: the mapped dimension lies between the two that are seen,
// so the product is no more contiguous than its operands are.
constexpr std::string_view mapped = R"(graph f(%x: input f32[2, 4, 4], %y: input f32[2, 4, 4]) {
  %outer = torch._functorch.predispatch._vmap_increment_nesting(4, "error") : None
  %a = torch._functorch.predispatch._add_batch_dim(%x, 1, 1) : f32[2, 4] strides [16, 1]
  %b = torch._functorch.predispatch._add_batch_dim(%y, 1, 1) : f32[2, 4] strides [16, 1]
  %mul = aten.mul.Tensor(%a, %b) : f32[2, 4] strides [16, 1]
  %r = torch._functorch.predispatch._remove_batch_dim(%mul, 1, 4, 0) : f32[4, 2, 4] strides [4, 16, 1]
  %leave = torch._functorch.predispatch._vmap_decrement_nesting() : None
  return output %r
})";

TEST_F(MetaPropagationTest, UnderVmapLayoutsStayAsRecorded) {
  Graph& graph = parse(mapped);
  EXPECT_THAT(verify_metas(*program_), IsEmpty());
  EXPECT_EQ(MetaPropagation(graph).run_all().changed, 0U);
  EXPECT_EQ(type("mul"), "f32[2, 4] strides [16, 1]");
}

TEST_F(MetaPropagationTest, UnderVmapDtypesAndSizesFollow) {
  Graph& graph = parse(mapped);
  value("mul").set_meta(context_.tensor_meta({.dtype = ScalarType::float16,
                                              .sizes = value("mul").meta().tensor.sizes,
                                              .strides = value("mul").meta().tensor.strides}));
  EXPECT_THAT(verify_metas(*program_), SizeIs(2));
  MetaPropagation(graph).run_all();
  EXPECT_EQ(type("mul"), "f32[2, 4] strides [16, 1]");
}

constexpr std::string_view branches = R"(graph f(%p: input b8[], %x: input f32[2, 3]) {
  %r = higher_order.cond(%p, graph yes(%d: f32[2, 3]) {
    %e = aten.relu(%d) : f32[2, 3]
    return %e
  }, graph no(%g: f32[2, 3]) {
    %h = aten.neg(%g) : f32[2, 3]
    return %h
  }, [%x]) -> tuple : f32[2, 3]
  %s = aten.relu(%r) : f32[2, 3]
  return output %s
})";

TEST_F(MetaPropagationTest, OperandsGiveBodiesTheirMetas) {
  Graph& graph = parse(branches);
  MetaPropagation propagation(graph);
  propagation.set_meta(value("x"), tensor({7, 3}));
  static_cast<void>(propagation.run());
  EXPECT_EQ(type("d"), "f32[7, 3]");
  EXPECT_EQ(type("e"), "f32[7, 3]");
  EXPECT_EQ(type("h"), "f32[7, 3]");
}

TEST_F(MetaPropagationTest, RowsGiveBodiesTheirMetas) {
  Graph& graph = parse(R"(graph f(%x: input f32[5, 2, 3]) {
  %r = higher_order.map_impl(graph body(%d: f32[2, 3]) {
    %e = aten.relu(%d) : f32[2, 3]
    return %e
  }, [%x], []) -> tuple : f32[5, 2, 3]
  return output %r
})");
  MetaPropagation propagation(graph);
  propagation.set_meta(value("x"), tensor({5, 4, 3}));
  static_cast<void>(propagation.run());
  EXPECT_EQ(type("e"), "f32[4, 3]");
}

TEST_F(MetaPropagationTest, FollowsTheEditsOfATransaction) {
  Graph& graph = parse(chain);
  graph.journal().begin("test");
  const Value sum = value("s");
  {
    const auto here = graph.inserting_before(sum.node());
    const Node wide = graph.call_function(
        op::aten_unsqueeze_default, {value("a"), 0},
        context_.contiguous_meta(ScalarType::float32, std::vector<SymInt>{1, 2, 3}));
    sum.node().replace_input_with(value("a"), wide);
  }
  const Propagation result = propagate_metas(graph);
  EXPECT_EQ(type("s"), "f32[2, 3]");
  EXPECT_EQ(type("b"), "f32[2, 3]");
  EXPECT_EQ(result.inferred, 3U);  // the new call, %s, %b
  graph.journal().undo();
  EXPECT_EQ(type("b"), "f32[3]");
}

TEST_F(MetaPropagationTest, FollowsAReplacedValue) {
  Graph& graph = parse(chain);
  graph.journal().begin("test");
  value("a").replace_all_uses_with(value("z"));
  value("a").node().erase();
  static_cast<void>(propagate_metas(graph));
  EXPECT_EQ(type("s"), "f32[]");
  graph.journal().commit();
}

TEST_F(MetaPropagationTest, AnEditInABodyReachesTheCall) {
  Graph& graph = parse(branches);
  graph.journal().begin("test");
  value("e").node().set_argument(0, value("d"));
  const Propagation result = propagate_metas(graph);
  EXPECT_EQ(result.inferred, 2U);  // in the body, and the call
  graph.journal().commit();
}

TEST_F(MetaPropagationTest, VerifyingEditsFindsWhatAPassLeft) {
  Graph& graph = parse(chain);
  graph.journal().begin("test");
  EXPECT_THAT(verify_edited_metas(*program_), IsEmpty());
  value("a").replace_all_uses_with(value("z"));
  const std::vector<Diagnostic> findings = verify_edited_metas(*program_);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0].message,
              HasSubstr("results are recorded as f32[3], but aten.sum.dim_IntList yields f32[]"));
  graph.journal().commit();
}

}  // namespace
}  // namespace winze
