// SPDX-License-Identifier: Apache-2.0
#include "winze/support/json_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "winze/support/error_of.h"

namespace winze {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// What reading the text itself says.
std::string error_in(const std::string& text) {
  return error_of([&] { JsonDocument document(Bytes::copy(text)); });
}

TEST(JsonDocument, ReadsMembersInOrder) {
  const JsonDocument document(Bytes::copy(R"( {"b": 1, "a" : [true, null, "x"], "": {}} )"));
  std::vector<std::string> keys;
  for (const JsonField field : document.root().object()) keys.emplace_back(field.key);
  EXPECT_THAT(keys, ElementsAre("b", "a", ""));
  EXPECT_EQ(document.root().get("b").int64(), 1);
  EXPECT_EQ(document.root().get("a").array().size(), 3U);
  EXPECT_TRUE(document.root().get("").object().empty());
}

TEST(JsonDocument, ReadsElementsInOrderAndSkipsWhatIsInside) {
  const JsonDocument document(Bytes::copy(R"([[1,[2]],{"k":[3]},4,[]])"));
  std::vector<std::string> texts;
  for (const JsonValue value : document.root().array()) texts.emplace_back(value.raw_json());
  EXPECT_THAT(texts, ElementsAre("[1,[2]]", R"({"k":[3]})", "4", "[]"));
}

TEST(JsonDocument, ReadsAScalarAlone) {
  EXPECT_EQ(JsonDocument(Bytes::copy(" 12 ")).root().int64(), 12);
  EXPECT_EQ(JsonDocument(Bytes::copy("\"x\"")).root().string(), "x");
  EXPECT_TRUE(JsonDocument(Bytes::copy("null")).root().is_null());
}

TEST(JsonValue, KnowsItsKind) {
  const JsonDocument document(Bytes::copy(R"([null, true, 1, -0, 1.0, 1e3, "1", [], {}])"));
  std::vector<JsonKind> kinds;
  for (const JsonValue value : document.root().array()) kinds.push_back(value.kind());
  EXPECT_THAT(kinds, ElementsAre(JsonKind::null, JsonKind::boolean, JsonKind::integer,
                                 JsonKind::integer, JsonKind::real, JsonKind::real,
                                 JsonKind::string, JsonKind::array, JsonKind::object));
}

TEST(JsonValue, ReadsIntegersUpToTheirBounds) {
  const JsonDocument document(
      Bytes::copy("[9223372036854775807, -9223372036854775808, 18446744073709551615, -0]"));
  auto it = document.root().array().begin();
  EXPECT_EQ((*it).int64(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ((*++it).int64(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ((*++it).uint64(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ((*++it).int64(), 0);
  EXPECT_EQ((*it).uint64(), 0U);
}

TEST(JsonValue, RefusesIntegersThatDoNotFit) {
  const JsonDocument document(Bytes::copy(R"({"n": [9223372036854775808, 1.0]})"));
  const JsonArray array = document.root().get("n").array();
  auto it = array.begin();
  EXPECT_EQ(error_of([&] { static_cast<void>((*it).int64()); }),
            "at n[0]: error: an integer of 64 bits is wanted, found 9223372036854775808");
  ++it;
  EXPECT_EQ(error_of([&] { static_cast<void>((*it).int64()); }),
            "at n[1]: error: an integer is wanted, found 1.0");
  EXPECT_EQ(error_of([&] { static_cast<void>((*it).uint64()); }),
            "at n[1]: error: an unsigned integer is wanted, found 1.0");
}

TEST(JsonValue, ReadsDoublesExactly) {
  const JsonDocument document(
      Bytes::copy("[1, -0.0, 0.1, 1e-05, 1.7976931348623157e+308, 5e-324, "
                  "123456789012345678901234567890, 1E2]"));
  std::vector<double> values;
  for (const JsonValue value : document.root().array()) values.push_back(value.real());
  EXPECT_THAT(values, ElementsAre(1.0, 0.0, 0.1, 1e-05, std::numeric_limits<double>::max(), 5e-324,
                                  123456789012345678901234567890.0, 100.0));
  EXPECT_TRUE(std::signbit(values[1]));
}

TEST(JsonValue, ReadsInfinitiesAsExportWritesThem) {
  const JsonDocument document(Bytes::copy(R"(["Infinity", "-Infinity", "NaN", "nan"])"));
  auto it = document.root().array().begin();
  EXPECT_EQ((*it).real(), std::numeric_limits<double>::infinity());
  EXPECT_EQ((*++it).real(), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan((*++it).real()));
  ++it;
  EXPECT_EQ(
      error_of([&] { static_cast<void>((*it).real()); }),
      "at [3]: error: a number, \"Infinity\", \"-Infinity\" or \"NaN\" is wanted, found \"nan\"");
}

TEST(JsonValue, RefusesNumbersThatNoDoubleHolds) {
  const JsonDocument document(Bytes::copy("[1e400, 1e-400]"));
  std::vector<std::string> messages;
  for (const JsonValue value : document.root().array()) {
    messages.push_back(error_of([&] { static_cast<void>(value.real()); }));
  }
  EXPECT_THAT(
      messages,
      ElementsAre("at [0]: error: a number that fits into a double is wanted, found 1e400",
                  "at [1]: error: a number that fits into a double is wanted, found 1e-400"));
}

TEST(JsonValue, UnescapesStrings) {
  const JsonDocument document(
      Bytes::copy(R"(["\"\\\/\b\f\n\r\tx", "\u0041\u00e4\u20AC\ud83d\ude00", "plain"])"));
  auto it = document.root().array().begin();
  EXPECT_EQ((*it).string(), "\"\\/\b\f\n\r\tx");
  std::string scratch;
  EXPECT_EQ((*it).string(scratch), "\"\\/\b\f\n\r\tx");
  EXPECT_EQ((*++it).string(), "A\u00e4\u20ac\U0001F600");
  EXPECT_EQ((*++it).string(scratch), "plain");
}

TEST(JsonValue, ReadsAStringThatHoldsNul) {
  const JsonDocument document(Bytes::copy(R"("a\u0000b")"));
  EXPECT_EQ(document.root().string(), std::string_view("a\0b", 3));
}

TEST(JsonValue, PointsIntoTheTextWhereNothingIsEscaped) {
  const Bytes text = Bytes::copy(R"(["abc"])");
  const JsonDocument document(text);
  EXPECT_EQ((*document.root().array().begin()).string().data(), text.string_view().data() + 2);
}

TEST(JsonValue, FindsTheEndOfAStringBeforeBlanks) {
  const JsonDocument document(Bytes::copy("{\"a\" \n: \"b\\\"\" \t , \"c\" :\"]\"  \r\n }"));
  EXPECT_EQ(document.root().get("a").string(), "b\"");
  EXPECT_EQ(document.root().get("c").raw_json(), "\"]\"");
}

TEST(JsonValue, KeepsTheBytesOfAValue) {
  const JsonDocument document(
      Bytes::copy("{\"a\":  { \"x\" : [1 , 2.50e+1] }  , \"b\" : \"\\u0041\" }"));
  EXPECT_EQ(document.root().get("a").raw_json(), "{ \"x\" : [1 , 2.50e+1] }");
  EXPECT_EQ(document.root().get("a").get("x").array().begin().operator*().raw_json(), "1");
  EXPECT_EQ(document.root().get("b").raw_json(), "\"\\u0041\"");
}

TEST(JsonValue, NamesItsPath) {
  const JsonDocument document(
      Bytes::copy(
          R"({"graph_module": {"graph": {"nodes": [1, 2, {"t": 0}, {"inputs": [{"name": 1, "arg": 7}]}]}}})"),
      {.file = "m.pt2", .record = "models/model.json"});
  const JsonValue nodes = document.root().get("graph_module").get("graph").get("nodes");
  auto node = nodes.array().begin();
  ++ ++ ++node;
  const JsonValue arg = (*(*node).get("inputs").array().begin()).get("arg");
  EXPECT_EQ(arg.where().path, "graph_module.graph.nodes[3].inputs[0].arg");
  EXPECT_EQ(error_of([&] { static_cast<void>(arg.string()); }),
            "m.pt2: models/model.json: at graph_module.graph.nodes[3].inputs[0].arg: error: a "
            "string is wanted, "
            "found 7");
  EXPECT_EQ(document.root().where().path, "");
}

TEST(JsonValue, QuotesKeysThatAreNotNames) {
  const JsonDocument document(Bytes::copy(R"({"config": {"lin.weight": 1, "\n": 2, "": 3}})"));
  const JsonValue config = document.root().get("config");
  EXPECT_EQ(config.get("lin.weight").where().path, "config[\"lin.weight\"]");
  EXPECT_EQ(config.get("\n").where().path, "config[\"\\n\"]");
  EXPECT_EQ(config.get("").where().path, "config[\"\"]");
}

TEST(JsonValue, SaysWhatItFound) {
  const JsonDocument document(Bytes::copy(R"([null, {}, {"a": 1}, [], [1], false, "long )" +
                                          std::string(100, 'x') + "\"]"));
  std::vector<std::string> messages;
  for (const JsonValue value : document.root().array()) {
    messages.push_back(error_of([&] { static_cast<void>(value.int64()); }));
  }
  EXPECT_THAT(messages, ElementsAre(HasSubstr("found null"), HasSubstr("found an empty object"),
                                    HasSubstr("found an object"), HasSubstr("found an empty array"),
                                    HasSubstr("found an array"), HasSubstr("found false"),
                                    HasSubstr("found \"long " + std::string(35, 'x') + "\"...")));
}

TEST(JsonValue, RefusesOtherKinds) {
  const JsonDocument document(Bytes::copy("[5]"));
  const JsonValue five = *document.root().array().begin();
  EXPECT_THAT(error_of([&] { static_cast<void>(five.array()); }),
              HasSubstr("an array is wanted, found 5"));
  EXPECT_THAT(error_of([&] { static_cast<void>(five.object()); }),
              HasSubstr("an object is wanted, found 5"));
  EXPECT_THAT(error_of([&] { static_cast<void>(five.boolean()); }),
              HasSubstr("true or false is wanted, found 5"));
  EXPECT_THAT(error_of([&] { static_cast<void>(document.root().real()); }),
              HasSubstr("a number is wanted, found an array"));
}

TEST(JsonValue, NamesAMissingKey) {
  const JsonDocument document(Bytes::copy(R"({"a": {"b": 1}})"));
  EXPECT_EQ(error_of([&] { static_cast<void>(document.root().get("a").get("c")); }),
            "at a: error: the key \"c\" is missing");
  EXPECT_FALSE(document.root().get("a").find("c").has_value());
}

TEST(JsonDocument, RefusesFaultyGrammar) {
  EXPECT_EQ(error_in(""), "error: the JSON text is empty (byte 0)");
  EXPECT_EQ(error_in("  "), "error: the JSON text is empty (byte 0)");
  EXPECT_EQ(error_in("{\"a\": [1 2]}"),
            "at a[1]: error: a comma or \"]\" is wanted, found \"2\" (byte 9)");
  EXPECT_EQ(error_in("{\"a\": 1 \"b\": 2}"),
            "error: a comma or \"}\" is wanted, found \"\\\"b\\\"\" (byte 8)");
  EXPECT_EQ(error_in("{\"a\" 1}"), "at a: error: a colon is wanted, found \"1\" (byte 5)");
  EXPECT_EQ(error_in("{\"a\":}"), "at a: error: a value is wanted, found \"}\" (byte 5)");
  EXPECT_EQ(error_in("{1: 2}"), "error: a key is wanted, found \"1\" (byte 1)");
  EXPECT_EQ(error_in("{\"a\":1,}"), "error: a key is wanted, found \"}\" (byte 7)");
  EXPECT_EQ(error_in("[1,]"), "at [1]: error: a value is wanted, found \"]\" (byte 3)");
  EXPECT_EQ(error_in("[,1]"), "at [0]: error: a value is wanted, found \",\" (byte 1)");
  EXPECT_EQ(error_in("[1}"), "at [1]: error: a comma or \"]\" is wanted, found \"}\" (byte 2)");
  EXPECT_EQ(error_in("[1] 2"), "error: the end of the text is wanted, found \"2\" (byte 4)");
  EXPECT_EQ(error_in("[[1, {\"k\": 3"),
            "at [0][1]: error: a comma or \"}\" is wanted, found the end of the text (byte 12)");
  EXPECT_EQ(error_in("["), "at [0]: error: a value is wanted, found the end of the text (byte 1)");
  EXPECT_EQ(error_in("{"), "error: a key is wanted, found the end of the text (byte 1)");
  EXPECT_EQ(error_in("{\"a\""),
            "at a: error: a colon is wanted, found the end of the text (byte 4)");
  EXPECT_EQ(error_in("]"), "error: a value is wanted, found \"]\" (byte 0)");
}

TEST(JsonDocument, RefusesFaultyScalars) {
  for (const char* text :
       {"01",        "-",   "1.",     ".5",     "1e",     "1e+",  "+1",  "0x1",  "1_000",
        "--1",       "1-2", "1\"a\"", "tru",    "truex",  "True", "nul", "NaN",  "Infinity",
        "-Infinity", "'a'", "a",      "\"a\"b", "b\"a\"", "-01",  "00",  "1.e5", "1 2"}) {
    EXPECT_NE(error_in(text), "") << text;
    EXPECT_NE(error_in(fmt::format("[{}]", text)), "") << text;
    EXPECT_NE(error_in(fmt::format("{{\"k\": {}}}", text)), "") << text;
  }
}

TEST(JsonDocument, RefusesFaultyStrings) {
  EXPECT_THAT(error_in("[\"a"), HasSubstr("ends inside of a string"));
  EXPECT_THAT(error_in("[\"a\\\"]"), HasSubstr("ends inside of a string"));
  EXPECT_THAT(error_in("[\"a\nb\"]"), HasSubstr("control character that is not escaped"));
  EXPECT_EQ(error_in(R"(["ok", "a\x41"])"), "at [1]: error: unknown escape \"\\\\x\" (byte 9)");
  EXPECT_THAT(error_in(R"(["\u12G4"])"), HasSubstr("unknown escape \"\\\\u12G4\""));
  EXPECT_THAT(error_in(R"(["\u12"])"), HasSubstr("unknown escape"));
  EXPECT_THAT(error_in(R"(["\ud800"])"),
              HasSubstr("half of a surrogate pair alone: \"\\\\ud800\""));
  EXPECT_THAT(error_in(R"(["\ud800\u0041"])"), HasSubstr("half of a surrogate pair"));
  EXPECT_THAT(error_in(R"(["\udc00"])"), HasSubstr("half of a surrogate pair"));
  EXPECT_THAT(error_in(R"({"\q": 1})"), HasSubstr("unknown escape \"\\\\q\""));
  // The key of the faulty value is read for the message; it ends before that value.
  EXPECT_EQ(error_in(R"({"k\t": "a\q", "b": ""})"),
            R"(at ["k\t"]: error: unknown escape "\\q" (byte 10))");
  EXPECT_EQ(error_in(R"({"k\t": ["\ud800"], "b": ""})"),
            R"(at ["k\t"][0]: error: half of a surrogate pair alone: "\\ud800" (byte 10))");
}

TEST(JsonDocument, RefusesInvalidUtf8AndSaysWhere) {
  EXPECT_EQ(error_in("[\"ab\xff\"]"), "error: the JSON text is not valid UTF-8 (byte 4)");
  EXPECT_THAT(error_in("[\"\xc0\x80\"]"), HasSubstr("UTF-8 (byte 2)"));
  EXPECT_THAT(error_in("[\"\xed\xa0\x80\"]"), HasSubstr("UTF-8 (byte 2)"));
}

TEST(JsonDocument, RefusesKeysThatComeTwice) {
  EXPECT_EQ(error_in(R"({"x": {"a": 1, "b": 2, "a": 3}})"),
            "at x: error: the key \"a\" comes twice in one object (byte 23)");
  EXPECT_THAT(error_in(R"({"a": 1, "\u0061": 3})"), HasSubstr("the key \"a\" comes twice"));
  EXPECT_THAT(error_in(R"({"": 1, "": 3})"), HasSubstr("the key \"\" comes twice"));
  EXPECT_EQ(error_in(R"({"a": {"a": {"a": 1}}, "b": {"a": 2}})"), "");
  EXPECT_EQ(error_in(R"({"longer than a word, 1": 1, "longer than a word, 2": 3})"), "");
}

TEST(JsonDocument, RefusesKeysThatComeTwiceAmongMany) {
  std::string text = "{";
  for (int i = 0; i < 5000; ++i) text += "\"key" + std::to_string(i) + "\": 0, ";
  EXPECT_EQ(error_in(text + "\"key\": 1}"), "");
  EXPECT_THAT(error_in(text + "\"key4321\": 1}"), HasSubstr("the key \"key4321\" comes twice"));
  EXPECT_THAT(error_in(text + "\"\\u006bey4321\": 1}"),
              HasSubstr("the key \"key4321\" comes twice"));
}

TEST(JsonDocument, BoundsNesting) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(error_in(nested(256)), "");
  EXPECT_THAT(error_in(nested(257)), HasSubstr("nested more than 256 deep (byte 256)"));
  EXPECT_THAT(error_in(std::string(1'000'000, '[')), HasSubstr("nested more than 256 deep"));
  std::string objects;
  for (int i = 0; i < 1000; ++i) objects += "{\"a\":";
  EXPECT_THAT(error_in(objects), HasSubstr("nested more than 256 deep"));
}

TEST(JsonDocument, BoundsItsSize) {
  const std::string text = "[1, 2, 3]";
  EXPECT_EQ(error_of([&] { JsonDocument document(Bytes::copy(text), {}, {.max_size = 8}); }),
            "error: the JSON text has 9 bytes, more than the 8 allowed (byte 0)");
}

TEST(JsonDocument, DoesNotReadPastTheText) {
  // The text ends where its buffer does, which AddressSanitizer watches.
  const auto raw_json_of = [](const std::string& text) {
    const std::unique_ptr<char[]> exact(new char[text.size()]);
    text.copy(exact.get(), text.size());
    const JsonDocument document(Bytes::borrow({exact.get(), text.size()}));
    return std::string(document.root().raw_json());
  };
  for (const std::string text : {"12", "true", "\"ab\"", "1e5"}) EXPECT_EQ(raw_json_of(text), text);
  for (const std::string text : {"[1,2", "{\"k\"", "[\"\\u00", "tru", "-", "\"ab"})
    EXPECT_THROW(raw_json_of(text), Error) << text;
}

TEST(JsonDocument, NamesFileAndRecordInFaults) {
  EXPECT_EQ(error_of([] {
              JsonDocument document(Bytes::copy("[1"),
                                    {.file = "a.pt2", .record = "models/m.json"});
            }),
            "a.pt2: models/m.json: at [1]: error: a comma or \"]\" is wanted, found the end of the "
            "text (byte 2)");
}

}  // namespace
}  // namespace winze
