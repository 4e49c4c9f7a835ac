// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <tsl/robin_map.h>

#include "winze/ir/graph.h"
#include "winze/ir/text_names.h"
#include "winze/support/diagnostic.h"

namespace winze {

/// Collects what the verifier finds, up to a bound.
class Findings {
 public:
  static constexpr std::size_t limit = 1000;

  /// Adds a finding about a node, with its text and the user's line. `node` may be invalid: then it
  /// is about the graph.
  void add(const Graph& graph, NodeId node, std::string message, std::string hint = {});
  /// Adds a finding about no node.
  void add(std::string message, std::string hint = {});

  /// Whether a node can be printed in full: false until its storage was checked.
  void set_printable(bool printable) { printable_ = printable; }

  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  /// True once no further finding is kept.
  [[nodiscard]] bool full() const { return count_ >= limit; }
  /// All findings; the last one says how many were left out.
  [[nodiscard]] std::vector<Diagnostic> take();

 private:
  [[nodiscard]] std::string describe(const Graph& graph, NodeId node);

  std::vector<Diagnostic> found_;
  std::size_t count_ = 0;
  bool printable_ = false;
  tsl::robin_map<const Graph*, std::unique_ptr<ValueNames>> names_;
};

}  // namespace winze
