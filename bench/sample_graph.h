// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include <benchmark/benchmark.h>

#include "winze/ir/graph.h"

namespace winze::bench {

/// How many nodes a row is measured with.
[[nodiscard]] inline std::size_t nodes_of(const benchmark::State& state) {
  return static_cast<std::size_t>(state.range(0));
}

/// A graph of `nodes` calls with the mix of a decomposed transformer: half pointwise, a quarter
/// matrix products, a quarter views; nothing in it is dead.
[[nodiscard]] std::unique_ptr<Graph> sample_graph(Context& context, std::size_t nodes);

/// Appends calls of that mix to a graph that has two placeholders of the same f32[8, 8] meta.
void append_calls(Graph& graph, std::size_t nodes);

/// Appends the same calls by builders, which infer the metas.
void build_calls(Graph& graph, std::size_t nodes);

}  // namespace winze::bench
