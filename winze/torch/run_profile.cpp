// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/run_profile.h"

#include <algorithm>

#include <c10/core/Allocator.h>
#include <fmt/format.h>

namespace winze {

using Clock = std::chrono::steady_clock;

/// What libtorch's allocator reports.
struct RunProfile::Memory final : c10::MemoryReportingInfoBase {
  void reportMemoryUsage(void* /*pointer*/, std::int64_t size, std::size_t /*total_allocated*/,
                         std::size_t /*total_reserved*/, c10::Device /*device*/) override {
    if (size > 0) allocated += size;
    held += size;
    peak = std::max(peak, held);
  }
  [[nodiscard]] bool memoryProfilingEnabled() const override { return true; }

  std::int64_t allocated = 0;
  std::int64_t held = 0;
  std::int64_t peak = 0;
};

RunProfile::RunProfile() : memory_(std::make_shared<Memory>()) {}
RunProfile::~RunProfile() = default;

std::unique_ptr<c10::DebugInfoGuard> RunProfile::count_memory() {
  return std::make_unique<c10::DebugInfoGuard>(c10::DebugInfoKind::PROFILER_STATE, memory_);
}

void RunProfile::before_call(Node node, std::span<const c10::IValue> /*arguments*/) {
  const auto [found, is_new] = row_of_op_.emplace(node.op().index, rows_.size());
  if (is_new) rows_.push_back({.op = std::string(node.target())});
  open_.push_back({.row = found->second,
                   .begin = Clock::now(),
                   .inner_seconds = 0,
                   .bytes_before = memory_->allocated,
                   .inner_bytes = 0});
}

void RunProfile::after_call(Node /*node*/, std::span<const c10::IValue> /*results*/) {
  const Open call = open_.back();
  open_.pop_back();
  const double seconds = std::chrono::duration<double>(Clock::now() - call.begin).count();
  const std::int64_t bytes = memory_->allocated - call.bytes_before;
  Row& row = rows_[call.row];
  ++row.calls;
  row.seconds += seconds - call.inner_seconds;
  row.bytes += bytes - call.inner_bytes;
  if (open_.empty()) return;
  open_.back().inner_seconds += seconds;
  open_.back().inner_bytes += bytes;
}

std::int64_t RunProfile::peak_bytes() const {
  return memory_->peak;
}

std::string RunProfile::text() const {
  std::vector<Row> rows = rows_;
  std::ranges::sort(rows, [](const Row& a, const Row& b) {
    return a.seconds != b.seconds ? a.seconds > b.seconds : a.op < b.op;
  });
  double total = 0;
  std::uint64_t calls = 0;
  for (const Row& row : rows) {
    total += row.seconds;
    calls += row.calls;
  }
  std::string text = fmt::format("{:>8}  {:>12}  {:>6}  {:>14}  operator\n", "calls", "time",
                                 "share", "allocated");
  for (const Row& row : rows) {
    text +=
        fmt::format("{:>8}  {:>9.3f} ms  {:>5.1f}%  {:>12} B  {}\n", row.calls, row.seconds * 1e3,
                    total > 0 ? 100 * row.seconds / total : 0.0, row.bytes, row.op);
  }
  text += fmt::format(
      "{:>8}  {:>9.3f} ms  all; at most {} B held at one time beside weights and "
      "inputs\n",
      calls, total * 1e3, memory_->peak);
  return text;
}

}  // namespace winze
