// SPDX-License-Identifier: Apache-2.0
#include "winze/program/unknown_members.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winze {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Gathers every member called `new…` of the document.
class Gatherer {
 public:
  std::vector<UnknownMembers> gather(const std::string& json) {
    const JsonDocument document(Bytes::borrow(json));
    add(document.root());
    return collector_.take(document.root(), [](JsonValue) { FAIL() << "nothing is too long"; });
  }

 private:
  void add(JsonValue value) {
    if (value.is_array()) {
      for (const JsonValue element : value.array()) add(element);
    }
    if (!value.is_object()) return;
    for (const JsonField field : value.object()) {
      if (field.key.starts_with("new")) {
        collector_.add(value, field);
        collector_.add(value, field);  // as a record that is read twice
      } else {
        add(field.value);
      }
    }
  }
  UnknownMemberCollector collector_;
};

std::vector<std::string> lost_paths;

std::string put_back(std::string json, const std::vector<UnknownMembers>& kept) {
  lost_paths.clear();
  return with_unknown_members(std::move(json), kept,
                              [](const UnknownMembers& lost) { lost_paths.push_back(lost.path); });
}

TEST(UnknownMembers, KnowTheirRecordByNamesAndNumbers) {
  const std::vector<UnknownMembers> kept = Gatherer().gather(
      R"({"nodes": [{"name": "a", "target": "t", "inputs": [{"x": [{"name": "v", "new": 1, "k": null}]}]}], "t y": {"new b": [2, {}]}})");
  EXPECT_THAT(kept, ElementsAre(UnknownMembers{R"(nodes["a"].inputs[0].x[0])",
                                               R"({"name": "v", "k": null})", R"({"new": 1})"},
                                UnknownMembers{R"(["t y"])", "{}", R"({"new b": [2, {}]})"}));
}

TEST(UnknownMembers, ComeBackWhereTheRecordIs) {
  const std::vector<UnknownMembers> kept = Gatherer().gather(
      R"({"new0": 0, "nodes": [{"name": "a", "arg": 1, "new1": 1.50}, {"name": "b", "arg": {"v": 7, "new2": {"x": [1]}, "new3": null}, "new4": "\u00e9"}]})");
  ASSERT_EQ(kept.size(), 4U);
  EXPECT_EQ(
      put_back(
          R"({"nodes": [{"name": "c"}, {"name": "b", "arg": {"v": 7}}, {"name": "a", "arg": 1}]})",
          kept),
      R"({"nodes": [{"name": "c"}, {"name": "b", "arg": {"v": 7, "new2": {"x": [1]}, "new3": null}, "new4": "\u00e9"}, {"name": "a", "arg": 1, "new1": 1.50}], "new0": 0})");
  EXPECT_THAT(lost_paths, IsEmpty());
}

TEST(UnknownMembers, ComeBackToAnEmptyRecord) {
  EXPECT_EQ(put_back(R"({"a": {}})", Gatherer().gather(R"({"a": {"new": 1}})")),
            R"({"a": {"new": 1}})");
}

TEST(UnknownMembers, AreLostWithTheirRecord) {
  const std::vector<UnknownMembers> kept = Gatherer().gather(
      R"({"nodes": [{"name": "a", "arg": 2, "new": 1}, {"name": "b", "arg": {"v": "x", "new": 2}}, {"name": "c", "arg": {"w": 1.0, "new": 3}}]})");
  const std::string json =
      R"({"nodes": [{"name": "b", "arg": {"v": "y"}}, {"name": "c", "arg": {"w": 1.00}}]})";
  EXPECT_THAT(put_back(json, kept), HasSubstr(R"({"w": 1.00, "new": 3})"));
  EXPECT_THAT(lost_paths, ElementsAre(R"(nodes["a"])", R"(nodes["b"].arg)"));
}

TEST(UnknownMembers, GiveWayToWhatIsKnownByNow) {
  EXPECT_EQ(put_back(R"({"a": {"new": 2}})", Gatherer().gather(R"({"a": {"new": 1}})")),
            R"({"a": {"new": 2}})");
}

TEST(UnknownMembers, OfMoreThanIsKeptAreRefused) {
  std::string json = R"({"a": {"new": ")" + std::string(std::size_t{65} << 20U, 'x') + R"("}})";
  const JsonDocument document(Bytes::own(std::move(json)));
  const JsonValue record = document.root().get("a");
  UnknownMemberCollector collector;
  collector.add(record, *record.object().begin());
  int refused = 0;
  EXPECT_THAT(collector.take(document.root(), [&](JsonValue) { ++refused; }), IsEmpty());
  EXPECT_EQ(refused, 1);
}

}  // namespace
}  // namespace winze
