// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/builders/aten.h"
#include "winze/builders/sample_calls.h"
#include "winze/builders/sym.h"
#include "winze/program/program_text.h"
#include "winze/program/program_verifier.h"
#include "winze/shape/meta_check.h"
#include "winze/shape/shape_rules.h"

namespace winze {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A graph with inputs of all sorts. `s0`, `s1` are in [2, 64], `%n` is the SymInt s0.
class BuildersTest : public ::testing::Test {
 protected:
  BuildersTest()
      : program_(parse_program(context_, R"(
symbol s0 in [2, 64]
symbol s1 in [2, 64]
graph f(%x: input f32[2, 3], %y: input f32[2, 3], %i: input i64[2, 3], %h: input f16[3],
        %d: input f32[s0, 4], %e: input f32[s1, 4], %m: input b8[2, 3], %img: input f32[1, 8, 6, 6],
        %w: input f32[16, 8, 3, 3]) {
  %n = aten.sym_size.int(%d, 0) : int = s0
  %last = aten.relu.default(%x) : f32[2, 3]
  return output %last
}
)")),
        graph_(*program_.graph) {}

  Value operator[](std::string_view name) const {
    for (const Node node : graph_.nodes()) {
      if (node.value_count() > 0 && node.value().name() == name) return node.value();
    }
    throw std::invalid_argument(std::string(name));
  }
  /// The node without its name: `aten.neg.default(%x) : f32[2, 3]`.
  static std::string text(const Node& node) {
    const std::string line = node.str();
    const std::size_t equals = line.find(" = ");
    return equals == std::string::npos ? line : line.substr(equals + 3);
  }
  static std::string text(const Value& value) { return text(value.node()); }

  /// `%last`, which comes from a line of the user's.
  Node last_with_source() {
    SourceInfo info;
    info.entries.push_back(
        {context_.string("stack_trace"),
         context_.string("File \"m.py\", line 3, in forward\n    y = x.relu()")});
    const Node last = (*this)["last"].node();
    last.set_source(context_.source(info));
    return last;
  }

  template <typename Build>
  static Diagnostic refused(Build build) {
    try {
      build();
    } catch (const Error& error) {
      return error.diagnostic();
    }
    ADD_FAILURE() << "nothing is refused";
    return {};
  }

  Context context_;
  ExportedProgram program_;
  Graph& graph_;
};

TEST_F(BuildersTest, InfersTheMetaOfWhatItMakes) {
  EXPECT_EQ(text(aten::mul(graph_, (*this)["x"], (*this)["h"])),
            "aten.mul.Tensor(%x, %h) : f32[2, 3]");
  EXPECT_EQ(text(aten::t(graph_, (*this)["x"])), "aten.t.default(%x) : f32[3, 2] strides [1, 3]");
  graph_.lint();
}

TEST_F(BuildersTest, TakesNodesForTensors) {
  EXPECT_EQ(text(aten::neg(graph_, (*this)["x"].node())), "aten.neg.default(%x) : f32[2, 3]");
}

TEST_F(BuildersTest, LeavesDefaultsOut) {
  EXPECT_EQ(text(aten::add(graph_, (*this)["x"], (*this)["y"], {.alpha = 1})),
            "aten.add.Tensor(%x, %y) : f32[2, 3]");
  EXPECT_EQ(text(aten::add(graph_, (*this)["x"], (*this)["y"], {.alpha = 2})),
            "aten.add.Tensor(%x, %y, alpha=2) : f32[2, 3]");
}

TEST_F(BuildersTest, TakesNamedArguments) {
  EXPECT_EQ(text(aten::sum(graph_, (*this)["x"], {.dim = {1}, .keepdim = true})),
            "aten.sum.dim_IntList(%x, [1], True) : f32[2, 1]");
  EXPECT_EQ(text(aten::sum(graph_, (*this)["x"], {.dim = 1, .dtype = ScalarType::float64})),
            "aten.sum.dim_IntList(%x, [1], dtype=f64) : f64[2]");
}

TEST_F(BuildersTest, ChoosesTheOverloadByTheNamesThatAreGiven) {
  const Value x = (*this)["x"];
  EXPECT_EQ(text(aten::sum(graph_, x)), "aten.sum.default(%x) : f32[]");
  EXPECT_EQ(text(aten::sum(graph_, x, {.dtype = ScalarType::float64})),
            "aten.sum.default(%x, dtype=f64) : f64[]");
  EXPECT_EQ(text(aten::squeeze(graph_, x, {.dim = 1})), "aten.squeeze.dim(%x, 1) : f32[2, 3]");
  EXPECT_EQ(text(aten::squeeze(graph_, x, {.dim = {1}})), "aten.squeeze.dims(%x, [1]) : f32[2, 3]");
  EXPECT_EQ(text(aten::max(graph_, x)), "aten.max.default(%x) : f32[]");
  EXPECT_EQ(text(aten::max(graph_, x, (*this)["y"])), "aten.max.other(%x, %y) : f32[2, 3]");
}

TEST_F(BuildersTest, ANumberForATensorIsANumberOfTheTensorOverloadWherePyTorchSaysSo) {
  const Value x = (*this)["x"];
  EXPECT_EQ(text(aten::add(graph_, x, 1)), "aten.add.Tensor(%x, 1) : f32[2, 3]");
  EXPECT_EQ(text(aten::mul(graph_, (*this)["i"], 2.5)), "aten.mul.Tensor(%i, 2.5) : f32[2, 3]");
  EXPECT_EQ(text(aten::eq(graph_, x, 1)), "aten.eq.Scalar(%x, 1) : b8[2, 3]");
  EXPECT_EQ(text(aten::pow(graph_, x, 2)), "aten.pow.Tensor_Scalar(%x, 2) : f32[2, 3]");
  EXPECT_EQ(text(aten::pow(graph_, 2, x)), "aten.pow.Scalar(2, %x) : f32[2, 3]");
}

TEST_F(BuildersTest, TheKindOfAValueChoosesTheOverload) {
  const Value x = (*this)["x"];
  const Value n = (*this)["n"];
  EXPECT_EQ(text(aten::eq(graph_, x, (*this)["y"])), "aten.eq.Tensor(%x, %y) : b8[2, 3]");
  EXPECT_EQ(text(aten::eq(graph_, x, n)), "aten.eq.Scalar(%x, %n) : b8[2, 3]");
  EXPECT_EQ(text(aten::mul(graph_, x, n)), "aten.mul.Tensor(%x, %n) : f32[2, 3]");
  EXPECT_EQ(text(aten::pow(graph_, n, x)), "aten.pow.Scalar(%n, %x) : f32[2, 3]");
}

TEST_F(BuildersTest, TakesSymbolicSizes) {
  EXPECT_EQ(text(aten::view(graph_, (*this)["d"], {.size = {(*this)["n"], 2, 2}})),
            "aten.view.default(%d, [%n, 2, 2]) : f32[s0, 2, 2]");
  EXPECT_EQ(text(aten::full(graph_, {.size = {(*this)["n"]}, .fill_value = 1.5})),
            "aten.full.default([%n], 1.5) : f32[s0]");
}

TEST_F(BuildersTest, TakesListsOfAllSorts) {
  const Value x = (*this)["x"];
  const std::vector<std::int64_t> dims = {1, 0};
  EXPECT_EQ(text(aten::permute(graph_, x, {.dims = dims})),
            "aten.permute.default(%x, [1, 0]) : f32[3, 2] strides [1, 3]");
  EXPECT_EQ(text(aten::cat(graph_, {x, (*this)["y"]}, {.dim = 1})),
            "aten.cat.default([%x, %y], 1) : f32[2, 6]");
  const std::vector<Value> tensors = {x, x, x, x, x, x};
  EXPECT_EQ(text(aten::cat(graph_, tensors)),
            "aten.cat.default([%x, %x, %x, %x, %x, %x]) : f32[12, 3]");
  EXPECT_EQ(
      text(aten::sum(graph_, aten::view(graph_, x, {.size = {1, 1, 2, 1, 3, 1}}))).substr(0, 16),
      "aten.sum.default");
}

TEST_F(BuildersTest, TakesNoneInLists) {
  EXPECT_EQ(text(aten::index(graph_, (*this)["x"], {std::nullopt, (*this)["i"]})),
            "aten.index.Tensor(%x, [None, %i]) : f32[2, 2, 3]");
}

TEST_F(BuildersTest, OneNumberStandsForAListWhereTheSchemaSaysHowLong) {
  EXPECT_EQ(text(aten::avg_pool2d(graph_, (*this)["img"], {.kernel_size = 2})),
            "aten.avg_pool2d.default(%img, [2, 2]) : f32[1, 8, 3, 3]");
}

TEST_F(BuildersTest, TakesOptionalTensors) {
  EXPECT_EQ(text(aten::conv2d(graph_, (*this)["img"], (*this)["w"], {.padding = {1, 1}})),
            "aten.conv2d.default(%img, %w, padding=[1, 1]) : f32[1, 16, 6, 6]");
  EXPECT_EQ(text(aten::convolution(graph_, (*this)["img"], (*this)["w"], std::nullopt,
                                   {.stride = {1, 1},
                                    .padding = {1, 1},
                                    .dilation = {1, 1},
                                    .transposed = false,
                                    .output_padding = {0, 0},
                                    .groups = 1})),
            "aten.convolution.default(%img, %w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1) : "
            "f32[1, 16, 6, 6]");
}

TEST_F(BuildersTest, TakesDtypesStringsAndFloats) {
  const Value x = (*this)["x"];
  EXPECT_EQ(text(aten::_to_copy(graph_, x, {.dtype = ScalarType::float16})),
            "aten._to_copy.default(%x, dtype=f16) : f16[2, 3]");
  EXPECT_EQ(text(aten::div(graph_, x, 2, {.rounding_mode = "floor"})),
            "aten.div.Tensor_mode(%x, 2, rounding_mode=\"floor\") : f32[2, 3]");
  EXPECT_EQ(text(aten::leaky_relu(graph_, x, {.negative_slope = 0.5})),
            "aten.leaky_relu.default(%x, 0.5) : f32[2, 3]");
  EXPECT_EQ(text(aten::mul(graph_, x, std::complex<double>(0, 1))),
            "aten.mul.Tensor(%x, 1j) : c64[2, 3]");
}

TEST_F(BuildersTest, SeveralResultsComeByNameOrInOrder) {
  const auto [values, indices] = aten::max(graph_, (*this)["x"], {.dim = 1});
  EXPECT_EQ(text(values), "aten.max.dim(%x, 1) : f32[2], i64[2]");
  EXPECT_EQ(values.node(), indices.node());
  EXPECT_EQ(indices.index(), 1u);
  const auto sorted = aten::sort(graph_, (*this)["x"], {.descending = true});
  EXPECT_EQ(sorted.indices.meta().tensor.dtype, ScalarType::int64);
  const std::array<Value, 3> normalized = aten::native_layer_norm(
      graph_, (*this)["x"],
      {.normalized_shape = {3}, .weight = std::nullopt, .bias = std::nullopt, .eps = 1e-5});
  EXPECT_EQ(normalized[2].meta().tensor.dim(), 2u);
}

TEST_F(BuildersTest, AListOfResultsIsAVector) {
  const std::vector<Value> parts = aten::split(graph_, (*this)["x"], {.split_size = 2, .dim = 1});
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[1].meta().tensor.sizes[1], SymInt(1));
}

TEST_F(BuildersTest, MakesInPlaceAndOutVariants) {
  const Value x = (*this)["x"];
  const Value y = (*this)["y"];
  EXPECT_EQ(text(aten::add_(graph_, x, y)), "aten.add_.Tensor(%x, %y) : f32[2, 3]");
  EXPECT_EQ(text(aten::add(graph_, x, y, {.out = y})), "aten.add.out(%x, %y, out=%y) : f32[2, 3]");
}

TEST_F(BuildersTest, MakesFunctionsOfSymbolicNumbers) {
  EXPECT_EQ(text(sym::mul(graph_, (*this)["n"], 2)), "_operator.mul(%n, 2) : int = 2*s0");
  EXPECT_EQ(text(sym::floordiv(graph_, (*this)["n"], 2)),
            "_operator.floordiv(%n, 2) : int = s0//2");
}

TEST_F(BuildersTest, TakesAnArgumentOfAnotherNode) {
  const Value viewed = aten::view(graph_, (*this)["d"], {.size = {(*this)["n"], 2, 2}});
  const Value again = aten::view(graph_, (*this)["d"], {.size = viewed.node().argument(1)});
  EXPECT_EQ(text(again), text(viewed));
}

TEST_F(BuildersTest, NodesGoToTheInsertionPointInOrderAndHaveItsSource) {
  const Node last = last_with_source();
  const auto here = graph_.inserting_before(last);
  const Value first = aten::neg(graph_, (*this)["x"]);
  const Value second = aten::exp(graph_, first);
  EXPECT_TRUE(first.node().before(second.node()));
  EXPECT_EQ(second.node().next(), last);
  EXPECT_EQ(first.node().source(), last.source());
  first.set_name("negated");
  EXPECT_EQ(text(second), "aten.exp.default(%negated) : f32[2, 3]");
}

TEST_F(BuildersTest, MetasAreThoseThatTheVerifierInfers) {
  const Value x = (*this)["x"];
  const Value sum = aten::sum(graph_, (*this)["y"], {.dim = 1});
  aten::relu(graph_, aten::addmm(graph_, sum, x, aten::t(graph_, x)));
  aten::gelu(graph_, aten::view(graph_, (*this)["d"], {.size = {-1}}), {.approximate = "tanh"});
  EXPECT_THAT(verify_metas(program_), IsEmpty());
  EXPECT_THAT(verify(program_, VerifyLevel::semantics), IsEmpty());
}

TEST_F(BuildersTest, SaysWhatPyTorchRefuses) {
  const std::size_t nodes = graph_.size();
  const auto here = graph_.inserting_before(last_with_source());
  const Diagnostic diagnostic = refused([&] { aten::mm(graph_, (*this)["x"], (*this)["y"]); });
  EXPECT_EQ(diagnostic.message, "mm: sizes 3 and 2 of the operands do not match");
  EXPECT_EQ(diagnostic.node, "aten.mm.default(%x: f32[2, 3], %y: f32[2, 3])");
  EXPECT_EQ(diagnostic.source, "m.py:3, in forward: y = x.relu()");
  EXPECT_EQ(graph_.size(), nodes);
}

TEST_F(BuildersTest, SaysWhatIsNotKnownToHold) {
  const Diagnostic diagnostic =
      refused([&] { aten::add(graph_, (*this)["d"], (*this)["e"], {.alpha = 2}); });
  EXPECT_EQ(diagnostic.message,
            "aten.add.Tensor needs Eq(s0, s1), which is not known: The size of tensor a (s0) must "
            "match the size of tensor b (s1) at non-singleton dimension 0");
  EXPECT_EQ(diagnostic.node, "aten.add.Tensor(%d: f32[s0, 4], %e: f32[s1, 4], alpha=2)");
  EXPECT_THAT(diagnostic.hint, HasSubstr("narrow the range"));
}

TEST_F(BuildersTest, SaysWhichOperatorHasNoRule) {
  const OpId op = context_.ops().add("mylib::scale(Tensor x, float by) -> Tensor");
  const Diagnostic diagnostic = refused([&] { call_function(graph_, op, {(*this)["x"], 2.0}); });
  EXPECT_EQ(diagnostic.message,
            "mylib.scale.default has no shape rule, so that what it yields is not known");
  EXPECT_EQ(diagnostic.node, "mylib.scale.default(%x: f32[2, 3], 2.0)");
  EXPECT_EQ(
      diagnostic.hint,
      "give the metas of its results: graph.call_function(op, arguments, metas), in Python like= "
      "a node that yields the same");
}

TEST_F(BuildersTest, UsesRulesThatWereAddedToTheContext) {
  const OpId op = context_.ops().add("mylib::scale(Tensor x, float by) -> Tensor");
  ShapeRules::of(context_).add(
      op, [](ShapeCall& call) { call.yield(empty_like(call.env(), call.tensor(0))); });
  EXPECT_EQ(text(call_function(graph_, op, {(*this)["x"], 2.0})),
            "mylib.scale.default(%x, 2.0) : f32[2, 3]");
}

TEST_F(BuildersTest, SaysWhatItsRuleCannotTell) {
  const Diagnostic diagnostic = refused([&] { aten::neg(graph_, (*this)["n"]); });
  EXPECT_EQ(
      diagnostic.message,
      "what aten.neg.default yields cannot be told: aten.neg.default is given what is no tensor");
  EXPECT_EQ(diagnostic.node, "aten.neg.default(%n: int = s0)");
}

TEST_F(BuildersTest, RefusesValuesOfAnotherGraph) {
  Graph other(context_);
  const Value stranger = other.placeholder("stranger", (*this)["x"].meta_id());
  EXPECT_THROW(aten::neg(graph_, stranger), InternalError);
  EXPECT_THROW(aten::cat(graph_, {stranger}), InternalError);
}

// docs/write-a-pass.md
TEST_F(BuildersTest, MakesTheNodesOfTheDocumentation) {
  const Value x = (*this)["x"];
  const Value scaled = aten::mul(graph_, x, 0.5);
  const Value rows = aten::sum(graph_, scaled, {.dim = {1}, .keepdim = true});
  const auto [values, indices] = aten::max(graph_, rows, {.dim = 0});
  const Value batch = aten::sym_size(graph_, x, {.dim = 0});
  const Value flat = aten::view(graph_, x, {.size = {batch, -1}});
  EXPECT_THAT(text(flat), EndsWith(", -1]) : f32[2, 3]"));
  EXPECT_THAT(text(values), EndsWith(", 0) : f32[1], i64[1]"));
  EXPECT_EQ(values.node(), indices.node());
}

TEST_F(BuildersTest, EveryOverloadThatHasARuleHasABuilderOfItsOwn) {
  EXPECT_GT(sample_calls().size(), 1000u);
  for (const SampleCall& call : sample_calls()) {
    std::string made;
    try {
      call.build(graph_, (*this)["x"]);
      made = graph_.output_node().prev().target();
    } catch (const Error& error) {  // the arguments make no sense to most rules
      made = error.diagnostic().node.substr(0, error.diagnostic().node.find('('));
    }
    EXPECT_EQ(made, call.op);
  }
}

// What does not compile.
template <typename T>
concept sums_over = requires(Graph& graph, Value x, T dim) { aten::sum(graph, x, {.dim = dim}); };
static_assert(sums_over<int> && sums_over<std::vector<std::int64_t>>);
static_assert(!sums_over<double> && !sums_over<bool> && !sums_over<const char*>);
static_assert(!sums_over<Value>, "int is no SymInt");

template <typename T>
concept takes_name =
    requires(Graph& graph, Value x, T value) { aten::sum(graph, x, {.dims = value}); };
static_assert(!takes_name<int>, "sum has no argument \"dims\"");

template <typename T>
concept keeps =
    requires(Graph& graph, Value x, T keep) { aten::sum(graph, x, {.dim = {1}, .keepdim = keep}); };
static_assert(keeps<bool> && !keeps<int>);

template <typename T>
concept keeps_alone =
    requires(Graph& graph, Value x, T keep) { aten::sum(graph, x, {.keepdim = keep}); };
static_assert(!keeps_alone<bool>, "keepdim without dim");

template <typename... Operands>
concept can_mul = requires(Graph& graph, Operands... operands) { aten::mul(graph, operands...); };
static_assert(can_mul<Value, Value> && can_mul<Node, Node> && can_mul<Value, int>);
static_assert(!can_mul<Value> && !can_mul<Value, Value, Value> && !can_mul<int, Value> &&
              !can_mul<Value, const char*>);

template <typename T>
concept can_view =
    requires(Graph& graph, Value x, T size) { aten::view(graph, x, {.size = size}); };
static_assert(can_view<std::vector<Value>> && can_view<std::vector<int>>);
static_assert(!can_view<int> && !can_view<std::vector<double>>, "SymInt[] is no SymInt");

template <typename T>
concept can_relu = requires(Graph& graph, T x) { aten::relu(graph, x); };
static_assert(can_relu<Value> && !can_relu<int> && !can_relu<std::nullopt_t>);

}  // namespace
}  // namespace winze
