// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <tsl/robin_map.h>

#include "winze/ir/graph.h"
#include "winze/schema/op_effects.h"

namespace winze {

/// What a call does beyond yielding its results: the facts of its operator, asked with the call's
/// arguments, and those of the graphs and operators that it runs.
struct CallFacts {
  bool writes = false;            ///< storage that it was given
  bool changes_metadata = false;  ///< sizes, strides or storage of a tensor that it was given
  bool is_random = false;         ///< draws random numbers
  bool is_unknown = false;        ///< nothing is known: everything must be assumed
  Ordering ordering = Ordering::none;

  /// May not be dropped, repeated, merged with an equal call or moved past another impure one.
  [[nodiscard]] bool is_impure() const {
    return writes || is_random || is_unknown || ordering != Ordering::none;
  }
  void add(const CallFacts& other);
};

/// Whether a fact about an operator holds for one call. What cannot be known holds.
[[nodiscard]] bool holds(const EffectCondition& condition, Node call);

/// Answers for the calls of graphs of one context. Facts of nested graphs are computed once, when
/// first asked for: make a new one after edits that may have given a body more effects.
class CallEffects {
 public:
  explicit CallEffects(const Context& context) : context_(&context) {}

  /// O(arguments), and once O(nodes) of the graphs it runs. Nodes that are no calls have no
  /// effects.
  [[nodiscard]] CallFacts facts(Node node);
  [[nodiscard]] bool is_impure(Node node) { return facts(node).is_impure(); }
  [[nodiscard]] bool is_random(Node node) { return facts(node).is_random; }
  /// The arguments whose storage a call writes, each once. Of a call that runs graphs with a write
  /// in them, every tensor argument: AliasAnalysis knows it exactly.
  [[nodiscard]] std::vector<Value> writes(Node node);

 private:
  [[nodiscard]] const CallFacts& body_facts(Graph& body);
  void add_bodies(Node node, CallFacts& facts);

  const Context* context_;
  tsl::robin_map<const Graph*, CallFacts> bodies_;
};

}  // namespace winze
