// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "winze/support/diagnostic.h"

namespace winze {

/// What `read` gives, or nothing where it refuses its input with an Error. An InternalError is a
/// fault of Winze and passes, and so must every Error of what is done afterwards with what was
/// read.
template <typename Read>
auto unless_refused(const Read& read) -> std::optional<decltype(read())> {
  try {
    return read();
  } catch (const Error& error) {
    WINZE_CHECK(!error.diagnostic().message.empty(), "an input was refused without a word");
    return std::nullopt;
  }
}

}  // namespace winze
