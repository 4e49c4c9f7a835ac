// SPDX-License-Identifier: Apache-2.0
// What running costs beside what the operators themselves take: chains, and the Llama that
// WINZE_BENCH_LLAMA names.
#include <cstdlib>
#include <optional>
#include <string>

#include <ATen/core/Tensor.h>
#include <ATen/ops/add_ops.h>
#include <ATen/ops/ones.h>
#include <benchmark/benchmark.h>
#include <c10/core/InferenceMode.h>

#include "winze/program/pt2_reader.h"
#include "winze/schema/op_ids.h"
#include "winze/torch/executor.h"
#include "winze/torch/host_conversion.h"
#include "winze/torch/input_file.h"
#include "winze/torch/run_profile.h"

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

/// The Llama, with the inputs stored in its file.
struct Llama {
  explicit Llama(const std::string& path)
      : program(read_pt2(context, map_file(path), {.file_name = path})),
        executor(program, {.threads = 1}),
        inputs(stored_inputs(program).value().values) {}
  [[nodiscard]] ExecutorResult run() { return executor.run(to_ivalues(inputs)); }

  Context context;
  ExportedProgram program;
  Executor executor;
  std::vector<HostValue> inputs;
};

/// The file to measure with; without one the row is skipped.
std::optional<std::string> llama_path(benchmark::State& state) {
  const char* path = std::getenv("WINZE_BENCH_LLAMA");
  if (path != nullptr) return path;
  state.SkipWithError("WINZE_BENCH_LLAMA names no file");
  return std::nullopt;
}

/// A run once the program is made ready.
void call_llama(benchmark::State& state) {
  const std::optional<std::string> path = llama_path(state);
  if (!path) return;
  Llama llama(*path);
  for (auto _ : state) benchmark::DoNotOptimize(llama.run());
}
BENCHMARK(call_llama)->Unit(benchmark::kMillisecond);

/// The most megabytes of tensors that a run holds at one time.
void run_memory_llama(benchmark::State& state) {
  const std::optional<std::string> path = llama_path(state);
  if (!path) return;
  Llama llama(*path);
  static_cast<void>(llama.run());
  RunProfile profile;
  for (auto _ : state) {
    const auto memory = profile.count_memory();
    benchmark::DoNotOptimize(llama.run());
  }
  state.counters["amount"] = static_cast<double>(profile.peak_bytes()) / 1e6;
}
BENCHMARK(run_memory_llama)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace winze::bench
