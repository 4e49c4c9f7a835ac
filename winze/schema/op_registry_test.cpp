// SPDX-License-Identifier: Apache-2.0
#include "winze/schema/op_registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "winze/schema/op_ids.h"
#include "winze/support/diagnostic.h"

namespace winze {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> names_of(const OpRegistry& registry, const std::vector<OpId>& ids) {
  std::vector<std::string> names;
  for (OpId id : ids) names.emplace_back(registry.qualified_name(id));
  return names;
}

/// The text of the error that `action` must throw.
template <typename Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.diagnostic().str();
  }
  ADD_FAILURE() << "no error";
  return {};
}

TEST(OpRegistry, FindsEverySpelling) {
  OpRegistry registry;
  for (const char* name : {"aten.add.Tensor", "torch.ops.aten.add.Tensor", "aten::add.Tensor"}) {
    EXPECT_EQ(registry.find(name), op::aten_add_Tensor) << name;
  }
  for (const char* name :
       {"aten.relu", "aten.relu.default", "aten::relu", "torch.ops.aten.relu.default"}) {
    EXPECT_EQ(registry.find(name), op::aten_relu_default) << name;
  }
  EXPECT_EQ(registry.find("higher_order::cond"), op::higher_order_cond);
  EXPECT_EQ(registry.find("_operator.floordiv"), op::_operator_floordiv);
  EXPECT_EQ(registry.find("torch.sym_max"), op::torch_sym_max);
}

TEST(OpRegistry, DoesNotFindOthers) {
  OpRegistry registry;
  for (const char* name :
       {"", "add", "aten", "aten.mm.", "aten.add.tensor", "aten.", "torch.ops.", "::"}) {
    EXPECT_FALSE(registry.find(name).is_valid()) << name;
  }
}

TEST(OpRegistry, SuggestsWhatIsNear) {
  OpRegistry registry;
  EXPECT_THAT(registry.similar_names("aten.ad.Tensor"), Contains("aten.add.Tensor"));
  EXPECT_THAT(registry.similar_names("torch.ops.aten.rellu"), Contains("aten.relu.default"));
  EXPECT_THAT(registry.similar_names("nothing_like_this_at_all"), IsEmpty());
  std::string text = error_of([&] { (void)registry.find_or_throw("aten.ad.Tensor"); });
  EXPECT_THAT(text, HasSubstr("unknown operator `aten.ad.Tensor`"));
  EXPECT_THAT(text, HasSubstr("did you mean aten.add.Tensor"));
}

TEST(OpRegistry, GivesStableReferences) {
  OpRegistry registry;
  const Op* add = &registry.get(op::aten_add_Tensor);
  registry.for_each([&](OpId id, std::string_view) { (void)registry.get(id); });
  for (int i = 0; i < 1000; ++i)
    registry.add("lib::f" + std::to_string(i) + "(Tensor x) -> Tensor");
  EXPECT_EQ(add, &registry.get(op::aten_add_Tensor));
  EXPECT_EQ(add->schema.arguments[0].name, "self");
}

TEST(OpRegistry, ListsOverloads) {
  OpRegistry registry;
  EXPECT_THAT(names_of(registry, registry.overloads("aten.sub_")),
              ElementsAre("aten.sub_.Scalar", "aten.sub_.Tensor"));
  EXPECT_THAT(names_of(registry, registry.overloads("aten::relu")),
              ElementsAre("aten.relu.default", "aten.relu.out"));
  EXPECT_THAT(names_of(registry, registry.overloads("higher_order.cond")),
              ElementsAre("higher_order.cond"));
  EXPECT_THAT(registry.overloads("aten.no_such"), IsEmpty());
  EXPECT_THAT(registry.overloads("x"), IsEmpty());
  registry.add("lib::f.b(Tensor x) -> Tensor");
  registry.add("lib::f(Tensor x) -> Tensor");
  registry.add("lib::f_(Tensor x) -> Tensor");
  EXPECT_THAT(names_of(registry, registry.overloads("lib.f")),
              ElementsAre("lib.f.b", "lib.f.default"));
}

TEST(OpRegistry, VisitsAllInOrderOfName) {
  OpRegistry registry;
  registry.add("aten::zzz(Tensor x) -> Tensor");
  registry.opaque("torch.ops.lib.unknown.default", {});
  std::vector<std::string> names;
  registry.for_each([&](OpId, std::string_view name) { names.emplace_back(name); });
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_THAT(names, Contains("aten.zzz.default"));
  EXPECT_THAT(names, Contains("aten.add.Tensor"));
  EXPECT_THAT(names, testing::Not(Contains("lib.unknown.default")));
  EXPECT_EQ(names.size() + 1, registry.size());
}

