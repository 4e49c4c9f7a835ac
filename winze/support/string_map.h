// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include <tsl/robin_map.h>
#include <tsl/robin_set.h>

#include "winze/support/hash.h"

namespace winze {

/// Hashes text that may come from a file: under a secret, so that no names can be chosen that
/// collide.
struct TextHash {
  using is_transparent = void;  // NOLINT(readability-identifier-naming): the standard looks for it
  std::size_t operator()(std::string_view text) const { return hash_bytes(text, process_secret()); }
};

/// Tables by text, which can be asked with any kind of string. The order of their entries differs
/// from run to run. Those of views refer to text that outlives them.
template <typename Value>
using StringMap = tsl::robin_map<std::string, Value, TextHash, std::equal_to<>>;
using StringSet = tsl::robin_set<std::string, TextHash, std::equal_to<>>;
template <typename Value>
using StringViewMap = tsl::robin_map<std::string_view, Value, TextHash, std::equal_to<>>;
using StringViewSet = tsl::robin_set<std::string_view, TextHash, std::equal_to<>>;

}  // namespace winze
