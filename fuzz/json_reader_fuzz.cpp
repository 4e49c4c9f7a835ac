// SPDX-License-Identifier: Apache-2.0
// Any bytes are either read as JSON, every value of which can be read and written again to a text
// that reads as the same, or give an Error. simdjson's DOM is the referee on what is JSON.
#include <simdjson.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "fuzz/unless_refused.h"
#include "winze/support/json_reader.h"
#include "winze/support/json_writer.h"

namespace {

using winze::JsonField;
using winze::JsonKind;
using winze::JsonValue;

// Nesting is bounded by the document.
void copy(JsonValue value, winze::JsonWriter& writer) {
  switch (value.kind()) {
    case JsonKind::null:
      return writer.null();
    case JsonKind::boolean:
      return writer.boolean(value.boolean());
    case JsonKind::integer:
    case JsonKind::real:
      return writer.raw(value.raw_json());
    case JsonKind::string: {
      std::string scratch;
      WINZE_CHECK(value.string() == value.string(scratch), "two ways to read a string differ");
      return writer.string(value.string());
    }
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

void read_numbers(JsonValue value) {
  if (value.kind() != JsonKind::integer && value.kind() != JsonKind::real) return;
  const auto number = winze::unless_refused([&] { return value.int64(); });
  const auto size = winze::unless_refused([&] { return value.uint64(); });
  if (number && size)
    WINZE_CHECK(std::cmp_equal(*number, *size), "two readings of a number differ");
  static_cast<void>(winze::unless_refused([&] { return value.real(); }));
}

std::string copied(const winze::JsonDocument& document) {
  std::string out;
  winze::JsonWriter writer(out);
  copy(document.root(), writer);
  return out;
}

simdjson::error_code judge(std::string_view text) {
  simdjson::dom::parser parser;
  return parser.parse(simdjson::padded_string(text)).error();
}

/// Whether simdjson refuses the text for more than a number of above 64 bits, which is not a fault.
bool is_refused(std::string_view text) {
  switch (judge(text)) {
    case simdjson::TAPE_ERROR:
    case simdjson::STRING_ERROR:
    case simdjson::T_ATOM_ERROR:
    case simdjson::F_ATOM_ERROR:
    case simdjson::N_ATOM_ERROR:
    case simdjson::UTF8_ERROR:
    case simdjson::EMPTY:
    case simdjson::UNESCAPED_CHARS:
    case simdjson::UNCLOSED_STRING:
      return true;
    default:
      return false;
  }
}

/// Whether the reader is stricter than simdjson here by intent.
bool is_stricter(std::string_view message) {
  for (const std::string_view rule : {"comes twice", "nested more than", "surrogate"}) {
    if (message.find(rule) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const winze::JsonDocument document(winze::Bytes::borrow(text),
                                       {.file = "fuzz", .record = "json"});
    WINZE_CHECK(!is_refused(text), "simdjson refuses what was read");
    const std::string once = copied(document);
    const winze::JsonDocument again(winze::Bytes::copy(once));
    WINZE_CHECK(copied(again) == once, "the copy reads as something else");
    const winze::JsonDocument raw(winze::Bytes::copy(document.root().raw_json()));
    WINZE_CHECK(copied(raw) == once, "the raw text reads as something else");
    read_numbers(document.root());
    if (document.root().is_array()) {
      std::size_t count = 0;
      for (const JsonValue element : document.root().array()) {
        read_numbers(element);
        if (++count > 100) break;  // paths take linear time each
        WINZE_CHECK(!element.where().path.empty(), "an element without a path");
      }
    }
  } catch (const winze::Error& error) {
    WINZE_CHECK(is_stricter(error.what()) || judge(text) != simdjson::SUCCESS, "refused: {}",
                error.what());
  }
  return 0;
}
