// SPDX-License-Identifier: Apache-2.0
#include "winze/schema/schema_parser.h"

#include <gtest/gtest.h>

#include "winze/support/diagnostic.h"

namespace winze {
namespace {

/// The default of the only argument, of that type and spelling.
DefaultValue default_of(const std::string& argument) {
  return parse_schema("a::f(" + argument + ") -> ()").arguments[0].default_value.value();
}

template <typename T>
T default_as(const std::string& argument) {
  return std::get<T>(default_of(argument));
}

TEST(SchemaParser, ReadsNames) {
  Schema schema = parse_schema("aten::add.Tensor(Tensor self) -> Tensor");
  EXPECT_EQ(schema.ns, "aten");
  EXPECT_EQ(schema.name, "add");
  EXPECT_EQ(schema.overload, "Tensor");
  schema = parse_schema("torch._functorch.predispatch::_add_batch_dim() -> ()");
  EXPECT_EQ(schema.ns, "torch._functorch.predispatch");
  EXPECT_EQ(schema.name, "_add_batch_dim");
  EXPECT_EQ(schema.overload, "");
}

TEST(SchemaParser, ReadsKeywordOnlyArguments) {
  Schema schema = parse_schema("a::f(Tensor x, *, int y=1, int z=2) -> ()");
  EXPECT_FALSE(schema.arguments[0].kwarg_only);
  EXPECT_TRUE(schema.arguments[1].kwarg_only);
  EXPECT_TRUE(schema.arguments[2].kwarg_only);
}

TEST(SchemaParser, ReadsVariadicParts) {
  Schema schema = parse_schema("a::f(Graph g, ...) -> (Token, ...)");
  EXPECT_TRUE(schema.is_variadic_arguments);
  EXPECT_TRUE(schema.is_variadic_returns);
  EXPECT_EQ(schema.arguments.size(), 1U);
  EXPECT_EQ(schema.returns.size(), 1U);
  EXPECT_TRUE(parse_schema("a::f(...) -> ...").is_variadic_returns);
}

TEST(SchemaParser, ReadsResults) {
  EXPECT_TRUE(parse_schema("a::f() -> ()").returns.empty());
  Schema schema = parse_schema("a::f() -> (Tensor values, Tensor indices)");
  ASSERT_EQ(schema.returns.size(), 2U);
  EXPECT_EQ(schema.returns[1].name, "indices");
  EXPECT_TRUE(parse_schema("a::f() -> ((str, t)[])").is_tuple_return);
}

TEST(SchemaParser, ReadsAliasAnnotations) {
  Schema schema =
      parse_schema("a::f(Tensor(a!) x, Tensor(b -> *) y, t[](c) z, Tensor(a|b) w) -> Tensor(*)");
  const AliasInfo& x = *schema.arguments[0].alias;
  EXPECT_TRUE(x.is_write);
  EXPECT_EQ(x.before, 1U);
  EXPECT_EQ(x.after, 1U);
  const AliasInfo& y = *schema.arguments[1].alias;
  EXPECT_FALSE(y.is_write);
  EXPECT_EQ(y.before, 2U);
  EXPECT_EQ(y.after, 0U);
  EXPECT_TRUE(y.after_any);
  EXPECT_TRUE(y.has_arrow);
  EXPECT_EQ(schema.arguments[2].alias->position, 1);
  EXPECT_EQ(schema.arguments[3].alias->before, 3U);
  EXPECT_TRUE(schema.returns[0].alias->before_any);
  EXPECT_EQ(schema.alias_sets, (std::vector<std::string_view>{"a", "b", "c"}));
}

TEST(SchemaParser, ReadsTheAliasSetsOfInferredSchemas) {
  // torch.library.infer_schema numbers them.
  Schema schema = parse_schema("lib::f(Tensor(a0!) x, Tensor(a1!)[] y) -> ()");
  EXPECT_EQ(schema.alias_sets, (std::vector<std::string_view>{"a0", "a1"}));
}

TEST(SchemaParser, TypesDefaultsByTheArgument) {
  EXPECT_EQ(default_as<NoneValue>("Tensor? x=None"), NoneValue{});
  EXPECT_EQ(default_as<std::int64_t>("int x=-3"), -3);
  EXPECT_EQ(default_as<std::int64_t>("SymInt? x=5"), 5);
  EXPECT_EQ(default_as<double>("float x=1"), 1.0);
  EXPECT_EQ(default_as<double>("float? x=1.0000000000000001e-05"), 1e-5);
  EXPECT_EQ(default_as<double>("float x=-inf"), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(default_as<bool>("bool? x=False"), false);
  EXPECT_EQ(default_as<std::int64_t>("Scalar x=1"), 1);
  EXPECT_EQ(default_as<double>("Scalar x=1."), 1.0);
  EXPECT_EQ(default_as<bool>("Scalar x=True"), true);
  EXPECT_EQ(default_as<std::complex<double>>("Scalar x=2j"), std::complex<double>(0, 2));
  EXPECT_EQ(default_as<EnumValue>("ScalarType? x=4"), (EnumValue{TypeKind::scalar_type, 4}));
  EXPECT_EQ(default_as<EnumValue>("ScalarType x=long"), (EnumValue{TypeKind::scalar_type, 4}));
  EXPECT_EQ(default_as<EnumValue>("MemoryFormat? x=contiguous_format"),
            (EnumValue{TypeKind::memory_format, 0}));
  EXPECT_EQ(default_as<EnumValue>("Layout x=strided"), (EnumValue{TypeKind::layout, 0}));
  EXPECT_EQ(default_as<std::int64_t>("int reduction=Mean"), 1);
  EXPECT_EQ(default_as<DeviceValue>("Device x=\"cuda:1\""), DeviceValue{"cuda:1"});
  EXPECT_EQ(default_as<DeviceValue>("Device x=cpu"), DeviceValue{"cpu"});
}

TEST(SchemaParser, ReadsListDefaults) {
  using Ints = std::vector<std::int64_t>;
  EXPECT_EQ(default_as<Ints>("int[] x=[1, -2]"), (Ints{1, -2}));
  EXPECT_EQ(default_as<Ints>("SymInt[] x=[]"), Ints{});
  EXPECT_EQ(default_as<Ints>("Tensor[] x=[]"), Ints{});
  EXPECT_EQ(default_as<Ints>("int[3] x=7"), (Ints{7, 7, 7}));
  EXPECT_EQ(default_as<std::vector<double>>("float[]? x=[0.5, 1]"), (std::vector<double>{0.5, 1}));
  EXPECT_EQ(default_as<std::vector<bool>>("bool[2] x=[True, False]"),
            (std::vector<bool>{true, false}));
  EXPECT_EQ(default_as<std::vector<std::string>>("str[] x=[\"a\", 'b']"),
            (std::vector<std::string>{"a", "b"}));
}

TEST(SchemaParser, ResolvesEscapesInStrings) {
  EXPECT_EQ(default_as<std::string>(R"(str x="\"\'\\")"), "\"'\\");
  EXPECT_EQ(default_as<std::string>(R"(str x=" \n\t\f\v")"), " \n\t\f\v");
  EXPECT_EQ(parse_schema(R"(a::f(str x=",)->") -> ())").arguments[0].default_text, R"(",)->")");
}

struct Wrong {
  const char* text;
  const char* message;
  int column;
};

class SchemaParserErrors : public testing::TestWithParam<Wrong> {};

TEST_P(SchemaParserErrors, NameTheColumn) {
  try {
    (void)parse_schema(GetParam().text);
    FAIL() << "no error for " << GetParam().text;
  } catch (const Error& error) {
    EXPECT_EQ(error.diagnostic().message,
              std::string("schema does not parse: ") + GetParam().message);
    EXPECT_EQ(error.diagnostic().where.column, GetParam().column);
    EXPECT_EQ(error.diagnostic().where.source_text, GetParam().text);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, SchemaParserErrors,
    testing::Values(Wrong{"", "expected a namespace", 1},
                    Wrong{"f(Tensor x) -> Tensor", "expected `::`", 2},
                    Wrong{"a::(Tensor x) -> Tensor", "expected an operator name", 4},
                    Wrong{"a::f.(Tensor x) -> Tensor", "expected an overload name", 6},
                    Wrong{"a::f -> Tensor", "expected `(`", 6},
                    Wrong{"a::f(Tensor x -> Tensor", "expected `)`", 15},
                    Wrong{"a::f(Tensor x)", "expected `->`", 15},
                    Wrong{"a::f(Tensor x) -> Tensor y z", "unexpected text after the results", 28},
                    Wrong{"a::f(Tensr x) -> ()", "unknown type `Tensr`", 6},
                    Wrong{"a::f(int x, int x) -> ()", "second argument with the name `x`", 13},
                    Wrong{"a::f(..., int x) -> ()", "`...` must be the last argument", 11},
                    Wrong{"a::f(*, int x, *, int y) -> ()", "second `*` among the arguments", 17},
                    Wrong{"a::f() -> (..., Tensor)", "`...` must be the last result", 17},
                    Wrong{"a::f(int x=y) -> ()", "unknown value `y`", 12},
                    Wrong{"a::f(int x=) -> ()", "expected an integer", 12},
                    Wrong{"a::f(int x=99999999999999999999) -> ()", "integer is out of range", 12},
                    Wrong{"a::f(float x=1.2.3) -> ()", "`1.2.3` is not a number", 14},
                    Wrong{"a::f(bool x=1) -> ()", "expected `True` or `False`", 13},
                    Wrong{"a::f(bool x=Yes) -> ()", "expected `True` or `False`, not `Yes`", 13},
                    Wrong{"a::f(str x=\"abc) -> ()", "string is not closed", 12},
                    Wrong{"a::f(str x=\"\\q\") -> ()", "unknown escape in a string", 14},
                    Wrong{"a::f(str x=abc) -> ()", "expected a string", 12},
                    Wrong{"a::f(int[] x=1) -> ()", "expected `[`", 14},
                    Wrong{"a::f(Tensor x=1) -> ()",
                          "an argument of type `Tensor` can have no default but `None`", 15},
                    Wrong{"a::f(int[x] y) -> ()", "expected a list size", 10},
                    Wrong{"a::f(int[999] y) -> ()", "list size 999 is out of range: 1 to 250", 10},
                    Wrong{"a::f(int?[]?[]? y) -> ()", "type has too many `?` and `[]`", 15},
                    Wrong{"a::f(Dict(int) y) -> ()", "`Dict` takes 2 types", 6},
                    Wrong{"a::f(Future(int, int) y) -> ()", "`Future` takes 1 type", 6},
                    Wrong{"a::f((Tensor(a), int) y) -> ()",
                          "alias annotation inside a tuple or dictionary", 7},
                    Wrong{"a::f(Tensor(!) y) -> ()", "expected an alias set", 13},
                    Wrong{"a::f(Scalar x=1xj) -> ()", "`1xj` is not a number", 15}));

TEST(SchemaParser, BoundsNesting) {
  std::string text = "a::f(" + std::string(100000, '(');
  EXPECT_THROW((void)parse_schema(text), Error);
}

TEST(SchemaParser, BoundsAliasSets) {
  std::string text = "a::f(";
  for (int i = 0; i < 64; ++i)
    text += "Tensor(a" + std::to_string(i) + "!) x" + std::to_string(i) + ", ";
  EXPECT_EQ(parse_schema(text + "int y) -> ()").alias_sets.size(), 64U);
  EXPECT_THROW((void)parse_schema(text + "Tensor(b!) y) -> ()"), Error);
}

TEST(SchemaParser, TypesAloneTakeNoAlias) {
  EXPECT_THROW((void)parse_type("Tensor(a!)"), Error);
  EXPECT_THROW((void)parse_type("Tensor x"), Error);
}

}  // namespace
}  // namespace winze
