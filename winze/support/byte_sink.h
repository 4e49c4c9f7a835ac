// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace winze {

/// Where bytes are written to, in order.
class ByteSink {
 public:
  ByteSink() = default;
  ByteSink(const ByteSink&) = delete;
  ByteSink& operator=(const ByteSink&) = delete;
  virtual ~ByteSink() = default;

  /// Appends the bytes; throws Error when they cannot be written.
  virtual void write(std::span<const std::byte> bytes) = 0;
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  /// Whether nobody sees what was written until a later step says that it is whole, so that writing
  /// may begin before it is known that all of it can be written.
  [[nodiscard]] virtual bool is_transactional() const { return false; }
};

/// Appends to a string that outlives it.
class StringSink final : public ByteSink {
 public:
  explicit StringSink(std::string& text) : text_(text) {}
  using ByteSink::write;
  void write(std::span<const std::byte> bytes) override {
    text_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }

 private:
  std::string& text_;
};

}  // namespace winze
