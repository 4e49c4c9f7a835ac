// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "winze/schema/op_id.h"

namespace winze {

struct Schema;
class Tags;

/// When a fact about an operator holds for one call: a question about one argument's value.
///
/// An argument whose value is not known when the question is asked (a symbolic boolean, a tensor)
/// makes the fact hold.
struct EffectCondition {
  enum class Test : std::uint8_t {
    always,
    is_true,   ///< the argument is not `False`, not 0 and not None
    is_false,  ///< the argument is `False`, 0 or None
    is_given,  ///< the argument is not None
    is_none,   ///< the argument is None
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

  bool is_random = false;  ///< draws random numbers when `random_when` holds
  EffectCondition random_when;
  bool is_data_dependent =
      false;  ///< results outside tensors (numbers) or shapes depend on tensor contents
  bool has_dynamic_shape = false;  ///< result shapes depend on tensor contents
  bool changes_metadata =
      false;  ///< changes sizes, strides or storage of the first argument in place
  bool is_uninitialized = false;  ///< result contents are not defined, as of `empty`
  bool runs_graphs = false;       ///< runs nested graphs: their effects are to be added
  bool is_unknown = false;        ///< nothing is known: assume every effect

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

}  // namespace winze