TEST(OpRegistry, AddsCustomOperators) {
  OpRegistry registry;
  OpId id = registry.add("lib::scale.v2(Tensor(a!) x, float by=2.0) -> Tensor(a!)",
                         "pointwise, my_own_tag");
  EXPECT_EQ(registry.find("lib.scale.v2"), id);
  EXPECT_EQ(registry.find("torch.ops.lib.scale.v2"), id);
  const Op& op = registry.get(id);
  EXPECT_TRUE(op.tags.has(Tag::pointwise));
  EXPECT_EQ(op.tag_text, "pointwise, my_own_tag");
  EXPECT_TRUE(op.is_mutable());
  EXPECT_EQ(op.target(), "torch.ops.lib.scale.v2");
}

TEST(OpRegistry, AddsTheSameOperatorOnce) {
  OpRegistry registry;
  OpId id = registry.add("lib::f(Tensor x) -> Tensor");
  EXPECT_EQ(registry.add("lib::f( Tensor x )->Tensor"), id);
  EXPECT_EQ(
      registry.add("aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"),
      op::aten_add_Tensor);
}

TEST(OpRegistry, RefusesAnotherSchemaForAName) {
  OpRegistry registry;
  std::string text =
      error_of([&] { registry.add("aten::add.Tensor(Tensor self, Tensor other) -> Tensor"); });
  EXPECT_THAT(text, HasSubstr("operator `aten.add.Tensor` has another schema already"));
  EXPECT_THAT(text, HasSubstr("Scalar alpha=1"));
}

TEST(OpRegistry, LoadsTables) {
  OpRegistry registry;
  EXPECT_EQ(registry.load_text("# mine\n\nlib::f(Tensor x) -> Tensor [core]\r\nlib::g(Graph g, "
                               "...) -> ... [higher_order]\n"),
            2U);
  EXPECT_TRUE(registry.get(registry.find("lib.f.default")).tags.has(Tag::core));
  EXPECT_TRUE(registry.get(registry.find("lib.g")).is_higher_order());
}

TEST(OpRegistry, LoadsAllOfATableOrNothing) {
  OpRegistry registry;
  std::string text = error_of([&] {
    registry.load_text("lib::f(Tensor x) -> Tensor\nlib::g(Tensr x) -> ()\n", "my.schemas");
  });
  EXPECT_THAT(text, HasSubstr("unknown type `Tensr`"));
  EXPECT_THAT(text, HasSubstr("my.schemas:2:8"));
  EXPECT_THAT(text, HasSubstr("a line is such as: mylib::scale(Tensor x, float by) -> Tensor"));
  EXPECT_FALSE(registry.find("lib.f").is_valid());

  text = error_of([&] { registry.load_text("lib::f() -> int\naten::relu() -> ()\n", "my"); });
  EXPECT_THAT(text, HasSubstr("my:2:1: error: operator `aten.relu.default` has another schema"));
  EXPECT_FALSE(registry.find("lib.f").is_valid());

  text = error_of([&] { registry.load_text("lib::f() -> int\nlib::f(int x) -> ()\n", "my"); });
  EXPECT_THAT(text, HasSubstr("my:2:1: error: operator `lib.f.default` stands twice in the table: "
                              "first in line 1"));
}

TEST(OpRegistry, SaysWhyATableCannotBeRead) {
  OpRegistry registry;
  EXPECT_THAT(error_of([&] { registry.load("."); }), HasSubstr("cannot read: it is a folder"));
  EXPECT_THAT(error_of([&] { registry.replace_table("no.schemas"); }),
              HasSubstr("no.schemas: error: cannot read: No such file"));
}

TEST(OpRegistry, RefusesTagsOfCustomOperatorsThatAreNotKnown) {
  OpRegistry registry;
  const std::string text = error_of([&] {
    registry.load_text(
        "lib::f(Tensor x) -> Tensor\nlib::g(Tensor x) -> Tensor [nondeterministic]\n",
        "my.schemas");
  });
  EXPECT_THAT(text, HasSubstr("my.schemas:2:29: error: there is no tag \"nondeterministic\""));
  EXPECT_FALSE(registry.find("lib.f").is_valid());
}

