// SPDX-License-Identifier: Apache-2.0
#include "winze/program/schema_fields.h"

#include <gtest/gtest.h>

namespace winze {
namespace {

TEST(SchemaFields, EachReleaseWritesItsOwnMinor) {
  EXPECT_EQ(writable_release("2.9.1")->schema_minor, 14);
  EXPECT_EQ(writable_release("2.10")->schema_minor, 15);
  EXPECT_EQ(writable_release("2.11.0+cu130")->schema_minor, 17);
  EXPECT_EQ(writable_release("2.12.1")->schema_minor, 20);
  EXPECT_EQ(writable_release("2.13.0")->schema_minor, 20);
  EXPECT_EQ(writable_release("2.14.0a0+git1")->schema_minor, 20);
}

TEST(SchemaFields, LaterReleasesHaveTheNewestFields) {
  EXPECT_EQ(writable_release("2.40")->schema_minor, 20);
}

TEST(SchemaFields, EarlierReleasesAndNonsenseCannotBeWritten) {
  EXPECT_FALSE(writable_release("2.8.0"));
  EXPECT_FALSE(writable_release("1.13"));
  EXPECT_FALSE(writable_release("3.0"));
  EXPECT_FALSE(writable_release("9.9"));
  EXPECT_FALSE(writable_release(""));
  EXPECT_FALSE(writable_release("2"));
  EXPECT_FALSE(writable_release("2."));
  EXPECT_FALSE(writable_release("latest"));
  EXPECT_FALSE(writable_release("2.13x"));
}

TEST(SchemaFields, ArmsAreFoundByName) {
  for (std::size_t index = 0; index <= static_cast<std::size_t>(ArgumentArm::as_float_lists);
       ++index) {
    const auto arm = static_cast<ArgumentArm>(index);
    EXPECT_EQ(argument_arm(name_of(arm)), arm);
  }
  EXPECT_FALSE(argument_arm("as_magic"));
}

TEST(SchemaFields, DtypesHaveTheSchemasOwnNumbers) {
  EXPECT_EQ(schema_number(ScalarType::float32), 7);
  EXPECT_EQ(schema_number(ScalarType::bfloat16), 13);
  EXPECT_EQ(schema_number(ScalarType::uint64), 35);
  for (std::int64_t number = 0; number < 64; ++number) {
    if (const auto type = scalar_type_from_schema(number)) {
      EXPECT_EQ(schema_number(*type), number);
    }
  }
  EXPECT_FALSE(scalar_type_from_schema(14));
}

TEST(SchemaFields, LayoutsAndMemoryFormatsComeBack) {
  for (std::int64_t number = 0; number < 8; ++number)
    EXPECT_EQ(schema_number(*layout_from_schema(number)), number);
  for (std::int64_t number = 0; number < 5; ++number)
    EXPECT_EQ(schema_number(*memory_format_from_schema(number)), number);
  EXPECT_FALSE(layout_from_schema(8));
  EXPECT_FALSE(memory_format_from_schema(-1));
}

}  // namespace
}  // namespace winze
