// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "winze/support/bytes.h"
#include "winze/support/char_arena.h"
#include "winze/support/diagnostic.h"

namespace winze {

enum class JsonKind : std::uint8_t { null, boolean, integer, real, string, array, object };

/// Bounds on what a document may ask for.
struct JsonLimits {
  std::uint32_t max_depth = 256;  ///< nested arrays and objects
  /// Bytes. Never above 4 GiB: simdjson's offsets have 32 bits. Indexing takes up to eight bytes of
  /// memory for each byte of a text of nothing but brackets, about one for a program.
  std::uint64_t max_size = (std::uint64_t{1} << 32U) - 1;
};

class JsonArray;
class JsonObject;
class JsonDocument;

/// A value of a document: a small handle to pass by value, valid as long as the document lives.
/// Values can be read in any order and any number of times. Every getter throws Error with file,
/// record and JSON path when the value is not of the wanted kind.
class JsonValue {
 public:
  [[nodiscard]] JsonKind kind() const;
  [[nodiscard]] bool is_null() const { return kind() == JsonKind::null; }
  [[nodiscard]] bool is_string() const { return kind() == JsonKind::string; }
  [[nodiscard]] bool is_object() const { return kind() == JsonKind::object; }
  [[nodiscard]] bool is_array() const { return kind() == JsonKind::array; }

  /// The string, unescaped, as UTF-8. Points into the text, or where there were escapes into memory
  /// that the document keeps.
  [[nodiscard]] std::string_view string() const;
  /// The same, but unescaped text goes to `scratch`: keeps memory flat where strings are interned.
  [[nodiscard]] std::string_view string(std::string& scratch) const;
  [[nodiscard]] std::int64_t int64() const;
  [[nodiscard]] std::uint64_t uint64() const;
  /// Any number, rounded to the nearest double, or one of "Infinity", "-Infinity", "NaN" as a
  /// string.
  [[nodiscard]] double real() const;
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] JsonArray array() const;
  [[nodiscard]] JsonObject object() const;
  /// The member with that key, or nothing; linear in the members. Throws Error when not an object.
  [[nodiscard]] std::optional<JsonValue> find(std::string_view key) const;
  /// The member with that key; throws Error when there is none.
  [[nodiscard]] JsonValue get(std::string_view key) const;

  /// The exact bytes of the value, without blanks around it.
  [[nodiscard]] std::string_view raw_json() const;

  /// File, record and JSON path, such as `graph_module.graph.nodes[3].inputs[0].arg`. Walks the
  /// document: for errors only.
  [[nodiscard]] Where where() const;
  /// An Error at this value.
  [[nodiscard]] Error error(std::string message, std::string hint = {}) const;
  /// An Error that says what was wanted and quotes what stands here: "a string is wanted, found 3".
  [[nodiscard]] Error wanted(std::string_view what) const;

 private:
  friend class JsonArray;
  friend class JsonDocument;
  friend class JsonObject;
  friend class JsonIndexer;
  JsonValue(const JsonDocument* document, std::uint32_t index)
      : document_(document), index_(index) {}

  const JsonDocument* document_;
  std::uint32_t index_;  ///< of the token
};

/// The elements of an array, for range-for.
class JsonArray {
 public:
  class Iterator {
   public:
    JsonValue operator*() const { return {document_, index_}; }
    Iterator& operator++();
    bool operator==(const Iterator& other) const { return index_ == other.index_; }
    bool operator!=(const Iterator& other) const { return index_ != other.index_; }

   private:
    friend class JsonArray;
    Iterator(const JsonDocument* document, std::uint32_t index)
        : document_(document), index_(index) {}
    const JsonDocument* document_;
    std::uint32_t index_;
  };
  [[nodiscard]] Iterator begin() const { return {document_, begin_}; }
  [[nodiscard]] Iterator end() const { return {document_, end_}; }
  [[nodiscard]] bool empty() const { return begin_ == end_; }
  /// Counts the elements: linear.
  [[nodiscard]] std::size_t size() const;

 private:
  friend class JsonValue;
  JsonArray(const JsonDocument* document, std::uint32_t begin, std::uint32_t end)
      : document_(document), begin_(begin), end_(end) {}
  const JsonDocument* document_;
  std::uint32_t begin_;
  std::uint32_t end_;
};

