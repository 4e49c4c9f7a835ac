// SPDX-License-Identifier: Apache-2.0
#include "winze/support/json_indexer.h"

#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "winze/support/hash.h"
#include "winze/support/quote.h"
#include "winze/support/utf8.h"

namespace winze {
namespace {

/// Objects with more keys are checked for duplicates by hashing, when they end.
constexpr std::size_t few_keys = 12;
constexpr std::uint32_t unfinished = ~std::uint32_t{0};

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool ends_scalar(char c) {
  return is_json_blank(c) || c == ',' || c == ']' || c == '}' || c == ':';
}

constexpr int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// The number of the four hexadecimal digits at `at`, or -1.
int hex4(const char* at, const char* end) {
  if (end - at < 4) return -1;
  int value = 0;
  for (int i = 0; i < 4; ++i) {
    const int digit = hex_value(at[i]);
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

constexpr bool is_high_surrogate(int code) {
  return code >= 0xd800 && code < 0xdc00;
}
constexpr bool is_low_surrogate(int code) {
  return code >= 0xdc00 && code < 0xe000;
}

/// The character that a two-character escape stands for, or NUL when there is no such escape.
constexpr char simple_escape(char c) {
  switch (c) {
    case '"':
    case '\\':
    case '/':
      return c;
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return '\0';
  }
}

char* put_utf8(char* out, char32_t code) {
  std::string text;  // fits without allocation
  append_utf8(text, code);
  return std::copy(text.begin(), text.end(), out);
}

const char* find_backslash(const char* at, const char* end) {
  const void* found =
      at == end ? nullptr : std::memchr(at, '\\', static_cast<std::size_t>(end - at));
  return found == nullptr ? end : static_cast<const char*>(found);
}

/// The first eight bytes of a key, with zeros behind its end. `readable` bytes may be read.
std::uint64_t head_of(const char* text, std::size_t size, std::size_t readable) {
  std::uint64_t head = 0;
  if (std::endian::native == std::endian::big || readable < sizeof head) {
    std::memcpy(&head, text, std::min(size, sizeof head));
    return head;
  }
  // A copy of fixed size is one load; what was read too much is cut off.
  std::memcpy(&head, text, sizeof head);
  if (size < sizeof head) head &= (std::uint64_t{1} << (8 * size)) - 1;
  return head;
}

}  // namespace

std::size_t unescape_json(std::string_view body, char* out) {
  const char* at = body.data();
  const char* end = at + body.size();
  char* const begin = out;
  while (true) {
    const char* stop = find_backslash(at, end);
    std::memcpy(out, at, static_cast<std::size_t>(stop - at));
    out += stop - at;
    if (stop == end) break;
    if (const char simple = simple_escape(stop[1]); simple != '\0') {
      *out++ = simple;
      at = stop + 2;
      continue;
    }
    int code = hex4(stop + 2, end);
    at = stop + 6;
    if (is_high_surrogate(code)) {
      code = 0x10000 + ((code - 0xd800) << 10) + (hex4(at + 2, end) - 0xdc00);
      at += 6;
    }
    out = put_utf8(out, static_cast<char32_t>(code));
  }
  return static_cast<std::size_t>(out - begin);
}

JsonIndexer::JsonIndexer(JsonDocument& document, const JsonLimits& limits)
    : document_(document), data_(document.data_), size_(0), max_depth_(limits.max_depth) {
  const std::size_t size = document.text_.size();
  if (const std::uint64_t most = std::min(limits.max_size, JsonLimits{}.max_size); size > most) {
    fail_at(0, fmt::format("the JSON text has {} bytes, more than the {} allowed", size, most));
  }
  size_ = static_cast<std::uint32_t>(size);
}

void JsonIndexer::run() {
  find_tokens();
  // Opening brackets take two entries. Except for those still open in a faulty text, each has a
  // closing one, so that at most half of the tokens open.
  const std::uint64_t most = std::uint64_t{count_} + count_ / 2 + max_depth_ + 4;
  if (most >= unfinished) fail_at(0, fmt::format("the JSON text has too many tokens: {}", count_));
  document_.tokens_.reset(new std::uint32_t[most]);
  document_.escaped_ = std::make_unique<std::uint64_t[]>(most / 64 + 1);
  next_backslash_ = find_backslash(data_, data_ + size_);
  do {
    read_value();
  } while (leave_containers());
  if (next_ < count_) fail_here("the end of the text");
  document_.tokens_[document_.token_count_] = size_;
}

/// Uses simdjson's first stage alone, which checks UTF-8 and finds tokens at gigabytes a second.
/// simdjson marks it as its own: no function that it documents gives the places of the tokens,
/// without which values could be read only once and in order (On-Demand), or only after a copy of
/// the text and a second pass over it (DOM). The first stage neither needs padding nor keeps the
/// text.
void JsonIndexer::find_tokens() {
  if (size_ == 0) fail_at(0, "the JSON text is empty");
  std::unique_ptr<simdjson::internal::dom_parser_implementation> parser;
  simdjson::error_code code =
      simdjson::get_active_implementation()->create_dom_parser_implementation(
          std::max<std::size_t>(size_, 64), 1, parser);
  if (code == simdjson::SUCCESS) {
    code = parser->stage1(reinterpret_cast<const std::uint8_t*>(data_), size_,
                          simdjson::stage1_mode::regular);
  }
  if (code == simdjson::SUCCESS) {
    offsets_ = std::move(parser->structural_indexes);
    count_ = parser->n_structural_indexes;
    offsets_[count_] = size_;
    return;
  }
  const std::string_view text(data_, size_);
  const std::size_t valid = valid_utf8_size(text);
  if (code == simdjson::EMPTY) fail_at(0, "the JSON text is empty");
  if (valid < text.size())
    fail_at(static_cast<std::uint32_t>(valid), "the JSON text is not valid UTF-8");
  if (code == simdjson::UNCLOSED_STRING) fail_at(size_, "the JSON text ends inside of a string");
  if (code == simdjson::UNESCAPED_CHARS) {
    fail_at(size_, "a string of the JSON text holds a control character that is not escaped");
  }
  if (code == simdjson::MEMALLOC) fail_at(0, "there is not enough memory to read the JSON text");
  fail_at(0, fmt::format("the JSON text cannot be read: {}", simdjson::error_message(code)));
}

/// Reads a value, or the beginning of one up to the first scalar or empty container inside it.
void JsonIndexer::read_value() {
  while (true) {
    const char c = peek();
    if (c == '{') {
      open(true);
      if (peek() == '}') return close();
      read_key();
    } else if (c == '[') {
      open(false);
      if (peek() == ']') return close();
    } else if (c == '"') {
      return read_string();
    } else if (c == '-' || is_digit(c)) {
      return read_number(data_ + here(), scalar_end());
    } else if (c == 't') {
      return read_word("true");
    } else if (c == 'f') {
      return read_word("false");
    } else if (c == 'n') {
      return read_word("null");
    } else {
      fail_here("a value");
    }
  }
}

/// After a value: closes what ends here. Returns whether another value follows.
bool JsonIndexer::leave_containers() {
  while (!frames_.empty()) {
    const bool is_object = frames_.back().is_object;
    const char c = peek();
    if (c == ',') {
      ++next_;
      if (is_object) read_key();
      return true;
    }
    if (c != (is_object ? '}' : ']'))
      fail_here(is_object ? "a comma or \"}\"" : "a comma or \"]\"");
    close();
  }
  return false;
}

void JsonIndexer::open(bool is_object) {
  if (frames_.size() >= max_depth_) {
    fail_at(here(), fmt::format("arrays and objects are nested more than {} deep", max_depth_));
  }
  frames_.push_back({document_.token_count_, static_cast<std::uint32_t>(keys_.size()), is_object});
  emit(here());
  emit(unfinished);
  ++next_;
}

void JsonIndexer::close() {
  const Frame frame = frames_.back();
  if (frame.is_object) {
    if (keys_.size() - frame.first_key > few_keys) check_keys(frame.first_key);
    keys_.resize(frame.first_key);
  }
  frames_.pop_back();
  emit(here());
  ++next_;
  document_.tokens_[frame.token + 1] = document_.token_count_;
}

void JsonIndexer::read_key() {
  if (peek() != '"') fail_here("a key");
  const std::uint32_t token = document_.token_count_;
  read_string();
  if (peek() != ':') fail_here("a colon");
  ++next_;
  add_key(token);
}

void JsonIndexer::read_string() {
  const std::uint32_t begin = here();
  std::uint32_t end = after();  // of the next token; between are blanks alone
  do {
    --end;
  } while (is_json_blank(data_[end]));
  if (end == begin || data_[end] != '"') fail_here("a string");
  if (next_backslash_ < data_ + begin)
    next_backslash_ = find_backslash(data_ + begin, data_ + size_);
  if (next_backslash_ < data_ + end) {
    check_escapes({data_ + begin + 1, end - begin - 1});
    const std::uint32_t token = document_.token_count_;
    document_.escaped_[token / 64] |= std::uint64_t{1} << (token % 64);
  }
  emit(begin);
  ++next_;
}

void JsonIndexer::check_escapes(std::string_view body) {
  const char* end = body.data() + body.size();
  for (const char* at = next_backslash_; at < end; at = find_backslash(at, end)) {
    const auto fail_escape = [&](std::size_t size, std::string_view what) {
      const std::string_view escape(
          at, std::min<std::size_t>(size, static_cast<std::size_t>(end - at)));
      fail_at(static_cast<std::uint32_t>(at - data_), fmt::format("{} {}", what, quote(escape)));
    };
    if (end - at < 2) fail_escape(1, "unknown escape");
    if (simple_escape(at[1]) != '\0') {
      at += 2;
      continue;
    }
    if (at[1] != 'u') fail_escape(2, "unknown escape");
    const int code = hex4(at + 2, end);
    if (code < 0) fail_escape(6, "unknown escape");
    if (is_low_surrogate(code)) fail_escape(6, "half of a surrogate pair alone:");
    if (is_high_surrogate(code)) {
      const bool paired =
          end - at >= 12 && at[6] == '\\' && at[7] == 'u' && is_low_surrogate(hex4(at + 8, end));
      if (!paired) fail_escape(6, "half of a surrogate pair alone:");
      at += 6;
    }
    at += 6;
  }
  next_backslash_ = end;
}

const char* JsonIndexer::scalar_end() const {
  const char* end = data_ + after();
  const char* at = data_ + here();
  while (at < end && !ends_scalar(*at)) ++at;
  return at;
}

void JsonIndexer::read_number(const char* at, const char* end) {
  const auto digits = [&] {
    const char* first = at;
    while (at < end && is_digit(*at)) ++at;
    return at > first;
  };
  if (*at == '-') ++at;
  const bool zero = at < end && *at == '0';
  const char* first = at;
  bool valid = digits() && !(zero && at - first > 1);
  if (valid && at < end && *at == '.') {
    ++at;
    valid = digits();
  }
  if (valid && at < end && (*at == 'e' || *at == 'E')) {
    ++at;
    if (at < end && (*at == '+' || *at == '-')) ++at;
    valid = digits();
  }
  if (!valid || at != end) fail_here("a number");
  emit(here());
  ++next_;
}

void JsonIndexer::read_word(std::string_view word) {
  const char* begin = data_ + here();
  if (std::string_view(begin, static_cast<std::size_t>(scalar_end() - begin)) != word)
    fail_here("a value");
  emit(here());
  ++next_;
}

void JsonIndexer::add_key(std::uint32_t token) {
  Key key{};
  // The table has no token after the key yet: its end is before the colon.
  const std::uint32_t begin = document_.tokens_[token] + 1;
  std::uint32_t end = offsets_[next_ - 1];
  do {
    --end;
  } while (data_[end] != '"');
  key.token = token;
  key.text = data_ + begin;
  key.size = end - begin;
  std::size_t readable = size_ - begin;
  if (document_.is_escaped(token)) {
    char* text = document_.unescaped_.allocate(key.size);
    const std::size_t size = unescape_json({key.text, key.size}, text);
    document_.unescaped_.shrink(key.size - size);
    key.text = text;
    key.size = static_cast<std::uint32_t>(size);
    readable = size;
  }
  key.head = head_of(key.text, key.size, readable);
  const std::size_t first = frames_.back().first_key;
  if (keys_.size() - first < few_keys) {
    for (std::size_t i = first; i < keys_.size(); ++i) {
      const Key& other = keys_[i];
      if (other.head == key.head && other.size == key.size &&
          std::memcmp(other.text, key.text, key.size) == 0) {
        fail_duplicate(key);
      }
    }
  }
  keys_.push_back(key);
}

/// Looks for a key that comes twice among those from `first_key` on, by hashing.
void JsonIndexer::check_keys(std::uint32_t first_key) {
  const std::size_t count = keys_.size() - first_key;
  std::size_t slots = 1;
  while (slots < 2 * count) slots *= 2;
  std::vector<std::uint32_t> table(slots, unfinished);
  // Random, so that hostile keys do not fall into one place.
  if (seed_ == 0) seed_ = random_seed() | 1U;
  for (std::size_t i = first_key; i < keys_.size(); ++i) {
    const Key& key = keys_[i];
    std::size_t slot = hash_bytes({key.text, key.size}, seed_) & (slots - 1);
    for (; table[slot] != unfinished; slot = (slot + 1) & (slots - 1)) {
      const Key& other = keys_[table[slot]];
      if (other.head == key.head && other.size == key.size &&
          std::memcmp(other.text, key.text, key.size) == 0) {
        fail_duplicate(key);
      }
    }
    table[slot] = static_cast<std::uint32_t>(i);
  }
}

void JsonIndexer::fail_duplicate(const Key& key) {
  const std::string_view shown(key.text, std::min<std::size_t>(key.size, shown_json_text));
  fail_with_path(key.token, document_.tokens_[key.token],
                 fmt::format("the key {} comes twice in one object", quote(shown)));
}

std::string JsonIndexer::found() const {
  if (next_ >= count_) return "the end of the text";
  std::string_view text(data_ + here(), std::min<std::size_t>(after() - here(), shown_json_text));
  while (text.size() > 1 && is_json_blank(text.back())) text.remove_suffix(1);
  return quote(text);
}

void JsonIndexer::fail_here(std::string_view wanted) {
  fail_at(next_ < count_ ? here() : size_, fmt::format("{} is wanted, found {}", wanted, found()));
}

void JsonIndexer::fail_at(std::uint32_t offset, std::string message) {
  // The token that is read now ends the table, so that what is before it has a path.
  if (!frames_.empty()) document_.tokens_[document_.token_count_] = next_ < count_ ? here() : size_;
  fail_with_path(document_.token_count_, offset, std::move(message));
}

void JsonIndexer::fail_with_path(std::uint32_t token, std::uint32_t offset, std::string message) {
  Diagnostic diagnostic;
  diagnostic.message = fmt::format("{} (byte {})", message, offset);
  diagnostic.where = document_.where_;
  if (!frames_.empty()) diagnostic.where.path = document_.path(token);
  throw Error(std::move(diagnostic));
}

}  // namespace winze