TEST(OpRegistry, SaysThatTagsStandInBrackets) {
  OpRegistry registry;
  std::string text = error_of(
      [&] { registry.load_text("lib::f(Tensor x) -> Tensor nondeterministic_seeded\n", "f"); });
  EXPECT_THAT(text, HasSubstr("f:1:28: error: the result has the name of a tag"));
  EXPECT_THAT(text, HasSubstr("tags stand in brackets: [nondeterministic_seeded]"));
  text = error_of([&] { registry.load_text("lib::f(Tensor x) -> Tensor core, view_copy\n"); });
  EXPECT_THAT(text, HasSubstr("tags stand in brackets: [view_copy]"));
}

TEST(OpRegistry, DoesNotChangeTheTagsOfAnOperator) {
  OpRegistry registry;
  const OpId relu = registry.find("aten.relu");
  EXPECT_EQ(registry.add("aten::relu(Tensor self) -> Tensor"), relu);
  const std::string text = error_of(
      [&] { registry.add("aten::relu(Tensor self) -> Tensor", "nondeterministic_seeded"); });
  EXPECT_THAT(text, HasSubstr("operator `aten.relu.default` has other tags already"));
  EXPECT_THAT(text, HasSubstr("not      nondeterministic_seeded"));
}

TEST(OpRegistry, LoadsFiles) {
  std::filesystem::path path =
      std::filesystem::path(testing::TempDir()) / "winze_op_registry_test.schemas";
  std::ofstream(path) << "lib::from_file(Tensor x) -> Tensor\n";
  OpRegistry registry;
  EXPECT_EQ(registry.load(path), 1U);
  EXPECT_TRUE(registry.find("lib.from_file").is_valid());
  std::filesystem::remove(path);
  EXPECT_THAT(error_of([&] { registry.load(path); }), HasSubstr("cannot read: No such file"));
}

constexpr const char* other_release =
    "# torch 9.9.9\naten::relu(Tensor self, *, bool fast=False) -> Tensor\naten::brand_new(Tensor "
    "self) -> Tensor\n";

TEST(OpRegistry, TakesTheTableOfAnotherRelease) {
  OpRegistry registry;
  EXPECT_EQ(registry.torch_version(), "2.13.0");
  registry.replace_table_text(other_release);
  EXPECT_EQ(registry.torch_version(), "9.9.9");
  EXPECT_EQ(registry.find("aten.relu"), op::aten_relu_default);
  EXPECT_EQ(registry.get(op::aten_relu_default).schema.arguments.size(), 2U);
  EXPECT_TRUE(registry.find("aten.brand_new").is_valid());
  EXPECT_FALSE(registry.find("aten.add.Tensor").is_valid());
  EXPECT_THAT(registry.overloads("aten.add"), IsEmpty());
  std::vector<std::string> names;
  registry.for_each([&](OpId, std::string_view name) { names.emplace_back(name); });
  EXPECT_THAT(names, ElementsAre("aten.brand_new.default", "aten.relu.default"));
}

TEST(OpRegistry, TakesItsOwnTableBack) {
  std::ifstream file(WINZE_SOURCE_DIR "/schemas/torch-2.13.0.schemas");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  OpRegistry registry;
  registry.replace_table_text(text);
  EXPECT_EQ(registry.find("aten.add.Tensor"), op::aten_add_Tensor);
  EXPECT_EQ(registry.size(), OpRegistry().size());
}

TEST(OpRegistry, RefusesAnotherTableOnceInUse) {
  OpRegistry registry;
  (void)registry.get(op::aten_relu_default);
  EXPECT_THAT(error_of([&] { registry.replace_table_text(other_release, "x.schemas"); }),
              HasSubstr("operator table `x.schemas` comes too late: operators are in use already"));
  OpRegistry fresh;
  EXPECT_THAT(error_of([&] { fresh.replace_table_text("aten::f() -> ()\n", "x.schemas"); }),
              HasSubstr("operator table `x.schemas` does not say which PyTorch it is of"));
}

