// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace winze {

/// XXH3-128 of the bytes as 32 lower-case hexadecimal digits (as the command `xxh128sum` prints
/// it). Not cryptographic: it tells files apart, it does not prove who made them.
[[nodiscard]] std::string digest(std::string_view bytes);

/// The same over bytes that come in pieces.
class Digester {
 public:
  Digester();
  ~Digester();
  Digester(const Digester&) = delete;
  Digester& operator=(const Digester&) = delete;
  void update(std::string_view bytes);
  [[nodiscard]] std::string digest() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace winze
