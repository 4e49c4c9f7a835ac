// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/executor.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/program/program_text.h"
#include "winze/support/diagnostic.h"
#include "winze/support/error_of.h"
#include "winze/torch/host_conversion.h"

namespace winze {
namespace {

using c10::IValue;
using ::testing::AllOf;
using ::testing::HasSubstr;

struct Program {
  explicit Program(std::string_view text, ExecutorOptions options = {})
      : program(parse_program(context, text)), executor(program, options) {}
  std::vector<IValue> outputs(std::vector<IValue> inputs) {
    return executor.run(std::move(inputs)).outputs;
  }
  at::Tensor output(std::vector<IValue> inputs) {
    return outputs(std::move(inputs)).at(0).toTensor();
  }
  Context context;
  ExportedProgram program;
  Executor executor;
};

TEST(Executor, CallsOperatorsWithDefaultsAndKeywords) {
  Program p(R"(
graph forward(%x: input f32[2, 3]) {
  %y = aten.add.Tensor(%x, 1, alpha=2) : f32[2, 3]
  %s, %i = aten.sort(%y) : f32[2, 3], i64[2, 3]
  return output %s
})");
  EXPECT_TRUE(p.output({at::ones({2, 3})}).equal(at::full({2, 3}, 3.0)));
}

TEST(Executor, WeightsOnTheMetaDeviceHaveSizesAlone) {
  Program p(R"(
graph forward(%w: param "w" f32[5, 4] device meta, %x: input f32[2]) {
  %n = aten.sym_size.int(%w, 0) : int = 5
  %y = aten.add.Tensor(%x, %n) : f32[2]
  return output %y
}
state_dict {
  param "w" f32[5, 4] device meta storage 0 size 0
})");
  EXPECT_TRUE(p.output({at::ones({2})}).equal(at::full({2}, 6.0)));
}

TEST(Executor, RunsTheBodyOfAHintsWrapper) {
  Program p(R"(
graph forward(%x: input f32[2]) {
  %y = higher_order.hints_wrapper(graph body(%a: f32[2], %b: f32[2]) {
    %s = aten.add.Tensor(%a, %b) : f32[2]
    return %s
  }, [%x, %x], object("{}", "builtins.dict"), object("{\"k\": {\"as_int\": 1}}", "builtins.dict")) -> tuple : f32[2]
  return output %y
})");
  EXPECT_TRUE(p.output({at::ones({2})}).equal(at::full({2}, 2.0)));
}

TEST(Executor, PromotesNumbersAsPythonDoes) {
  Program p(R"(
graph forward(%x: input f16[2], %n: input i32[2]) {
  %a = aten.mul.Tensor(%x, 1.5) : f16[2]
  %b = aten.add.Tensor(%n, 1) : i32[2]
  return output %a, output %b
})");
  const auto outputs = p.outputs({at::ones({2}, at::kHalf), at::ones({2}, at::kInt)});
  EXPECT_EQ(outputs[0].toTensor().scalar_type(), at::kHalf);
  EXPECT_EQ(outputs[1].toTensor().scalar_type(), at::kInt);
}

TEST(Executor, PassesListsOptionalListsAndNone) {
  Program p(R"(
graph forward(%x: input f32[2, 2], %i: input i64[1]) {
  %c = aten.cat([%x, %x], 1) : f32[2, 4]
  %p = aten.index.Tensor(%c, [None, %i]) : f32[2, 1]
  return output %p, output None
})");
  const auto outputs =
      p.outputs({at::arange(4, at::kFloat).view({2, 2}), at::full({1}, 3, at::kLong)});
  EXPECT_TRUE(outputs[0].toTensor().equal(at::arange(1, 5, 2, at::kFloat).view({2, 1})));
  EXPECT_TRUE(outputs[1].isNone());
}

TEST(Executor, ComputesSizesOnceARun) {
  Program p(R"(
symbol s0 in [2, 64]
graph forward(%x: input f32[s0, 4]) {
  %n = aten.sym_size.int(%x, 0) : int = s0
  %m = _operator.mul(%n, 4) : int = 4*s0
  %f = aten.view(%x, [%m]) : f32[4*s0]
  return output %f, output %m
})");
  for (const std::int64_t size : {2, 5}) {
    const auto outputs = p.outputs({at::ones({size, 4})});
    EXPECT_EQ(outputs[0].toTensor().size(0), 4 * size);
    EXPECT_EQ(outputs[1].toInt(), 4 * size);
  }
}

TEST(Executor, ComputesNumbersAsPythonDoes) {
  Program p(R"(
graph forward(%n: input int = u0) {
  %d = _operator.floordiv(%n, 3) : int = (u0//3)
  %m = _operator.mod(%n, 3) : int = PythonMod(u0, 3)
  %t = _operator.truediv(%n, 2) : float
  %g = torch.sym_max(%n, 2) : int = Max(2, u0)
  return output %d, output %m, output %t, output %g
})");
  const auto outputs = p.outputs({IValue(-7)});
  EXPECT_EQ(outputs[0].toInt(), -3);
  EXPECT_EQ(outputs[1].toInt(), 2);
  EXPECT_EQ(outputs[2].toDouble(), -3.5);
  EXPECT_EQ(outputs[3].toInt(), 2);
}

TEST(Executor, WritesToInputsAsTheProgramDoes) {
  Program p(R"(
graph forward(%x: input f32[2]) {
  %y = aten.add_.Tensor(%x, 1) : f32[2]
  return output %y
})");
  EXPECT_TRUE(p.executor.inputs().at(0).may_be_written);
  const at::Tensor x = at::ones({2});
  const ExecutorResult result = p.executor.run({x});
  EXPECT_TRUE(x.equal(at::full({2}, 2.0)));
  EXPECT_TRUE(result.inputs.at(0).toTensor().is_same(x));
}

TEST(Executor, WritesInputMutationsBack) {
  Program p(R"(
graph forward(%x: input f32[2]) {
  %y = aten.add.Tensor(%x, 1) : f32[2]
  return input_mutation "x" %y, output %y
})");
  const at::Tensor x = at::ones({2});
  EXPECT_EQ(p.outputs({x}).size(), 1U);
  EXPECT_TRUE(x.equal(at::full({2}, 2.0)));
}

TEST(Executor, BeginsEachRunWithTheProgramsOwnState) {
  Program p(R"(
graph forward(%k: buffer "k" f32[2], %x: input f32[2]) {
  %y = aten.add_.Tensor(%k, %x) : f32[2]
  %z = aten.mul.Tensor(%y, 1) : f32[2]
  return output %z
})",
            {.make_up_weights = true});
  const ExecutorResult first = p.executor.run({at::ones({2})});
  const ExecutorResult second = p.executor.run({at::ones({2})});
  ASSERT_EQ(first.state.size(), 1U);
  EXPECT_EQ(first.state[0].name, "k");
  EXPECT_TRUE(first.state[0].tensor.equal(first.outputs[0].toTensor()));
  EXPECT_TRUE(first.outputs[0].toTensor().equal(second.outputs[0].toTensor()));
}

TEST(Executor, RunsTheBranchThatIsTaken) {
  Program p(R"(
graph forward(%p: input b8[], %x: input f32[3]) {
  %r = higher_order.cond(%p, graph yes(%a: f32[3]) {
    %s = aten.add.Tensor(%a, 1) : f32[3]
    return %s
  }, graph no(%b: f32[3]) {
    %s = aten.sub.Tensor(%b, 1) : f32[3]
    return %s
  }, [%x]) -> tuple : f32[3]
  return output %r
})");
  EXPECT_TRUE(p.output({at::full({}, true, at::kBool), at::ones({3})}).equal(at::full({3}, 2.0)));
  EXPECT_TRUE(p.output({at::full({}, false, at::kBool), at::ones({3})}).equal(at::full({3}, 0.0)));
}

TEST(Executor, DrawsTheSameNumbersFromASeed) {
  Program p(R"(
graph forward(%x: input f32[8]) {
  %r = aten.rand_like(%x) : f32[8]
  return output %r
})",
            {.seed = 7});
  EXPECT_TRUE(p.output({at::ones({8})}).equal(p.output({at::ones({8})})));
}

TEST(Executor, FillsWhatOperatorsLeaveUninitializedOnRequest) {
  Program p(R"(
graph forward(%x: input f32[2, 3]) {
  %e = aten.empty_like(%x) : f32[2, 3]
  %s = aten.sum(%e) : f32[]
  %n = aten.new_empty(%x, [2], dtype=i64) : i64[2]
  return output %s, output %n, output %x
})",
            {.fill = UninitializedFill::first});
  EXPECT_TRUE(p.executor.has_uninitialized());
  const auto first = p.outputs({at::ones({2, 3})});
  const auto again = p.outputs({at::ones({2, 3})});
  p.executor.set_fill(UninitializedFill::second);
  const auto second = p.outputs({at::ones({2, 3})});
  for (const std::size_t i : {0, 1}) {
    EXPECT_TRUE(first[i].toTensor().equal(again[i].toTensor()));
    EXPECT_FALSE(first[i].toTensor().equal(second[i].toTensor()));
  }
  EXPECT_TRUE(first[2].toTensor().equal(second[2].toTensor()));
}