/// A key, unescaped, and its value.
struct JsonField {
  std::string_view key;
  JsonValue value;
};

/// The members of an object in the order of the text, for range-for. Keys are unique.
class JsonObject {
 public:
  class Iterator {
   public:
    JsonField operator*() const;
    Iterator& operator++();
    bool operator==(const Iterator& other) const { return index_ == other.index_; }
    bool operator!=(const Iterator& other) const { return index_ != other.index_; }

   private:
    friend class JsonObject;
    Iterator(const JsonDocument* document, std::uint32_t index)
        : document_(document), index_(index) {}
    const JsonDocument* document_;
    std::uint32_t index_;  ///< of the key; the value follows
  };
  [[nodiscard]] Iterator begin() const { return {document_, begin_}; }
  [[nodiscard]] Iterator end() const { return {document_, end_}; }
  [[nodiscard]] bool empty() const { return begin_ == end_; }
  /// Counts the members: linear.
  [[nodiscard]] std::size_t size() const;

 private:
  friend class JsonValue;
  JsonObject(const JsonDocument* document, std::uint32_t begin, std::uint32_t end)
      : document_(document), begin_(begin), end_(end) {}
  const JsonDocument* document_;
  std::uint32_t begin_;
  std::uint32_t end_;
};

/// A JSON text, checked as a whole when made: grammar, UTF-8, escapes, unique keys, nesting.
/// simdjson's first stage finds the tokens and checks UTF-8; what is kept is one 32-bit offset a
/// token. Neither of simdjson's own readers fits: its DOM loses the text of what it read (unknown
/// fields must be kept byte for byte, integers may be larger than 64 bits), its on-demand reader
/// does not check what is skipped, cannot be read twice, and copies every string.
///
/// Not for use by two threads at once: strings with escapes are unescaped into a shared arena.
class JsonDocument {
 public:
  /// Checks the text and makes it readable. `where` gives file and record for errors. Throws Error.
  explicit JsonDocument(Bytes text, Where where = {}, JsonLimits limits = {});
  JsonDocument(const JsonDocument&) = delete;
  JsonDocument& operator=(const JsonDocument&) = delete;
  ~JsonDocument() = default;

  [[nodiscard]] JsonValue root() const { return {this, 0}; }
  [[nodiscard]] const Bytes& text() const { return text_; }

 private:
  friend class JsonArray::Iterator;
  friend class JsonIndexer;
  friend class JsonObject;
  friend class JsonObject::Iterator;
  friend class JsonValue;

  [[nodiscard]] const char* at(std::uint32_t index) const { return data_ + tokens_[index]; }
  [[nodiscard]] bool is_escaped(std::uint32_t index) const {
    return (escaped_[index / 64] >> (index % 64) & 1U) != 0;
  }
  /// The token after the value at `index`, with all that is inside it.
  [[nodiscard]] std::uint32_t next(std::uint32_t index) const {
    const char c = *at(index);
    return c == '[' || c == '{' ? tokens_[index + 1] : index + 1;
  }
  [[nodiscard]] std::string_view scalar(std::uint32_t index) const;
  [[nodiscard]] std::string_view quoted(std::uint32_t index) const;
  [[nodiscard]] std::string_view string(std::uint32_t index) const;
  [[nodiscard]] std::string_view raw(std::uint32_t index) const;
  [[nodiscard]] std::string path(std::uint32_t index) const;

  Bytes text_;
  Where where_;
  const char* data_ = nullptr;
  /// One entry a token: the offset of its first byte. A bracket that opens has a second one, the
  /// index of the token behind the bracket that closes it. Commas and colons have none. A last
  /// entry holds the size of the text.
  std::unique_ptr<std::uint32_t[]> tokens_;
  std::uint32_t token_count_ = 0;
  std::unique_ptr<std::uint64_t[]>
      escaped_;  ///< a bit a token: whether it is a string with escapes
  mutable CharArena unescaped_;
};

inline JsonArray::Iterator& JsonArray::Iterator::operator++() {
  index_ = document_->next(index_);
  return *this;
}

inline JsonField JsonObject::Iterator::operator*() const {
  return {document_->string(index_), JsonValue(document_, index_ + 1)};
}

inline JsonObject::Iterator& JsonObject::Iterator::operator++() {
  index_ = document_->next(index_ + 1);
  return *this;
}

}  // namespace winze
