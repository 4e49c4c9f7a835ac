// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "winze/program/pickle_reader.h"

namespace winze {

/// A global that may be called, with what the call makes of its arguments.
struct PickleCall {
  std::string_view name;
  PickleKind result;
  std::size_t min_arguments;
  std::size_t max_arguments;
};

/// Calls another of these and gives the result a class and attributes: how a tensor is stored that
/// attributes were set on, as export does with the inputs that `Dim.DYNAMIC` and `Dim.AUTO`
/// describe (torch/_tensor.py).
inline constexpr std::string_view pickle_rebuild_from_type = "torch._tensor._rebuild_from_type_v2";
inline constexpr std::string_view pickle_tensor_class = "torch.Tensor";

/// The whole name, where a pickle may refer to that global.
[[nodiscard]] std::optional<std::string_view> find_pickle_global(std::string_view module,
                                                                 std::string_view name);

/// Null where the global of that whole name may not be called.
[[nodiscard]] const PickleCall* find_pickle_call(std::string_view name);

}  // namespace winze
