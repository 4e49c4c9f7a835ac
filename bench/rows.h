// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <vector>

#include "winze/ir/context.h"

namespace winze::bench {

/// Runs a row at ten thousand and at one million nodes, so that growth shows, and once before it is
/// measured: a single run may be all there is, and the first would show how fast a virtual machine
/// gets memory from its host, which can take 10 microseconds a page.
inline void both_sizes(benchmark::internal::Benchmark* row) {
  row->Arg(10'000)->Arg(1'000'000)->Unit(benchmark::kMicrosecond)->MinWarmUpTime(0.01);
}

/// Counts the shortest of several runs, as PyTorch's side does: rows of wall time.
inline void best_of_several(benchmark::internal::Benchmark* row) {
  row->Unit(benchmark::kMillisecond)
      ->Iterations(1)
      ->Repetitions(15)
      ->ReportAggregatesOnly()
      ->ComputeStatistics("min", [](const std::vector<double>& times) {
        return *std::min_element(times.begin(), times.end());
      });
}

/// Adds the counter `per_item`: seconds of one iteration divided by `items`.
inline void report_per_item(benchmark::State& state, std::size_t items) {
  state.counters["per_item"] =
      benchmark::Counter(static_cast<double>(items), benchmark::Counter::kIsIterationInvariantRate |
                                                         benchmark::Counter::kInvert);
}

/// Adds the counter `amount`: a figure that is no time.
inline void report_amount(benchmark::State& state, double amount) {
  state.counters["amount"] = amount;
}

inline MetaId sample_meta(Context& context) {
  const SymInt square[] = {8, 8};
  return context.contiguous_meta(ScalarType::float32, square);
}

}  // namespace winze::bench
