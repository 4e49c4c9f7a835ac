// SPDX-License-Identifier: Apache-2.0
#include "winze/schema/op_effects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/schema/op_effects_table.h"
#include "winze/schema/op_ids.h"
#include "winze/schema/op_registry.h"

namespace winze {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using When = EffectCondition::Test;
using Kind = ResultAlias::Kind;

class OpEffectsTest : public testing::Test {
 protected:
  const Op& get(OpId id) { return registry_.get(id); }
  const OpEffects& effects(OpId id) { return registry_.get(id).effects; }
  /// Effects of a custom operator.
  const OpEffects& effects(std::string_view schema, std::string_view tags = {}) {
    return registry_.get(registry_.add(schema, tags)).effects;
  }

  OpRegistry registry_;
};

TEST_F(OpEffectsTest, OrdinaryOperatorsArePure) {
  for (OpId id : {op::aten_add_Tensor, op::aten_mm_default, op::aten_sym_size_int,
                  op::_operator_mul, op::torch_sym_max, op::aten_cat_default,
                  op::quantized_decomposed_quantize_per_tensor_default}) {
    EXPECT_TRUE(get(id).is_pure()) << get(id).qualified_name;
    EXPECT_THAT(effects(id).aliases, IsEmpty()) << get(id).qualified_name;
  }
}

TEST_F(OpEffectsTest, ViewsAliasTheirBase) {
  EXPECT_THAT(effects(op::aten_view_default).aliases, ElementsAre(ResultAlias{0, 0, Kind::view}));
  EXPECT_THAT(effects(op::aten_split_Tensor).aliases, ElementsAre(ResultAlias{0, 0, Kind::view}));
  EXPECT_TRUE(get(op::aten_view_default).is_view());
  EXPECT_TRUE(get(op::aten_view_default).is_pure());
  EXPECT_FALSE(get(op::aten_view_copy_default).is_view());
}

TEST_F(OpEffectsTest, InPlaceOperatorsWriteAndReturnThemselves) {
  const OpEffects& add = effects(op::aten_add__Tensor);
  EXPECT_THAT(add.writes, ElementsAre(ArgumentWrite{0, {}}));
  EXPECT_THAT(add.aliases, ElementsAre(ResultAlias{0, 0, Kind::self}));
  EXPECT_TRUE(get(op::aten_add__Tensor).is_mutable());
  EXPECT_FALSE(get(op::aten_add__Tensor).is_view());
  EXPECT_FALSE(get(op::aten_add__Tensor).is_pure());
}

TEST_F(OpEffectsTest, OutVariantsWriteTheirOut) {
  EXPECT_THAT(effects(op::aten_add_out).writes, ElementsAre(ArgumentWrite{3, {}}));
  EXPECT_THAT(effects(op::aten_split_copy_Tensor_out).writes, ElementsAre(ArgumentWrite{3, {}}));
}

TEST_F(OpEffectsTest, MaybeViewsAreTold) {
  for (OpId id : {op::aten_reshape_default, op::aten_contiguous_default, op::aten_to_dtype,
                  op::aten_flatten_using_ints, op::aten_type_as_default, op::aten_dropout_default,
                  op::aten_meshgrid_indexing}) {
    EXPECT_THAT(effects(id).aliases, ElementsAre(ResultAlias{0, 0, Kind::maybe}))
        << get(id).qualified_name;
    EXPECT_TRUE(get(id).is_view());
  }
}

TEST_F(OpEffectsTest, BatchNormWritesItsStatisticsInTraining) {
  const Op& norm = get(op::aten_batch_norm_default);
  auto training = static_cast<std::uint16_t>(norm.schema.find_argument("training"));
  EXPECT_THAT(norm.effects.writes, ElementsAre(ArgumentWrite{3, {When::is_true, training}},
                                               ArgumentWrite{4, {When::is_true, training}}));
  EXPECT_THAT(norm.effects.aliases, IsEmpty());
  EXPECT_THAT(
      effects(op::aten__native_batch_norm_legit_default).writes,
      ElementsAre(ArgumentWrite{3, {When::is_true, 5}}, ArgumentWrite{4, {When::is_true, 5}}));
  EXPECT_THAT(effects(op::aten__native_batch_norm_legit_no_training_default).writes, IsEmpty());
}

TEST_F(OpEffectsTest, RandomnessHasItsCondition) {
  EXPECT_TRUE(effects(op::aten_rand_default).is_random);
  EXPECT_TRUE(effects(op::aten_rand_default).random_when.is_always());
  EXPECT_EQ(effects(op::aten_dropout_default).random_when, (EffectCondition{When::is_true, 2}));
  // native_dropout(train=None) trains.
  EXPECT_EQ(effects(op::aten_native_dropout_default).random_when,
            (EffectCondition{When::is_not_false, 2}));
  EXPECT_EQ(effects(op::aten_scaled_dot_product_attention_default).random_when,
            (EffectCondition{When::is_true, 4}));
  EXPECT_EQ(effects(op::aten_rrelu_default).random_when, (EffectCondition{When::is_true, 3}));
  EXPECT_TRUE(effects(op::prims_normal_default).is_random);
  EXPECT_TRUE(effects(op::quantized_dropout_default).is_random);
  EXPECT_FALSE(effects(op::aten_native_dropout_backward_default).is_random);
}

TEST_F(OpEffectsTest, DataDependenceComesFromTags) {
  EXPECT_TRUE(effects(op::aten_item_default).is_data_dependent);
  EXPECT_TRUE(effects(op::aten_nonzero_default).has_dynamic_shape);
  EXPECT_TRUE(effects(op::aten_where_default).has_dynamic_shape);
  EXPECT_FALSE(effects(op::aten_where_self).has_dynamic_shape);
}

TEST_F(OpEffectsTest, ChecksAreOrdered) {
  for (OpId id :
       {op::aten__assert_async_msg, op::aten__assert_scalar_default,
        op::aten__assert_tensor_metadata_default, op::aten_sym_constrain_range_for_size_default,
        op::aten__functional_assert_async_msg}) {
    EXPECT_EQ(effects(id).ordering, Ordering::assertion) << get(id).qualified_name;
    EXPECT_FALSE(get(id).is_pure());
  }
}

TEST_F(OpEffectsTest, CollectivesAreOrdered) {
  EXPECT_EQ(effects(op::_c10d_functional_all_reduce_default).ordering, Ordering::collective);
  EXPECT_THAT(effects(op::_c10d_functional_all_reduce_default).writes, IsEmpty());
  EXPECT_THAT(effects(op::_c10d_functional_wait_tensor_default).aliases,
              ElementsAre(ResultAlias{0, 0, Kind::self}));
  EXPECT_TRUE(effects(op::c10d_allreduce__default).is_unknown);
}

TEST_F(OpEffectsTest, MetadataAndStorageChangesAreTold) {
  EXPECT_TRUE(effects(op::aten_t__default).changes_metadata);
  EXPECT_FALSE(effects(op::aten_t__default).rebinds_storage);
  EXPECT_TRUE(effects(op::aten_set__source_Tensor).rebinds_storage);
  EXPECT_THAT(effects(op::aten_set__source_Tensor).aliases,
              ElementsAre(ResultAlias{0, 0, Kind::self}, ResultAlias{0, 1, Kind::maybe}));
  EXPECT_TRUE(effects(op::aten_empty_memory_format).is_uninitialized);
}

TEST_F(OpEffectsTest, HigherOrderOperatorsRunWhatTheyAreGiven) {
  EXPECT_TRUE(effects(op::higher_order_cond).runs_graphs);
  EXPECT_TRUE(effects(op::higher_order_auto_functionalized_v2).runs_graphs);
  EXPECT_TRUE(effects(op::higher_order_call_torchbind).is_unknown);
  EXPECT_EQ(effects(op::higher_order_print).ordering, Ordering::output);
  EXPECT_FALSE(effects(op::higher_order_cond).is_unknown);
}

TEST_F(OpEffectsTest, FunctionsOfTheProcessAreOrdered) {
  EXPECT_EQ(effects(op::torch__functorch_predispatch__vmap_increment_nesting).ordering,
            Ordering::global_state);
  EXPECT_EQ(effects(op::torch__C__set_grad_enabled).ordering, Ordering::global_state);
  EXPECT_THAT(effects(op::torch__functorch_predispatch__add_batch_dim).aliases,
              ElementsAre(ResultAlias{0, 0, Kind::view}));
}

TEST_F(OpEffectsTest, CustomOperatorsAreJudgedBySchemaAndTags) {
  EXPECT_EQ(effects("lib::log(Tensor x) -> ()").ordering, Ordering::unknown);
  EXPECT_THAT(effects("lib::put(Tensor(a0!) x, Tensor y) -> ()").writes,
              ElementsAre(ArgumentWrite{0, {}}));
  EXPECT_TRUE(effects("lib::noise(Tensor x) -> Tensor", "nondeterministic_seeded").is_random);
  EXPECT_TRUE(effects("lib::draw(Tensor x, *, Generator? generator=None) -> Tensor").is_random);
  EXPECT_THAT(
      effects("lib::odd(Tensor x, int n, Tensor[] ys) -> Tensor", "maybe_aliasing_or_mutating")
          .aliases,
      ElementsAre(ResultAlias{0, 0, Kind::maybe}, ResultAlias{0, 2, Kind::maybe}));
  EXPECT_THAT(effects("lib::any(Tensor(a) x) -> Tensor(*)").aliases,
              ElementsAre(ResultAlias{0, 0, Kind::maybe}));
  EXPECT_EQ(effects("_c10d_functional::mine(Tensor x) -> Tensor").ordering, Ordering::collective);
}

TEST_F(OpEffectsTest, TheTableFitsTheSchemas) {
  for (const EffectRow& row : effect_table()) {
    const Op& op = get(row.op);
    for (std::string_view name : {row.argument, row.tested}) {
      EXPECT_TRUE(name.empty() || op.schema.find_argument(name) >= 0)
          << op.qualified_name << " has no " << name;
    }
  }
}

TEST_F(OpEffectsTest, AnotherReleasesSchemaThatARowDoesNotFitIsUnknown) {
  OpRegistry other;
  other.replace_table_text(
      "# torch 9.9.9\naten::type_as(Tensor renamed, Tensor other) -> Tensor\n");
  EXPECT_TRUE(other.get(op::aten_type_as_default).effects.is_unknown);
}

TEST_F(OpEffectsTest, NothingHasNoPurpose) {
  registry_.for_each([&](OpId id, std::string_view name) {
    const Op& op = get(id);
    bool gives_nothing = op.schema.returns.empty() && !op.schema.is_variadic_returns;
    EXPECT_FALSE(gives_nothing && op.is_pure()) << name;
  });
}

}  // namespace
}  // namespace winze
