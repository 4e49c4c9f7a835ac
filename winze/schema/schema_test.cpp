// SPDX-License-Identifier: Apache-2.0
#include "winze/schema/schema.h"

#include <gtest/gtest.h>

#include "winze/schema/op_table.h"
#include "winze/schema/schema_parser.h"
#include "winze/schema/table_line.h"

namespace winze {
namespace {

TEST(Schema, EveryLineOfTheTablePrintsAsItWasRead) {
  for (std::uint32_t i = 0; i < built_in_op_table.count; ++i) {
    std::string_view text = split_table_line(built_in_op_table.line(i)).schema;
    EXPECT_EQ(print_schema(parse_schema_in_place(text)), text);
  }
}

TEST(Schema, PrintsCanonically) {
  EXPECT_EQ(print_schema(parse_schema(
                "a::b( Tensor ( a ! ) x ,  int [ 2 ] y = 3, * , str z='q' )->(Tensor(a!),  ...)")),
            "a::b(Tensor(a!) x, int[2] y=3, *, str z='q') -> (Tensor(a!), ...)");
}

TEST(Schema, SortsAliasSets) {
  EXPECT_EQ(print_schema(parse_schema("a::f(Any(b) x, Any(a) y) -> Any(b|a)")),
            "a::f(Any(b) x, Any(a) y) -> Any(a|b)");
}

TEST(Schema, FindsArguments) {
  Schema schema =
      parse_schema("aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
  EXPECT_EQ(schema.find_argument("self"), 0);
  EXPECT_EQ(schema.find_argument("alpha"), 2);
  EXPECT_EQ(schema.find_argument("beta"), -1);
  EXPECT_EQ(schema.positional_count(), 2);
}

TEST(Schema, FindsArgumentsBehindKeywordOnlyOnes) {
  const Schema schema =
      parse_schema("h::with(Any token, Any op, *, bool is_matrix=True, ...) -> ...");
  EXPECT_EQ(schema.index_of_position(1), 1U);
  EXPECT_EQ(schema.index_of_position(2), 3U);
  EXPECT_EQ(schema.index_for("is_matrix", 2, 2), 2U);
  EXPECT_EQ(schema.index_for("info", 2, 0), 3U);
  EXPECT_EQ(schema.index_for("token", 2, 1), 4U) << "an argument of the other operator";
}

TEST(Schema, OutlivesTheTextItWasParsedFrom) {
  Schema copy;
  {
    std::string text = "lib::f(Tensor first_argument) -> Tensor";
    Schema schema = parse_schema(text);
    copy = schema;
    text.assign(text.size(), '#');
  }
  EXPECT_EQ(copy.arguments[0].name, "first_argument");
  EXPECT_EQ(print_schema(copy), "lib::f(Tensor first_argument) -> Tensor");
}

}  // namespace
}  // namespace winze
