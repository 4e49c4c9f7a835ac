// SPDX-License-Identifier: Apache-2.0
#include "winze/schema/op_effects.h"

#include <algorithm>
#include <optional>

#include "winze/schema/op_effects_table.h"
#include "winze/schema/schema.h"
#include "winze/support/diagnostic.h"

namespace winze {
namespace {

using Test = EffectCondition::Test;

bool holds_tensors(const Type& type) {
  return type.base_kind() == TypeKind::tensor || type.base_kind() == TypeKind::any;
}

bool may_share(const AliasInfo& argument, const AliasInfo& result) {
  bool any = argument.before_any || argument.after_any || result.before_any;
  return any || ((argument.before | argument.after) & result.before) != 0;
}

class EffectDeriver {
 public:
  EffectDeriver(OpId id, OpKind kind, Tags tags, const Schema& schema)
      : id_(id), kind_(kind), tags_(tags), schema_(schema) {}

  OpEffects derive() {
    derive_writes();
    derive_aliases();
    derive_random();
    effects_.is_data_dependent = tags_.has(Tag::data_dependent_output);
    effects_.has_dynamic_shape = tags_.has(Tag::dynamic_output_shape);
    effects_.changes_metadata = tags_.has(Tag::inplace_view);
    if (tags_.has(Tag::maybe_aliasing_or_mutating)) alias_every_argument();
    if (kind_ == OpKind::higher_order) effects_.runs_graphs = takes_callables();
    if (kind_ == OpKind::function) effects_.ordering = Ordering::global_state;
    apply_namespace();
    for (const EffectRow& row : effect_table()) {
      if (row.op == id_) apply(row);
    }
    require_a_purpose();
    return std::move(effects_);
  }

 private:
  void derive_writes() {
    for (std::size_t i = 0; i < schema_.arguments.size(); ++i) {
      const std::optional<AliasInfo>& alias = schema_.arguments[i].alias;
      if (alias && alias->is_write) effects_.writes.push_back({static_cast<std::uint16_t>(i), {}});
    }
  }

  void derive_aliases() {
    for (std::size_t r = 0; r < schema_.returns.size(); ++r) {
      const std::optional<AliasInfo>& result = schema_.returns[r].alias;
      if (!result) continue;
      for (std::size_t a = 0; a < schema_.arguments.size(); ++a) {
        const std::optional<AliasInfo>& argument = schema_.arguments[a].alias;
        if (!argument || !may_share(*argument, *result)) continue;
        ResultAlias::Kind kind = result->before_any ? ResultAlias::Kind::maybe
                                 : result->is_write ? ResultAlias::Kind::self
                                                    : ResultAlias::Kind::view;
        effects_.aliases.push_back(
            {static_cast<std::uint16_t>(r), static_cast<std::uint16_t>(a), kind});
      }
    }
  }

  /// An operator with the tag, or one that takes an optional generator, draws; a train flag or a
  /// dropout probability among its arguments says when.
  void derive_random() {
    bool has_generator =
        std::any_of(schema_.arguments.begin(), schema_.arguments.end(), [](const auto& argument) {
          return argument.type.base_kind() == TypeKind::generator && argument.type.is_optional();
        });
    if (!tags_.has(Tag::nondeterministic_seeded) && !has_generator) return;
    effects_.is_random = true;
    for (std::string_view name : {"train", "training", "dropout_p"}) {
      int position = schema_.find_argument(name);
      if (position < 0) continue;
      // native_dropout(train=None) trains.
      bool none_is_true = schema_.arguments[static_cast<std::size_t>(position)].type.is_optional();
      effects_.random_when = {none_is_true ? Test::is_not_false : Test::is_true,
                              static_cast<std::uint16_t>(position)};
      return;
    }
  }

  void alias_every_argument() {
    for (std::size_t a = 0; a < schema_.arguments.size(); ++a) {
      if (holds_tensors(schema_.arguments[a].type)) alias_results(a, ResultAlias::Kind::maybe);
    }
  }

  void alias_results(std::size_t argument, ResultAlias::Kind kind) {
    for (std::size_t r = 0; r < schema_.returns.size(); ++r) {
      if (!holds_tensors(schema_.returns[r].type)) continue;
      ResultAlias alias{static_cast<std::uint16_t>(r), static_cast<std::uint16_t>(argument), kind};
      auto same_places = [&](const ResultAlias& other) {
        return other.result == alias.result && other.argument == alias.argument;
      };
      auto found = std::find_if(effects_.aliases.begin(), effects_.aliases.end(), same_places);
      if (found == effects_.aliases.end()) {
        effects_.aliases.push_back(alias);
      } else {
        found->kind = kind;
      }
    }
  }

  [[nodiscard]] bool takes_callables() const {
    return std::any_of(schema_.arguments.begin(), schema_.arguments.end(),
                       [](const auto& argument) {
                         return argument.type.base_kind() == TypeKind::graph ||
                                argument.type.base_kind() == TypeKind::op;
                       });
  }

