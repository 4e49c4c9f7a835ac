// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include "winze/ir/context.h"

namespace winze::bench {

/// Seconds that a row runs before it is measured, so that a run comes before. A row may be measured
/// by a single run; without one before, it would show how fast a virtual machine gets memory from
/// its host, which can take 10 microseconds a page. PyTorch's rows are the best of several runs.
inline constexpr double warm_up = 0.01;

/// Runs a row at ten thousand and at one million nodes, so that growth shows.
inline void both_sizes(benchmark::internal::Benchmark* row) {
  row->Arg(10'000)->Arg(1'000'000)->Unit(benchmark::kMicrosecond)->MinWarmUpTime(warm_up);
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