TEST(OpRegistry, KeepsUnknownOperatorsOpaque) {
  OpRegistry registry;
  std::vector<OpaqueArgument> arguments{{"x", false}, {"", false}, {"mode", true}};
  OpId id = registry.opaque("torch.ops.lib.f.default", arguments);
  const Op& op = registry.get(id);
  EXPECT_TRUE(op.is_opaque());
  EXPECT_EQ(op.target(), "torch.ops.lib.f.default");
  EXPECT_EQ(op.qualified_name, "lib.f.default");
  ASSERT_EQ(op.schema.arguments.size(), 3U);
  EXPECT_EQ(op.schema.arguments[0].name, "x");
  EXPECT_EQ(op.schema.arguments[1].name, "");
  EXPECT_EQ(op.schema.arguments[2].name, "mode");
  EXPECT_TRUE(op.schema.arguments[2].kwarg_only);
  EXPECT_EQ(op.schema.arguments[0].type.str(), "Any");
  EXPECT_TRUE(op.schema.is_variadic_returns);
  EXPECT_TRUE(op.effects.is_unknown);
  EXPECT_TRUE(op.is_mutable());
  EXPECT_TRUE(op.is_random());
  EXPECT_FALSE(op.is_pure());
  EXPECT_FALSE(registry.find("lib.f.default").is_valid());
}

TEST(OpRegistry, InternsOpaqueOperators) {
  OpRegistry registry;
  std::vector<OpaqueArgument> one{{"x", false}};
  std::vector<OpaqueArgument> keyword{{"x", true}};
  OpId a = registry.opaque("#ext:f", one);
  EXPECT_EQ(registry.opaque("#ext:f", one), a);
  OpId b = registry.opaque("#ext:f", keyword);
  EXPECT_NE(a, b);
  EXPECT_NE(registry.opaque("#ext:g", one), a);
  EXPECT_EQ(registry.get(a).base, registry.get(b).base);
  EXPECT_EQ(registry.get(a).base, registry.opaque("#ext:f", {}));
  EXPECT_TRUE(registry.get(a).is_variant());
  EXPECT_EQ(registry.get(a).target(), "#ext:f");
}

TEST(OpRegistry, NamesThatLookLikeSeveralAreApart) {
  OpRegistry registry;
  const std::string names[] = {"x"};
  const OpId variant = registry.with_keywords(op::higher_order_auto_functionalized_v2, names);
  const std::string number = std::to_string(op::higher_order_auto_functionalized_v2.index);
  for (const std::string& target :
       {"\3" + number + "\1x", "keywords " + number + " 1:x", std::string("f\1x")}) {
    EXPECT_NE(registry.opaque(target, {}), variant);
  }
  const OpaqueArgument x[] = {{"x", false}};
  EXPECT_NE(registry.opaque("f", x), registry.opaque("f\1x", {}));
  EXPECT_NE(registry.opaque("f", x), registry.opaque("f 1:x", {}));
}

TEST(OpRegistry, MakesVariantsWithKeywords) {
  OpRegistry registry;
  std::vector<std::string> names{"x", "_x_base_index", "_all_bases"};
  OpId id = registry.with_keywords(op::higher_order_auto_functionalized_v2, names);
  EXPECT_EQ(registry.with_keywords(op::higher_order_auto_functionalized_v2, names), id);
  EXPECT_EQ(registry.with_keywords(op::higher_order_auto_functionalized_v2, {}),
            op::higher_order_auto_functionalized_v2);
  const Op& op = registry.get(id);
  EXPECT_EQ(op.base, op::higher_order_auto_functionalized_v2);
  EXPECT_EQ(op.target(), "torch.ops.higher_order.auto_functionalized_v2");
  EXPECT_EQ(registry.qualified_name(id), "higher_order.auto_functionalized_v2");
  ASSERT_EQ(op.schema.arguments.size(), 4U);
  EXPECT_EQ(op.schema.arguments[3].name, "_all_bases");
  EXPECT_TRUE(op.schema.arguments[3].kwarg_only);
  EXPECT_FALSE(op.schema.arguments[0].kwarg_only);
  EXPECT_EQ(registry.find("higher_order.auto_functionalized_v2"),
            op::higher_order_auto_functionalized_v2);
}

TEST(OpRegistry, RefusesKeywordsThatDoNotFit) {
  OpRegistry registry;
  std::vector<std::string> names{"x"};
  EXPECT_THAT(error_of([&] { registry.with_keywords(op::aten_add_Tensor, names); }),
              HasSubstr("operator `aten.add.Tensor` takes no further keyword arguments: `x`"));
  std::vector<std::string> taken{"_mutable_op"};
  EXPECT_THAT(
      error_of([&] { registry.with_keywords(op::higher_order_auto_functionalized, taken); }),
      HasSubstr("has an argument `_mutable_op` already"));
}

TEST(OpRegistry, RefusesForeignIds) {
  OpRegistry registry;
  EXPECT_THROW((void)registry.get(OpId{}), InternalError);
  EXPECT_THROW((void)registry.qualified_name(OpId{registry.size()}), InternalError);
}

}  // namespace
}  // namespace winze
