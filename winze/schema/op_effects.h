// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "winze/schema/op_id.h"
#include "winze/schema/tags.h"

namespace winze {

struct Schema;

/// What sort of callable an operator is; decides how its target is spelled.
enum class OpKind : std::uint8_t {
  overload,      ///< an overload of the dispatcher: `torch.ops.aten.add.Tensor`
  higher_order,  ///< takes graphs or operators: `torch.ops.higher_order.cond`
  symbolic,      ///< works on symbolic scalars: `_operator.floordiv`, `torch.sym_max`, `math.trunc`
  function,      ///< another Python function that export leaves in a graph:
                 ///< `torch._C._set_grad_enabled`
  opaque,        ///< known by its target alone
};

/// When a fact about an operator holds for one call: a question about one argument's value.
///
/// An argument whose value is not known when the question is asked (a symbolic boolean, a tensor)
/// makes the fact hold.
struct EffectCondition {
  enum class Test : std::uint8_t {
    always,
    is_true,       ///< the argument is not False, 0 or None
    is_not_false,  ///< the argument is not False or 0; None counts as true
  };
  Test test = Test::always;
  std::uint16_t argument = 0;  ///< schema position

  [[nodiscard]] constexpr bool is_always() const { return test == Test::always; }
  friend constexpr bool operator==(EffectCondition, EffectCondition) = default;
};

/// The call writes the storage of this argument (of every tensor in it, for a list).
struct ArgumentWrite {
  std::uint16_t argument = 0;
  EffectCondition when;
  friend bool operator==(const ArgumentWrite&, const ArgumentWrite&) = default;
};

/// This result shares storage with that argument.
struct ResultAlias {
  enum class Kind : std::uint8_t {
    view,   ///< the result is a view of the argument: it shares storage always
    self,   ///< the result is the argument itself, as in-place and out operators return it
    maybe,  ///< it may share storage, or be the argument itself, or be fresh: depends on metadata
            ///< at run time
  };
  std::uint16_t result = 0;
  std::uint16_t argument = 0;
  Kind kind = Kind::view;
  friend bool operator==(const ResultAlias&, const ResultAlias&) = default;
};

/// What has to keep its order and may not be dropped, duplicated or merged although no value says
/// so.
enum class Ordering : std::uint8_t {
  none,
  assertion,     ///< stops the program when something does not hold
  output,        ///< prints, logs
  collective,    ///< communicates: ordered among the calls of one process group
  global_state,  ///< changes or reads a state outside the graph (autocast, grad mode, streams, vmap
                 ///< levels, profiler)
  unknown,       ///< an operator not known: everything must be assumed
};

/// Everything an operator does beyond computing its results, from its schema, its tags and the
/// table of exceptions.
struct OpEffects {
  std::vector<ArgumentWrite> writes;
  std::vector<ResultAlias> aliases;
  Ordering ordering = Ordering::none;

  /// Draws random numbers when `random_when` holds.
  bool is_random = false;
  EffectCondition random_when;
  /// Reads tensor contents to give numbers, or to check them: it cannot run without data.
  bool is_data_dependent = false;
  /// Result shapes depend on tensor contents.
  bool has_dynamic_shape = false;
  /// Changes sizes or strides of the first argument in place.
  bool changes_metadata = false;
  /// Gives the first argument another storage; `aliases` says whose.
  bool rebinds_storage = false;
  /// Result contents are not defined, as of `empty`.
  bool is_uninitialized = false;
  /// Results may share storage with each other, even where none does with an argument.
  bool results_overlap = false;
  /// Runs nested graphs, or operators given as arguments: their effects are to be added.
  bool runs_graphs = false;
  /// Nothing is known: assume every effect.
  bool is_unknown = false;

  [[nodiscard]] bool writes_anything() const { return !writes.empty() || is_unknown; }
  [[nodiscard]] bool has_view() const;
  /// May be dropped when no result is used, merged with an equal call, and moved, whatever the
  /// arguments are: nothing written, drawn, ordered or unknown, and no nested graph that could do
  /// so.
  [[nodiscard]] bool is_pure() const {
    return writes.empty() && !is_random && ordering == Ordering::none && !runs_graphs &&
           !is_unknown;
  }
};

/// Derives the effects of an operator from its schema and tags, and from the table in
/// op_effects_table.h where those are silent or wrong.
[[nodiscard]] OpEffects derive_effects(OpId id, OpKind kind, Tags tags, const Schema& schema);

/// The effects of an operator of which nothing is known.
[[nodiscard]] OpEffects unknown_effects();

/// The name of an ordering, as it is printed: `assertion`.
[[nodiscard]] std::string_view ordering_name(Ordering ordering);

}  // namespace winze
