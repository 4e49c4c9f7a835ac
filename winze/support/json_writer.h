// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace winze {

/// How a JsonWriter separates.
enum class JsonStyle : std::uint8_t {
  python,   ///< `", "` and `": "`, as Python's `json.dumps` does by default
  compact,  ///< `","` and `":"`
};

/// Appends JSON to a string, byte for byte as Python's `json.dumps` with `ensure_ascii` would write
/// the same values. Commas and colons come by themselves; that arrays and objects are closed in
/// turn and that every key has one value is the caller's business (checked by InternalError for
/// nesting above 512 and for closing what is not open).
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out, JsonStyle style = JsonStyle::python)
      : out_(out), compact_(style == JsonStyle::compact) {}

  void begin_object();
  void end_object();
  void begin_array();
  void end_array();
  /// The key of the next value. UTF-8; an invalid sequence throws Error.
  void key(std::string_view name);
  /// A key that is known to need no escapes, such as a schema's field name.
  void plain_key(std::string_view name);

  void string(std::string_view text);
  void integer(std::int64_t value);
  void unsigned_integer(std::uint64_t value);
  /// As Python's repr; infinities and NaN as the strings "Infinity", "-Infinity", "NaN", which is
  /// how torch.export writes them.
  void real(double value);
  void boolean(bool value);
  void null();
  /// A value that is JSON text already, written as it is.
  void raw(std::string_view json);

 private:
  void separate();
  void open(char bracket);
  void close(char bracket);

  std::string& out_;
  bool compact_;
  bool first_ = true;       ///< nothing stands before the next value in its array or object
  bool after_key_ = false;  ///< the next value belongs to a key
  std::uint32_t depth_ = 0;
};

/// Appends a JSON string literal with its quotes, as Python's `json.dumps` with `ensure_ascii`
/// writes it. Throws Error for invalid UTF-8.
void append_json_string(std::string& out, std::string_view text);

}  // namespace winze
