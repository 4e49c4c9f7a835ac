// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "winze/shape/shape_call.h"

namespace winze {

/// What came of inferring a call.
enum class InferenceState : std::uint8_t {
  inferred,
  no_rule,        ///< nothing says what the operator yields
  not_inferable,  ///< its rule cannot tell for these arguments; `reason` says why
};

/// The results of a call as a rule gives them. Reused from call to call, so that its memory is.
struct Inference {
  InferenceState state = InferenceState::no_rule;
  std::vector<MetaId> metas;  ///< one for each value, as Graph::call_function wants them
  /// What has to hold when the program runs, as far as ranges do not prove it.
  std::vector<ShapeConstraint> constraints;
  std::string reason;
};

/// A rule registered at run time, for an operator of somebody's own.
using CustomShapeRule = std::function<void(ShapeCall& call)>;

/// The shape rules of a context: those compiled in, and those added. Infers what calls yield.
///
/// In-place and out variants go through the rule of their functional form: the result is the
/// argument that is written, and the rule says whether the call is one that PyTorch accepts. Copies
/// of views (`permute_copy`) go through the rule of the view.
/// Serves one thread at a time, as its context does; making one costs a few microseconds.
class ShapeRules {
 public:
  explicit ShapeRules(Context& context);
  /// The rules that the context itself keeps: those that builders infer with.
  [[nodiscard]] static ShapeRules& of(Context& context);

  /// Whether calls of `op` can be inferred.
  [[nodiscard]] bool has_rule(OpId op);
  /// Adds a rule, or replaces one. A rule that throws Error refuses the call.
  void add(OpId op, CustomShapeRule rule);

  /// Infers a call that has been made; symbols that its results have brought into the program
  /// stand. Throws Error where PyTorch would refuse the call, with the node and the user's line;
  /// `result.constraints` then holds what was taken for granted before.
  void infer(const Node& node, Inference& result);
  /// Infers a call about to be made in `graph`, arguments in schema position.
  void infer(const Graph& graph, OpId op, std::span<const Argument> arguments, Inference& result);

  /// What the rules ask about sizes.
  [[nodiscard]] ShapeEnv& env() { return env_; }

 private:
  enum class Via : std::uint8_t {
    unknown,  ///< not looked for yet
    none,
    rule,        ///< a row of its own
    custom,      ///< added at run time
    functional,  ///< an in-place or out variant
    factory,     ///< an out variant that is not told dtype and device, which `out` has
    copy,        ///< `t_copy`: what `t` yields, as tensors of their own
  };
  struct Entry {
    ShapeRule rule = nullptr;
    std::uint32_t parameter = 0;
    Via via = Via::unknown;
    std::uint32_t custom = 0;
  };

  [[nodiscard]] const Entry& entry(OpId op);
  [[nodiscard]] Entry find_entry(OpId op);
  struct FunctionalForm {
    OpId op;
    bool takes_options = false;  ///< tensor options, which the variant does not take
  };
  [[nodiscard]] FunctionalForm functional_form(const Op& op) const;
  void run(const Entry& entry, ShapeCall& call, Inference& result);
  [[nodiscard]] OpId view_form(const Op& op) const;
  void replace_written(ShapeCall& call, bool has_dtype);
  void replace_views(ShapeCall& call);

  Context& context_;
  ShapeEnv env_;
  std::vector<Entry> entries_;  ///< by operator
  std::vector<CustomShapeRule> custom_;
};

}  // namespace winze
