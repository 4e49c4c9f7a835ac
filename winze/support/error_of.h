// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <string>

#include "winze/support/diagnostic.h"

namespace winze {

/// For tests: the text of the Error that `act` throws; empty where it throws none.
template <std::invocable Act>
[[nodiscard]] std::string error_of(Act&& act) {
  try {
    static_cast<void>(act());
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace winze