  void apply_namespace() {
    for (const NamespaceEffect& entry : namespace_effects()) {
      if (entry.ns != schema_.ns) continue;
      effects_.ordering = entry.ordering;
      effects_.is_unknown = entry.is_unknown;
    }
    // TorchScript's own operators without a signature stand for arbitrary code.
    if (schema_.ns == "prim" && schema_.is_variadic_arguments) effects_ = unknown_effects();
  }

  [[nodiscard]] std::uint16_t position(std::string_view name) const {
    int found = schema_.find_argument(name);
    WINZE_CHECK(found >= 0, "the effect table names argument `{}`, which {}::{} has not", name,
                schema_.ns, schema_.name);
    return static_cast<std::uint16_t>(found);
  }

  /// False when another release's schema of the operator lacks an argument that the row names.
  [[nodiscard]] bool fits(const EffectRow& row) const {
    return (row.argument.empty() || schema_.find_argument(row.argument) >= 0) &&
           (row.tested.empty() || schema_.find_argument(row.tested) >= 0);
  }

  [[nodiscard]] EffectCondition condition(const EffectRow& row) const {
    return row.test == Test::always ? EffectCondition{}
                                    : EffectCondition{row.test, position(row.tested)};
  }

  void apply(const EffectRow& row) {
    if (!fits(row)) {
      effects_ = unknown_effects();
      return;
    }
    switch (row.fact) {
      case EffectFact::writes:
        effects_.writes.push_back({position(row.argument), condition(row)});
        break;
      case EffectFact::writes_only:
        for (ArgumentWrite& write : effects_.writes) {
          if (write.argument == position(row.argument)) write.when = condition(row);
        }
        break;
      case EffectFact::views:
        alias_results(position(row.argument), ResultAlias::Kind::view);
        break;
      case EffectFact::is_self:
        alias_results(position(row.argument), ResultAlias::Kind::self);
        break;
      case EffectFact::maybe_aliases:
        alias_results(position(row.argument), ResultAlias::Kind::maybe);
        break;
      case EffectFact::maybe_copies:
        for (ResultAlias& alias : effects_.aliases) alias.kind = ResultAlias::Kind::maybe;
        break;
      case EffectFact::aliases_nothing:
        effects_.aliases.clear();
        break;
      case EffectFact::random:
        effects_.is_random = true;
        effects_.random_when = condition(row);
        break;
      default:
        apply_flag(row);
    }
  }

  void apply_flag(const EffectRow& row) {
    switch (row.fact) {
      case EffectFact::ordered:
        effects_.ordering = row.ordering;
        break;
      case EffectFact::data_dependent:
        effects_.is_data_dependent = true;
        break;
      case EffectFact::dynamic_shape:
        effects_.has_dynamic_shape = true;
        break;
      case EffectFact::changes_metadata:
        effects_.changes_metadata = true;
        break;
      case EffectFact::rebinds_storage:
        effects_.rebinds_storage = true;
        break;
      case EffectFact::uninitialized:
        effects_.is_uninitialized = true;
        break;
      case EffectFact::results_overlap:
        effects_.results_overlap = true;
        break;
      case EffectFact::unknown:
        effects_ = unknown_effects();
        break;
      case EffectFact::pure:
        effects_ = OpEffects{};
        break;
      default:
        WINZE_CHECK(false, "no flag");
    }
  }

  /// Who neither returns nor writes anything must have some other purpose.
  void require_a_purpose() {
    bool gives_nothing = schema_.returns.empty() && !schema_.is_variadic_returns;
    if (gives_nothing && effects_.writes.empty() && effects_.ordering == Ordering::none &&
        !effects_.runs_graphs) {
      effects_.ordering = Ordering::unknown;
    }
  }

  OpId id_;
  OpKind kind_;
  Tags tags_;
  const Schema& schema_;
  OpEffects effects_;
};

}  // namespace

bool OpEffects::has_view() const {
  return std::any_of(aliases.begin(), aliases.end(), [](const ResultAlias& alias) {
    return alias.kind != ResultAlias::Kind::self;
  });
}

OpEffects derive_effects(OpId id, OpKind kind, Tags tags, const Schema& schema) {
  if (kind == OpKind::opaque) return unknown_effects();
  return EffectDeriver(id, kind, tags, schema).derive();
}

OpEffects unknown_effects() {
  OpEffects effects;
  effects.ordering = Ordering::unknown;
  effects.is_random = true;
  effects.is_data_dependent = true;
  effects.has_dynamic_shape = true;
  effects.changes_metadata = true;
  effects.rebinds_storage = true;
  effects.results_overlap = true;
  effects.runs_graphs = true;
  effects.is_unknown = true;
  return effects;
}

std::string_view ordering_name(Ordering ordering) {
  switch (ordering) {
    case Ordering::none:
      return "none";
    case Ordering::assertion:
      return "assertion";
    case Ordering::output:
      return "output";
    case Ordering::collective:
      return "collective";
    case Ordering::global_state:
      return "global_state";
    case Ordering::unknown:
      return "unknown";
  }
  return "unknown";
}

}  // namespace winze
