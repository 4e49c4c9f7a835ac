// SPDX-License-Identifier: Apache-2.0
// What running costs beside what the operators themselves take.
#include <ATen/core/Tensor.h>
#include <ATen/ops/add_ops.h>
#include <ATen/ops/ones.h>
#include <benchmark/benchmark.h>
#include <c10/core/InferenceMode.h>

#include "winze/schema/op_ids.h"
#include "winze/torch/executor.h"

namespace winze::bench {
namespace {

/// Adds the counter `per_item`, as `bench/rows.h` does: seconds a node.
void report_per_item(benchmark::State& state, std::int64_t items) {
  state.counters["per_item"] =
      benchmark::Counter(static_cast<double>(items), benchmark::Counter::kIsIterationInvariantRate |
                                                         benchmark::Counter::kInvert);
}

/// `%y0 = %x + %x; %y1 = %y0 + %x; …` on one element.
void add_chain(Graph& graph, std::int64_t nodes) {
  Context& context = graph.context();
  const SymInt one[] = {1};
  const MetaId meta = context.contiguous_meta(ScalarType::float32, one);
  const Node input = graph.placeholder("x", meta, context.input_spec({}));
  Value last = input.value();
  for (std::int64_t i = 0; i < nodes; ++i)
    last = graph.call_function(op::aten_add_Tensor, {last, input.value()}, meta).value();
  const Argument values[] = {last};
  const Argument roles[] = {context.output_spec({})};
  graph.output(values, roles);
}

/// The executor.
void run_chain(benchmark::State& state) {
  Context context;
  ExportedProgram program(context);
  add_chain(*program.graph, state.range(0));
  Executor executor(program, {.threads = 1});
  const at::Tensor x = at::ones({1});
  for (auto _ : state) benchmark::DoNotOptimize(executor.run({x}));
  report_per_item(state, state.range(0));
}
BENCHMARK(run_chain)->Arg(10'000)->Unit(benchmark::kMicrosecond);

/// The same calls, unboxed, in a loop.
void run_chain_loop(benchmark::State& state) {
  const c10::InferenceMode mode;
  const at::Tensor x = at::ones({1});
  const at::Scalar alpha(1);
  for (auto _ : state) {
    at::Tensor last = x;
    for (std::int64_t i = 0; i < state.range(0); ++i)
      last = at::_ops::add_Tensor::call(last, x, alpha);
    benchmark::DoNotOptimize(last);
  }
  report_per_item(state, state.range(0));
}
BENCHMARK(run_chain_loop)->Arg(10'000)->Unit(benchmark::kMicrosecond);

/// Making the chain ready to run.
void compile_chain(benchmark::State& state) {
  Context context;
  ExportedProgram program(context);
  add_chain(*program.graph, state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(Executor(program));
  report_per_item(state, state.range(0));
}
BENCHMARK(compile_chain)->Arg(10'000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace winze::bench
