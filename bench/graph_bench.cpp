// SPDX-License-Identifier: Apache-2.0
// Time and memory a node of the graph's primitives. Each row reports `per_item`, in seconds (or
// bytes).
#include <benchmark/benchmark.h>

#include "bench/rows.h"
#include "bench/sample_graph.h"
#include "winze/schema/op_ids.h"

namespace winze::bench {
namespace {

template <typename Append>
void append_to_graphs(benchmark::State& state, Append append) {
  Context context;
  for (auto _ : state) {
    state.PauseTiming();
    auto graph = std::make_unique<Graph>(context);
    graph->reserve(nodes_of(state) + 3, nodes_of(state) + 3, nodes_of(state) * 3);
    const MetaId meta = sample_meta(context);
    graph->placeholder("x", meta);
    graph->placeholder("weight", meta);
    state.ResumeTiming();
    append(*graph, nodes_of(state));
    state.PauseTiming();
    graph.reset();
    state.ResumeTiming();
  }
  report_per_item(state, nodes_of(state));
}

void create_node(benchmark::State& state) {
  append_to_graphs(state, append_calls);
}

void build_node(benchmark::State& state) {
  append_to_graphs(state, build_calls);
}

void erase_node(benchmark::State& state) {
  Context context;
  for (auto _ : state) {
    state.PauseTiming();
    const std::unique_ptr<Graph> graph = sample_graph(context, nodes_of(state));
    graph->output_node().erase();
    state.ResumeTiming();
    for (Node node = graph->last(); node.is_call();) {
      const Node previous = node.prev();
      node.erase();
      node = previous;
    }
  }
  report_per_item(state, nodes_of(state));
}

void replace_use(benchmark::State& state) {
  Context context;
  Graph graph(context);
  const MetaId meta = sample_meta(context);
  Value from = graph.placeholder("x", meta);
  Value to = graph.placeholder("y", meta);
  for (std::size_t index = 0; index < nodes_of(state); ++index) {
    graph.call_function(op::aten_relu_default, {from}, meta);
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(from.replace_all_uses_with(to));
    std::swap(from, to);
  }
  report_per_item(state, nodes_of(state));
}

void walk(benchmark::State& state) {
  Context context;
  const std::unique_ptr<Graph> graph = sample_graph(context, nodes_of(state));
  for (auto _ : state) {
    std::uint64_t sum = 0;
    for (const Node node : graph->nodes()) sum += node.op().index + node.argument_count();
    benchmark::DoNotOptimize(sum);
  }
  report_per_item(state, nodes_of(state));
}

void clone_graph(benchmark::State& state) {
  Context context;
  const std::unique_ptr<Graph> graph = sample_graph(context, nodes_of(state));
  for (auto _ : state) {
    std::unique_ptr<Graph> copy = graph->clone();
    state.PauseTiming();
    copy.reset();
    state.ResumeTiming();
  }
  report_per_item(state, nodes_of(state));
}

void dead_code(benchmark::State& state) {
  Context context;
  const std::unique_ptr<Graph> graph = sample_graph(context, nodes_of(state));
  for (auto _ : state) benchmark::DoNotOptimize(graph->eliminate_dead_code());
  report_per_item(state, nodes_of(state));
}

void memory(benchmark::State& state) {
  Context context;
  const std::unique_ptr<Graph> graph = sample_graph(context, nodes_of(state));
  for (auto _ : state) benchmark::DoNotOptimize(graph->memory_bytes());
  report_amount(state,
                static_cast<double>(graph->memory_bytes()) / static_cast<double>(nodes_of(state)));
}

BENCHMARK(create_node)->Apply(both_sizes);
BENCHMARK(build_node)->Apply(both_sizes);
BENCHMARK(erase_node)->Apply(both_sizes);
BENCHMARK(replace_use)->Apply(both_sizes);
BENCHMARK(walk)->Apply(both_sizes);
BENCHMARK(clone_graph)->Apply(both_sizes);
BENCHMARK(dead_code)->Apply(both_sizes);
BENCHMARK(memory)->Arg(10'000)->Arg(1'000'000)->Iterations(1);

}  // namespace
}  // namespace winze::bench
