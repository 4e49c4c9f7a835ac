// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tsl/robin_set.h>

#include "winze/ir/body_calls.h"
#include "winze/shape/operand_metas.h"
#include "winze/shape/shape_rules.h"

namespace winze {

/// Something that keeps the metas of a graph from following from its inputs.
struct PropagationProblem {
  enum class Kind : std::uint8_t {
    constraint,  ///< it follows only if `condition` holds, which ranges do not prove
    refused,     ///< PyTorch would refuse the call
    unknown,     ///< inputs changed, and nothing says what becomes of the results
  };
  Kind kind = Kind::constraint;
  Node node;
  SymExpr condition;    ///< of a constraint
  std::string message;  ///< the reason, as a phrase
  std::string hint;
};

/// The problem with the node, and with the value that a constraint would fix a symbol to.
[[nodiscard]] Diagnostic diagnostic_of(const PropagationProblem& problem);

struct Propagation {
  std::size_t inferred = 0;  ///< calls that were looked at
  std::size_t changed = 0;   ///< values that got another meta
  std::vector<PropagationProblem> problems;
};

/// Infers metas anew, forward from where something changed, and no further than metas really
/// change: a meta that is proved to say the same stays as it is spelled.
///
/// Calls are taken in topological order, those in the bodies of a higher-order call before the call
/// itself, whose operands give the inputs of the bodies their metas. Each call is looked at once.
/// What a call yields that has no rule stays, and is a problem where its inputs changed.
class MetaPropagation {
 public:
  /// Of `root` and the graphs nested in it, by the rules of its context.
  explicit MetaPropagation(Graph& root);

  /// Infers this call.
  void add(const Node& call);
  /// Counts the value as changed and infers its users.
  void add_users(Value value);
  /// Gives a value, such as an input, another meta. Nothing happens where it says the same.
  void set_meta(Value value, const Meta& meta);
  /// Takes the edits of the journal's open transaction as what changed. O(edits and the uses of
  /// values that replaced others).
  void add_edits();
  /// Does not compare storage offsets (`records_offsets`).
  void set_compare_offsets(bool compare) { compare_offsets_ = compare; }

  /// Infers what was added and what follows. O(calls looked at, and their logarithm).
  Propagation run();
  /// Infers every call.
  Propagation run_all();

 private:
  /// What is to be done in one graph.
  struct Work {
    explicit Work(Graph& graph) : operands(graph) {}
    std::vector<Node> heap;  ///< calls to infer, first in the graph's order on top
    tsl::robin_set<std::uint32_t> waiting;
    tsl::robin_set<std::uint32_t> changed;  ///< values
    OperandMetas operands;
  };
  /// A graph that is being gone through.
  struct Frame {
    Work* work = nullptr;
    Node next;    ///< of all calls
    Node opened;  ///< the call whose bodies are gone through above this frame
  };

  [[nodiscard]] Work& work(Graph& graph);
  void push(Graph& graph) { frames_.push_back({&work(graph), graph.first(), {}}); }
  Propagation go_through();
  [[nodiscard]] Node next(Frame& frame);
  /// Why the operands do not tell what a call yields; empty where they do.
  [[nodiscard]] std::string_view why_untold(const Node& call) const;
  /// Hands operands to the bodies of a call and puts those that have work on the stack.
  bool open_bodies(const Node& call);
  void pass_operand(const Node& call, const BodyOperand& operand, bool is_loop, Value input);
  void infer(const Node& call);
  void apply(const Node& call);
  [[nodiscard]] bool inputs_changed(const Node& call) const;
  void add_problem(PropagationProblem::Kind kind, const Node& node, std::string message,
                   std::string hint = {}, SymExpr condition = {});

  Graph& root_;
  ShapeRules& rules_;
  ShapeEnv env_;
  bool compare_offsets_ = true;
  bool takes_all_ = false;  ///< every call, so that nothing has to be remembered
  std::map<const Graph*, std::unique_ptr<Work>> works_;
  std::vector<Frame> frames_;
  Inference inference_;
  Propagation result_;
};

/// Infers the metas of the graph anew, as far as they follow from the edits of the open
/// transaction. What cannot be followed is in the result.
Propagation propagate_metas(Graph& root);

}  // namespace winze
