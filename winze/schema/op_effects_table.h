// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "winze/schema/op_effects.h"
#include "winze/schema/op_id.h"

namespace winze {

/// One fact about an operator that its schema and tags do not tell, or tell wrongly.
enum class EffectFact : std::uint8_t {
  writes,            ///< writes `argument`
  writes_only,       ///< the write of `argument` that the schema declares happens only under the
                     ///< condition
  views,             ///< all tensor results are views of `argument`
  is_self,           ///< the result is `argument` itself
  maybe_aliases,     ///< tensor results may share storage with `argument`
  maybe_copies,      ///< results that the schema calls views may be fresh
  aliases_nothing,   ///< despite the tag maybe_aliasing_or_mutating
  random,            ///< draws random numbers
  ordered,           ///< see `ordering`
  data_dependent,    ///< numbers depend on tensor contents
  dynamic_shape,     ///< shapes depend on tensor contents
  changes_metadata,  ///< changes sizes or strides of the first argument in place
  rebinds_storage,   ///< gives the first argument another storage
  uninitialized,     ///< result contents are not defined
  results_overlap,   ///< results may share storage with each other
  unknown,           ///< assume everything
  pure,              ///< nothing, although it looks otherwise
};

/// One row of the table.
struct EffectRow {
  std::string_view argument;
  std::string_view tested;  ///< the argument that the test asks
  OpId op;
  EffectFact fact;
  EffectCondition::Test test = EffectCondition::Test::always;
  Ordering ordering = Ordering::none;
};

/// Every exception, in no particular order; several rows may speak of one operator.
[[nodiscard]] std::span<const EffectRow> effect_table();

/// What holds for all operators of a namespace that no row speaks of.
struct NamespaceEffect {
  std::string_view ns;
  Ordering ordering;
  bool is_unknown;
};
[[nodiscard]] std::span<const NamespaceEffect> namespace_effects();

}  // namespace winze
