// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "winze/ir/graph.h"

namespace winze {

/// Names of a graph's values that are all different: the given name, with `_1`, `_2`, ... behind it
/// where an earlier value has it already. Values without a name are numbered in order. Nested
/// graphs have names of their own. Of one moment: edits make it stale.
class ValueNames {
 public:
  /// O(nodes).
  explicit ValueNames(const Graph& graph);

  /// The name, or a string that is not valid for a value without one.
  [[nodiscard]] StringId name(ValueId value) const { return names_[value.index]; }
  /// Position among the values without a name, from 0.
  [[nodiscard]] std::uint32_t number(ValueId value) const { return numbers_[value.index]; }
  /// `%x`, `%"a b"`, `%0`.
  void append(std::string& out, ValueId value) const;

 private:
  void rename_duplicates(const std::vector<ValueId>& duplicates, const Graph& graph);

  const Context* context_;
  std::vector<StringId> names_;
  std::vector<std::uint32_t> numbers_;
};

/// Appends `%` and the name, quoted where it is no word.
void append_value_name(std::string& out, std::string_view name);

}  // namespace winze
