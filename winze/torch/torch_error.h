// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>
#include <utility>

#include <c10/util/Exception.h>

#include "winze/support/diagnostic.h"

namespace winze {

/// What went wrong, in PyTorch's words, without what says where in C++ it was raised.
[[nodiscard]] std::string message_of(const std::exception& error);

/// Calls a function and turns an exception of libtorch's into an Error.
template <typename Function>
decltype(auto) with_torch_errors(Function&& function) {
  try {
    return std::forward<Function>(function)();
  } catch (const c10::Error& error) {
    throw Error(message_of(error));
  }
}

}  // namespace winze
