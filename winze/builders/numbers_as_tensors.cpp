// SPDX-License-Identifier: Apache-2.0
#include "winze/builders/numbers_as_tensors.h"

#include <algorithm>
#include <array>

namespace winze {

bool allows_numbers_as_tensors(std::string_view name) {
  static constexpr std::array<std::string_view, 12> names = {
      "_conj",        "_to_copy", "add",      "copy_", "div",      "divide",
      "floor_divide", "mul",      "multiply", "sub",   "subtract", "true_divide"};
  const auto is_known = [](std::string_view each) {
    return std::ranges::find(names, each) != names.end();
  };
  if (is_known(name) || name == "to") return true;
  return name.ends_with('_') && name != "_conj_" && is_known(name.substr(0, name.size() - 1));
}

}  // namespace winze
