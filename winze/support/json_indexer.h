// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "winze/support/char_arena.h"
#include "winze/support/json_reader.h"

namespace winze {

/// Bytes of a value or a key that a message shows at most.
inline constexpr std::size_t shown_json_text = 40;

[[nodiscard]] constexpr bool is_json_blank(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/// Appends the text between the quotes of a string literal to `out`, which has room for
/// `body.size()` bytes, and returns its size. `body` was checked by JsonIndexer.
std::size_t unescape_json(std::string_view body, char* out);

/// Checks a JSON text and makes the token table of a JsonDocument. Used by JsonDocument alone.
class JsonIndexer {
 public:
  JsonIndexer(JsonDocument& document, const JsonLimits& limits);
  void run();

 private:
  /// An array or object whose closing bracket has not come yet.
  struct Frame {
    std::uint32_t token;
    std::uint32_t first_key;  ///< of its keys in `keys_`
    bool is_object;
  };
  struct Key {
    const char* text;    ///< unescaped
    std::uint64_t head;  ///< its first eight bytes
    std::uint32_t size;
    std::uint32_t token;
  };

  void find_tokens();
  void read_value();
  bool leave_containers();
  void open(bool is_object);
  void close();
  void read_key();
  void read_string();
  void read_number(const char* at, const char* end);
  void read_word(std::string_view word);
  void check_escapes(std::string_view body);
  void add_key(std::uint32_t token);
  void check_keys(std::uint32_t first_key);

  void emit(std::uint32_t offset) { document_.tokens_[document_.token_count_++] = offset; }
  /// The offset of the token that is read now, and of the one after it.
  [[nodiscard]] std::uint32_t here() const { return offsets_[next_]; }
  [[nodiscard]] std::uint32_t after() const { return offsets_[next_ + 1]; }
  [[nodiscard]] char peek() const { return next_ < count_ ? data_[here()] : '\0'; }
  [[nodiscard]] const char* scalar_end() const;
  [[nodiscard]] std::string found() const;
  [[noreturn]] void fail_at(std::uint32_t offset, std::string message);
  [[noreturn]] void fail_with_path(std::uint32_t token, std::uint32_t offset, std::string message);
  [[noreturn]] void fail_here(std::string_view wanted);
  [[noreturn]] void fail_duplicate(const Key& key);

  JsonDocument& document_;
  const char* data_;
  std::uint32_t size_;
  std::uint32_t max_depth_;
  std::unique_ptr<std::uint32_t[]> offsets_;  ///< of all tokens, from simdjson; ends with the size
  std::uint32_t count_ = 0;
  std::uint32_t next_ = 0;
  const char* next_backslash_ = nullptr;  ///< the first one that is not before the token read now
  std::vector<Frame> frames_;
  std::vector<Key> keys_;  ///< of all open objects
  std::uint64_t seed_ = 0;
};

}  // namespace winze
