// SPDX-License-Identifier: Apache-2.0
#include "winze/schema/type.h"

#include <gtest/gtest.h>

#include "winze/schema/schema_parser.h"
#include "winze/support/diagnostic.h"

namespace winze {
namespace {

TEST(Type, IsBuiltFromInsideOut) {
  EXPECT_EQ(Type(TypeKind::tensor).str(), "Tensor");
  EXPECT_EQ(Type(TypeKind::tensor).optional().list().str(), "Tensor?[]");
  EXPECT_EQ(Type(TypeKind::int_).list(2).optional().str(), "int[2]?");
  EXPECT_EQ(Type(TypeKind::custom_class, "__torch__.torch.classes.c10d.Work").str(),
            "__torch__.torch.classes.c10d.Work");
  EXPECT_EQ(Type(TypeKind::dict, {Type(TypeKind::str), Type(TypeKind::tensor)}).list().str(),
            "Dict(str, Tensor)[]");
}

TEST(Type, TellsLists) {
  Type type = parse_type("Tensor?[]?");
  EXPECT_TRUE(type.is_optional());
  EXPECT_TRUE(type.is_list());
  EXPECT_EQ(type.base_kind(), TypeKind::tensor);
  EXPECT_EQ(type.without_optional().str(), "Tensor?[]");
  EXPECT_EQ(type.element().str(), "Tensor?");
  EXPECT_FALSE(type.element().is_list());
  EXPECT_EQ(type.base(), Type(TypeKind::tensor));
}

TEST(Type, TellsListSizes) {
  EXPECT_EQ(parse_type("SymInt[3]").list_size(), 3);
  EXPECT_EQ(parse_type("SymInt[3]?").list_size(), 3);
  EXPECT_EQ(parse_type("SymInt[]").list_size(), 0);
  EXPECT_EQ(parse_type("SymInt").list_size(), 0);
  EXPECT_EQ(parse_type("Tensor[][]").list_depth(), 2);
}

TEST(Type, IsIgnoresOneOptional) {
  EXPECT_TRUE(parse_type("Tensor?").is(TypeKind::tensor));
  EXPECT_TRUE(parse_type("Tensor").is(TypeKind::tensor));
  EXPECT_FALSE(parse_type("Tensor[]").is(TypeKind::tensor));
  EXPECT_FALSE(parse_type("int").is(TypeKind::tensor));
}

TEST(Type, ComparesByStructure) {
  EXPECT_EQ(parse_type("Dict(str, int[])"), parse_type("Dict( str,int[] )"));
  EXPECT_FALSE(parse_type("Dict(str, int[])") == parse_type("Dict(str, int)"));
  EXPECT_FALSE(parse_type("t") == parse_type("t1"));
  EXPECT_FALSE(parse_type("int[2]") == parse_type("int[3]"));
}

TEST(Type, EveryKindParsesBack) {
  for (const char* text : {"Tensor",
                           "int",
                           "SymInt",
                           "float",
                           "SymFloat",
                           "bool",
                           "SymBool",
                           "complex",
                           "Scalar",
                           "str",
                           "ScalarType",
                           "Layout",
                           "MemoryFormat",
                           "QScheme",
                           "Device",
                           "Generator",
                           "Storage",
                           "Stream",
                           "Dimname",
                           "Any",
                           "NoneType",
                           "AnyEnumType",
                           "AnyClassType",
                           "Token",
                           "Graph",
                           "Op",
                           "PyObject",
                           "tVal",
                           "(int, t)[]",
                           "Dict(str, t)",
                           "Future(t)",
                           "RRef(t)",
                           "Await(t)",
                           "__torch__.torch.classes.quantized.Conv2dPackedParamsBase",
                           "()"}) {
    EXPECT_EQ(parse_type(text).str(), text);
  }
}

TEST(Type, RefusesWhatItCannotHold) {
  EXPECT_THROW((void)parse_type("int?[]?[]?"), Error);
  EXPECT_THROW((void)parse_type("int[251]"), Error);
  EXPECT_THROW((void)parse_type("int[0]"), Error);
  EXPECT_THROW((void)Type(TypeKind::int_).list(0), Error);
  std::string deep(100, '(');
  EXPECT_THROW((void)parse_type(deep), Error);
  EXPECT_THROW((void)Type(TypeKind::int_).element(), InternalError);
}

}  // namespace
}  // namespace winze