TEST(Executor, FillsNothingThatAnOperatorComputed) {
  Program p(R"(
graph forward(%x: input f32[4, 1, 3], %t: input i64[1, 2], %n: input i64[1], %m: input i64[1]) {
  %l, %a = aten._ctc_loss.Tensor(%x, %t, %n, %m) : f32[1], f32[1, 4, 5]
  return output %l
})",
            {.fill = UninitializedFill::first});
  EXPECT_FALSE(p.executor.has_uninitialized());
}

TEST(Executor, TellsAnObserverOfEachCall) {
  struct Counter final : RunObserver {
    void after_call(Node node, std::span<const IValue> results) override {
      calls.emplace_back(node.target());
      EXPECT_EQ(results.size(), 1U);
    }
    std::vector<std::string> calls;
  } counter;
  Program p(R"(
graph forward(%x: input f32[8]) {
  %a = aten.sin(%x) : f32[8]
  %b = aten.cos(%a) : f32[8]
  return output %b
})",
            {.observer = &counter});
  static_cast<void>(p.output({at::ones({8})}));
  EXPECT_THAT(counter.calls, ::testing::ElementsAre("aten.sin.default", "aten.cos.default"));
}

constexpr const char* two_inputs = R"(
symbol s0 in [2, 64]
graph forward(%x: input f32[s0, 4], %y: input f32[s0]) {
  %d = aten.sin(%x) : f32[s0, 4]
  return output %d
})";

