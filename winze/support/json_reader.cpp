// SPDX-License-Identifier: Apache-2.0
#include "winze/support/json_reader.h"

#include <charconv>
#include <limits>
#include <system_error>
#include <utility>

#include "winze/support/json_indexer.h"
#include "winze/support/quote.h"
#include "winze/support/utf8.h"

namespace winze {
namespace {

constexpr bool is_name(std::string_view key) {
  if (key.empty() || (key[0] >= '0' && key[0] <= '9')) return false;
  for (const char c : key) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (!plain) return false;
  }
  return true;
}

/// The beginning of a text, in quotes, for messages.
std::string shown(std::string_view text) {
  if (text.size() <= shown_json_text) return quote(text);
  std::size_t size = shown_json_text;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0U) == 0x80) --size;
  return quote(text.substr(0, size)) + "...";
}

void append_key(std::string& path, std::string_view key) {
  if (is_name(key) && key.size() <= shown_json_text) {
    if (!path.empty()) path += '.';
    path += key;
  } else {
    path += '[' + shown(key) + ']';
  }
}

template <typename Number>
bool parse(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

JsonDocument::JsonDocument(Bytes text, Where where, JsonLimits limits)
    : text_(std::move(text)), where_(std::move(where)), data_(text_.string_view().data()) {
  JsonIndexer(*this, limits).run();
}

/// The bytes of a number, `true`, `false` or `null`.
std::string_view JsonDocument::scalar(std::uint32_t index) const {
  const char* begin = at(index);
  const char* end = begin + 1;
  const char* last = data_ + text_.size();
  while (end < last && !is_json_blank(*end) && *end != ',' && *end != ']' && *end != '}') ++end;
  return {begin, static_cast<std::size_t>(end - begin)};
}

/// The bytes of a string, quotes included. Between it and the next token are blanks, commas and
/// colons alone, so that its end is found from there.
std::string_view JsonDocument::quoted(std::uint32_t index) const {
  const char* begin = at(index);
  const char* end = at(index + 1);
  while (end[-1] != '"') --end;
  return {begin, static_cast<std::size_t>(end - begin)};
}

std::string_view JsonDocument::string(std::uint32_t index) const {
  std::string_view body = quoted(index);
  body = body.substr(1, body.size() - 2);
  if (!is_escaped(index)) return body;
  char* out = unescaped_.allocate(body.size());
  const std::size_t size = unescape_json(body, out);
  unescaped_.shrink(body.size() - size);
  return {out, size};
}

std::string_view JsonDocument::raw(std::uint32_t index) const {
  const char* begin = at(index);
  if (*begin == '"') return quoted(index);
  if (*begin != '[' && *begin != '{') return scalar(index);
  return {begin, static_cast<std::size_t>(at(tokens_[index + 1] - 1) + 1 - begin)};
}

/// The path of a token; also while the table is made, when containers that are still open reach to
/// the end of it. Goes down from the root, over the children of each container: linear.
std::string JsonDocument::path(std::uint32_t target) const {
  std::string path;
  std::uint32_t index = 0;
  while (index < target && (*at(index) == '[' || *at(index) == '{')) {
    const bool is_object = *at(index) == '{';
    // Of an object, the key stands before the value.
    std::uint32_t key = index + 2;
    std::uint32_t value = key + (is_object ? 1 : 0);
    std::size_t count = 0;
    while (value < target && next(value) <= target) {
      key = next(value);
      value = key + (is_object ? 1 : 0);
      ++count;
    }
    if (value > target) break;  // the target is a key, or the closing bracket
    if (is_object) {
      append_key(path, string(key));
    } else {
      path += fmt::format("[{}]", count);
    }
    index = value;
  }
  return path;
}

JsonKind JsonValue::kind() const {
  switch (*document_->at(index_)) {
    case '{':
      return JsonKind::object;
    case '[':
      return JsonKind::array;
    case '"':
      return JsonKind::string;
    case 't':
    case 'f':
      return JsonKind::boolean;
    case 'n':
      return JsonKind::null;
    default:
      return document_->scalar(index_).find_first_of(".eE") == std::string_view::npos
                 ? JsonKind::integer
                 : JsonKind::real;
  }
}

std::string_view JsonValue::string() const {
  if (*document_->at(index_) != '"') throw wanted("a string");
  return document_->string(index_);
}

std::string_view JsonValue::string(std::string& scratch) const {
  if (*document_->at(index_) != '"') throw wanted("a string");
  std::string_view body = document_->quoted(index_);
  body = body.substr(1, body.size() - 2);
  if (!document_->is_escaped(index_)) return body;
  if (scratch.size() < body.size()) scratch.resize(body.size());
  return std::string_view(scratch).substr(0, unescape_json(body, scratch.data()));
}

std::int64_t JsonValue::int64() const {
  std::int64_t value = 0;
  if (parse(document_->scalar(index_), value)) return value;
  if (kind() == JsonKind::integer) throw wanted("an integer of 64 bits");
  throw wanted("an integer");
}

std::uint64_t JsonValue::uint64() const {
  std::uint64_t value = 0;
  const std::string_view text = document_->scalar(index_);
  if (parse(text, value) || text == "-0") return value;
  if (kind() == JsonKind::integer) throw wanted("an unsigned integer of 64 bits");
  throw wanted("an unsigned integer");
}

double JsonValue::real() const {
  double value = 0;
  const char c = *document_->at(index_);
  if (c == '"') {
    const std::string_view text = document_->quoted(index_);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (text == "\"Infinity\"") return infinity;
    if (text == "\"-Infinity\"") return -infinity;
    if (text == "\"NaN\"") return std::numeric_limits<double>::quiet_NaN();
    throw wanted("a number, \"Infinity\", \"-Infinity\" or \"NaN\"");
  }
  if (c != '-' && (c < '0' || c > '9')) throw wanted("a number");
  if (parse(document_->scalar(index_), value)) return value;
  throw wanted("a number that fits into a double");
}

bool JsonValue::boolean() const {
  const char c = *document_->at(index_);
  if (c != 't' && c != 'f') throw wanted("true or false");
  return c == 't';
}

JsonArray JsonValue::array() const {
  if (*document_->at(index_) != '[') throw wanted("an array");
  return {document_, index_ + 2, document_->tokens_[index_ + 1] - 1};
}

JsonObject JsonValue::object() const {
  if (*document_->at(index_) != '{') throw wanted("an object");
  return {document_, index_ + 2, document_->tokens_[index_ + 1] - 1};
}

std::optional<JsonValue> JsonValue::find(std::string_view key) const {
  const JsonObject members = object();
  std::string scratch;  // not the arena of the document: an object may be looked into many times
  for (std::uint32_t at = members.begin_; at != members.end_; at = document_->next(at + 1)) {
    if (JsonValue(document_, at).string(scratch) == key) return JsonValue(document_, at + 1);
  }
  return std::nullopt;
}

JsonValue JsonValue::get(std::string_view key) const {
  if (const std::optional<JsonValue> value = find(key)) return *value;
  throw error(fmt::format("the key {} is missing", quote(key)));
}

std::string_view JsonValue::raw_json() const {
  return document_->raw(index_);
}

Where JsonValue::where() const {
  Where where = document_->where_;
  where.path = document_->path(index_);
  return where;
}

Error JsonValue::error(std::string message, std::string hint) const {
  Diagnostic diagnostic;
  diagnostic.message = std::move(message);
  diagnostic.where = where();
  diagnostic.hint = std::move(hint);
  return Error(std::move(diagnostic));
}

Error JsonValue::wanted(std::string_view what) const {
  std::string found;
  switch (kind()) {
    case JsonKind::object:
      found = document_->next(index_) == index_ + 3 ? "an empty object" : "an object";
      break;
    case JsonKind::array:
      found = document_->next(index_) == index_ + 3 ? "an empty array" : "an array";
      break;
    case JsonKind::string:
      found = shown(document_->string(index_));
      break;
    default:
      found = document_->scalar(index_).substr(0, shown_json_text);
  }
  return error(fmt::format("{} is wanted, found {}", what, found));
}

std::size_t JsonArray::size() const {
  std::size_t count = 0;
  for (auto it = begin(); it != end(); ++it) ++count;
  return count;
}

std::size_t JsonObject::size() const {
  std::size_t count = 0;
  for (auto it = begin(); it != end(); ++it) ++count;
  return count;
}

}  // namespace winze
