// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <c10/util/ThreadLocalDebugInfo.h>
#include <tsl/robin_map.h>

#include "winze/torch/executor.h"

namespace winze {

/// Measures calls of a run: time by operator, and memory that tensors take. Costs some 50 ns a
/// call.
class RunProfile final : public RunObserver {
 public:
  RunProfile();
  ~RunProfile() override;

  void before_call(Node node, std::span<const c10::IValue> arguments) override;
  void after_call(Node node, std::span<const c10::IValue> results) override;

  /// Counts the memory of this thread's tensors as long as the returned guard lives.
  [[nodiscard]] std::unique_ptr<c10::DebugInfoGuard> count_memory();

  /// A table of operators, the slowest first, with calls, time without that of nested graphs, share
  /// of the whole, and bytes allocated; and the most memory that was held at one time.
  [[nodiscard]] std::string text() const;
  /// The most bytes of tensors that were held at one time while memory was counted, beside what was
  /// there before.
  [[nodiscard]] std::int64_t peak_bytes() const;

 private:
  struct Memory;
  struct Row {
    std::string op;
    std::uint64_t calls = 0;
    double seconds = 0;
    std::int64_t bytes = 0;
  };
  struct Open {
    std::size_t row;
    std::chrono::steady_clock::time_point begin;
    double inner_seconds = 0;
    std::int64_t bytes_before = 0;
    std::int64_t inner_bytes = 0;
  };
  std::vector<Row> rows_;
  tsl::robin_map<std::uint32_t, std::size_t> row_of_op_;
  std::vector<Open> open_;
  std::shared_ptr<Memory> memory_;
};

}  // namespace winze