TEST(ExecutorInputs, NumberIsChecked) {
  Program p(two_inputs);
  EXPECT_THAT(error_of([&] { p.outputs({at::ones({2, 4})}); }),
              AllOf(HasSubstr("takes 2 inputs, and was given 1"), HasSubstr("in order: x, y")));
}

TEST(ExecutorInputs, DtypeIsChecked) {
  Program p(two_inputs);
  EXPECT_THAT(error_of([&] { p.outputs({at::ones({2, 4}, at::kInt), at::ones({2})}); }),
              HasSubstr("input \"x\" has to be float32, and a tensor of int32 was given"));
}

TEST(ExecutorInputs, DeviceIsChecked) {
  Program p(R"(
graph forward(%x: input f32[2] device cuda:0) {
  %y = aten.neg(%x) : f32[2] device cuda:0
  return output %y
})");
  EXPECT_THAT(error_of([&] { p.outputs({at::ones({2})}); }),
              AllOf(HasSubstr("input \"x\" has to be on cuda:0, and a tensor on cpu was given"),
                    HasSubstr("move_to_device_pass")));
}

TEST(ExecutorInputs, KindIsChecked) {
  Program p(two_inputs);
  EXPECT_THAT(error_of([&] { p.outputs({IValue(3), at::ones({2})}); }),
              HasSubstr("input \"x\" has to be a tensor, and an int was given"));
}

TEST(ExecutorInputs, ShapesAreChecked) {
  Program p(two_inputs);
  EXPECT_THAT(error_of([&] { p.outputs({at::ones({2}), at::ones({2})}); }),
              HasSubstr("input \"x\" has to have 2 dimensions, and one of shape [2] was given"));
  EXPECT_THAT(error_of([&] { p.outputs({at::ones({2, 5}), at::ones({2})}); }),
              HasSubstr("dimension 1 of input \"x\" is 5, and has to be 4"));
  EXPECT_THAT(error_of([&] { p.outputs({at::ones({2, 4}), at::ones({3})}); }),
              HasSubstr("dimension 0 of input \"y\" is 3, and has to be s0 = 2"));
}

