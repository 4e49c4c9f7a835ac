// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <ATen/core/ivalue.h>

#include "winze/support/integer_map.h"
#include "winze/torch/result_keys.h"

namespace winze {

/// Results of calls of earlier runs, for runs of other programs on the same inputs, within a budget
/// of memory. Where it is used up, results that the programs of now no longer make are dropped
/// first; what then does not fit is not kept.
class ResultStore {
 public:
  /// `budget`: bytes of tensors kept at most; 0 keeps nothing.
  explicit ResultStore(std::uint64_t budget) : budget_(budget) {}

  /// Begins a run of a program on one of several sets of inputs.
  void begin_run(std::size_t inputs, const std::vector<ResultKey>& keys);
  /// The results of a call of that number on the inputs of this run, or null.
  [[nodiscard]] const std::vector<c10::IValue>* find(std::uint32_t number) const;
  /// Keeps results, if there is room.
  void keep(std::uint32_t number, std::vector<c10::IValue> results);

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// How many results did not fit.
  [[nodiscard]] std::size_t dropped() const { return dropped_; }

 private:
  struct Entry {
    std::vector<c10::IValue> results;
    std::uint64_t bytes = 0;
    std::uint64_t run = 0;  ///< the last one whose program makes them
  };
  [[nodiscard]] std::uint64_t key_of(std::uint32_t number) const {
    return std::uint64_t{inputs_} << 32U | number;
  }
  void drop_old();

  std::uint64_t budget_;
  std::uint64_t bytes_ = 0;
  std::size_t dropped_ = 0;
  std::uint64_t run_ = 0;
  std::uint64_t swept_ = 0;  ///< the run in which old entries were dropped last
  std::uint32_t inputs_ = 0;
  IntegerMap<Entry> entries_;
};

}  // namespace winze
