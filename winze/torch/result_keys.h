// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "winze/program/program.h"
#include "winze/support/bytes.h"

namespace winze {

/// What is known of the results of one node before a program runs.
struct ResultKey {
  std::uint32_t number = 0;  ///< equal numbers: equal results from equal inputs; 0: not a call
  bool is_reusable = false;  ///< results of an earlier run may stand for those of this call
  bool must_run = false;     ///< it has an effect beyond its results
};

/// Gives the calls of programs numbers, so that calls which compute the same have the same: those
/// of one operator with the same arguments, whose inputs come from calls with the same numbers,
/// from the same inputs and from the same weights. Numbers are exact, not hashes. What is written
/// in place counts: a tensor before and after a write is not the same input.
///
/// Results are reusable where nothing but the call itself could be missed: not of calls that write,
/// draw random numbers, assert or are unknown, not what is written later, not views, which have to
/// share storage with what they are views of, not the second of two equal calls, and nothing after
/// a call that changes the state of the thread, as of autocast or vmap.
///
/// All programs are of one context.
class ResultKeys {
 public:
  /// By index of node of the program's own graph. O(nodes and arguments, nested graphs included),
  /// times the logarithm of the calls seen so far.
  [[nodiscard]] std::vector<ResultKey> number(const ExportedProgram& program);

 private:
  friend class ResultNumbering;

  using Words = std::vector<std::uint64_t>;

  std::uint32_t number_of(const Words& words);

  std::map<Words, std::uint32_t> numbers_;
  std::vector<Bytes> pinned_;  ///< weights whose address stands in words
};

}  // namespace winze