TEST(ExecutorInputs, RangesOfSymbolsAreChecked) {
  Program p(two_inputs);
  EXPECT_THAT(error_of([&] { p.outputs({at::ones({65, 4}), at::ones({65})}); }),
              HasSubstr("dimension 0 of input \"x\" is 65, and s0 has to lie in [2, 64]"));
}

TEST(ExecutorErrors, ResultsOnTheMetaDeviceHaveNoNumbers) {
  EXPECT_THAT(error_of([] { static_cast<void>(to_host(at::empty({2}, at::device(at::kMeta)))); }),
              HasSubstr("a tensor on the meta device has no numbers that could be shown"));
}

TEST(ExecutorErrors, AssertionsCarryTheProgramsMessage) {
  Program p(R"(
graph forward(%n: input int = u0) {
  %c = _operator.ge(%n, 3) : bool = (u0 >= 3)
  aten._assert_scalar(%c, "n has to be 3 or more")
  return output %n
})");
  EXPECT_THAT(error_of([&] { p.outputs({IValue(1)}); }),
              AllOf(HasSubstr("a run-time assertion of the program does not hold"),
                    HasSubstr("n has to be 3 or more"), HasSubstr("aten._assert_scalar")));
}

TEST(ExecutorErrors, KernelsFailWithTheNode) {
  Program p(R"(
graph forward(%x: input f32[3, 4]) {
  %m = aten.mm(%x, %x) : f32[3, 4]
  return output %m
})");
  EXPECT_THAT(error_of([&] { p.output({at::ones({3, 4})}); }),
              AllOf(HasSubstr("aten.mm.default failed"), HasSubstr("node: %m = aten.mm.default")));
}

TEST(ExecutorErrors, MissingOperatorsAreNamedWithTheLibrary) {
  const auto error = error_of([] {
    const Program p(R"(
graph forward(%x: input f32[3]) {
  %m = "torch.ops.mylib.scale.default"(x: %x) : f32[3]
  return output %m
})");
  });
  EXPECT_THAT(error, AllOf(HasSubstr("this libtorch has no operator mylib::scale"),
                           HasSubstr("--load LIB.so loads the library that registers operators of "
                                     "mylib")));
}

TEST(ExecutorErrors, SubclassesOfTensorsAreToBeTakenApart) {
  const auto error = error_of([] {
    const Program p(R"(
graph forward(%x: input f32[3]) {
  %q = export.access_subclass_inner_tensor.default(%x, "qdata") : i8[3]
  return output %q
})");
  });
  EXPECT_THAT(error, HasSubstr("hint: weights of a tensor subclass become plain tensors by "
                               "run_decompositions() before the program is saved"));
}

TEST(ExecutorErrors, PrimitivesThatAreNotBuiltInAreNamed) {
  const auto error = error_of([] {
    const Program p(R"(
graph forward(%x: input i64[3]) {
  %m = prims.xor_sum.default(%x, [0]) : i64[]
  return output %m
})");
  });
  EXPECT_THAT(error, AllOf(HasSubstr("this libtorch has no operator prims::xor_sum"),
                           HasSubstr("PyTorch implements its primitives in Python")));
}

TEST(ExecutorErrors, MissingOverloadsAreNamedWithThoseThatThereAre) {
  const auto error = error_of([] {
    const Program p(R"(
graph forward(%n: input int) {
  %m = aten.add.default(%n, 1) : int
  return output %m
})");
  });
  EXPECT_THAT(error,
              AllOf(HasSubstr("this libtorch has no operator aten::add\n"),
                    HasSubstr("name one of its overloads: Scalar, Scalar_out, Tensor, out")));
}

TEST(ExecutorErrors, MissingWeightsAreNamed) {
  Program p(R"(
graph forward(%w: param "w" f32[2], %x: input f32[2]) {
  %y = aten.add.Tensor(%w, %x) : f32[2]
  return output %y
})");
  EXPECT_THAT(error_of([&] { p.output({at::ones({2})}); }),
              HasSubstr("the bytes of weight \"w\" are not at hand"));
}

}  // namespace
}  // namespace winze
