// SPDX-License-Identifier: Apache-2.0
#include "winze/support/json_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "winze/support/diagnostic.h"
#include "winze/support/json_reader.h"

namespace winze {
namespace {

std::string json(const std::function<void(JsonWriter&)>& write,
                 JsonStyle style = JsonStyle::python) {
  std::string out;
  JsonWriter writer(out, style);
  write(writer);
  return out;
}

std::string string_json(std::string_view text) {
  return json([&](JsonWriter& writer) { writer.string(text); });
}

std::string real_json(double value) {
  return json([&](JsonWriter& writer) { writer.real(value); });
}

void write_sample(JsonWriter& writer) {
  writer.begin_object();
  writer.key("a");
  writer.begin_array();
  writer.integer(-1);
  writer.begin_object();
  writer.end_object();
  writer.begin_array();
  writer.end_array();
  writer.null();
  writer.end_array();
  writer.plain_key("b");
  writer.boolean(true);
  writer.plain_key("c");
  writer.raw("{\"x\": 1}");
  writer.key("d\n");
  writer.string("s");
  writer.end_object();
}

TEST(JsonWriter, SeparatesAsPythonDoes) {
  EXPECT_EQ(json(write_sample),
            R"({"a": [-1, {}, [], null], "b": true, "c": {"x": 1}, "d\n": "s"})");
}

TEST(JsonWriter, SeparatesCompactly) {
  EXPECT_EQ(json(write_sample, JsonStyle::compact),
            R"({"a":[-1,{},[],null],"b":true,"c":{"x": 1},"d\n":"s"})");
}

TEST(JsonWriter, WritesIntegersUpToTheirBounds) {
  EXPECT_EQ(json([](JsonWriter& writer) {
              writer.begin_array();
              writer.integer(std::numeric_limits<std::int64_t>::min());
              writer.integer(std::numeric_limits<std::int64_t>::max());
              writer.unsigned_integer(std::numeric_limits<std::uint64_t>::max());
              writer.integer(0);
              writer.end_array();
            }),
            "[-9223372036854775808, 9223372036854775807, 18446744073709551615, 0]");
}

TEST(JsonWriter, EscapesStringsAsPythonDoes) {
  EXPECT_EQ(string_json("plain / text ~"), R"("plain / text ~")");
  EXPECT_EQ(string_json("\"\\\n\r\t\b\f"), R"("\"\\\n\r\t\b\f")");
  EXPECT_EQ(string_json(std::string_view("\0\x01\x1f\x7f", 4)), R"("\u0000\u0001\u001f\u007f")");
  EXPECT_EQ(string_json("\u00e4\u20ac\uffff\U0001F600\U0010FFFF"),
            R"("\u00e4\u20ac\uffff\ud83d\ude00\udbff\udfff")");
  EXPECT_EQ(string_json(""), R"("")");
}

TEST(JsonWriter, EscapesAtEveryPlaceOfAString) {
  for (std::size_t place = 0; place < 20; ++place) {
    for (const char c : {'"', '\\', '\n', '\x7f'}) {
      std::string text(20, 'x');
      text[place] = c;
      const std::string escape = c == '"'    ? "\\\""
                                 : c == '\\' ? "\\\\"
                                 : c == '\n' ? "\\n"
                                             : "\\u007f";
      std::string expected(20, 'x');
      expected.replace(place, 1, escape);
      EXPECT_EQ(string_json(text), fmt::format("\"{}\"", expected));
    }
  }
}

TEST(JsonWriter, RefusesInvalidUtf8) {
  try {
    string_json("ab\xff");
    FAIL() << "it was written";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "error: a string is not valid UTF-8 and cannot be written as JSON: \"\\xff\"");
  }
}

TEST(JsonWriter, WritesDoublesAsPythonDoes) {
  EXPECT_EQ(real_json(1), "1.0");
  EXPECT_EQ(real_json(-0.0), "-0.0");
  EXPECT_EQ(real_json(1e16), "1e+16");
  EXPECT_EQ(real_json(0.1), "0.1");
  EXPECT_EQ(real_json(std::numeric_limits<double>::infinity()), "\"Infinity\"");
  EXPECT_EQ(real_json(-std::numeric_limits<double>::infinity()), "\"-Infinity\"");
  EXPECT_EQ(real_json(std::numeric_limits<double>::quiet_NaN()), "\"NaN\"");
  EXPECT_EQ(real_json(-std::numeric_limits<double>::quiet_NaN()), "\"NaN\"");
}

TEST(JsonWriter, RefusesWhatDoesNotClose) {
  EXPECT_THROW(json([](JsonWriter& writer) { writer.end_array(); }), InternalError);
  EXPECT_THROW(json([](JsonWriter& writer) {
                 writer.begin_object();
                 writer.key("a");
                 writer.end_object();
               }),
               InternalError);
}

TEST(JsonWriter, BoundsNesting) {
  EXPECT_THROW(json([](JsonWriter& writer) {
                 for (int i = 0; i < 1000; ++i) writer.begin_array();
               }),
               InternalError);
}

/// Writes a value as it was read.
void copy(JsonValue value, JsonWriter& writer) {
  switch (value.kind()) {
    case JsonKind::null:
      return writer.null();
    case JsonKind::boolean:
      return writer.boolean(value.boolean());
    case JsonKind::integer:
      return writer.integer(value.int64());
    case JsonKind::real:
      return writer.real(value.real());
    case JsonKind::string:
      return writer.string(value.string());
    case JsonKind::array:
      writer.begin_array();
      for (const JsonValue element : value.array()) copy(element, writer);
      return writer.end_array();
    case JsonKind::object:
      writer.begin_object();
      for (const JsonField field : value.object()) {
        writer.key(field.key);
        copy(field.value, writer);
      }
      return writer.end_object();
  }
}

TEST(JsonWriter, GivesBackWhatWasRead) {
  const std::string text =
      R"({"graph": [{"name": "\u00e4\n", "arg": {"as_float": 1e-05}, "kind": 1}, {}, [[]], null, false], "": -0.5})";
  const JsonDocument document(Bytes::copy(text));
  EXPECT_EQ(json([&](JsonWriter& writer) { copy(document.root(), writer); }), text);
}

}  // namespace
}  // namespace winze
