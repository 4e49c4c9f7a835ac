// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "winze/schema/name_hash.h"

namespace winze {

/// The operator table that is compiled in. Constant data without relocations: it costs nothing
/// until it is read. Written by schemas/generate_op_table.cpp.
struct OpTable {
  std::string_view torch_version;
  const char* lines;                 ///< the lines of the table, one after the other
  const std::uint32_t* line_starts;  ///< count + 1 offsets
  const char* names;                 ///< qualified names, one after the other
  const std::uint32_t* name_starts;  ///< count + 1 offsets
  const std::uint16_t* slots;  ///< open addressing by hash_op_name; index + 1, or 0 where free
  std::uint32_t slot_count;    ///< a power of two
  std::uint32_t count;

  /// `aten::add.Tensor(...) -> Tensor [core]`
  [[nodiscard]] std::string_view line(std::uint32_t index) const {
    return {lines + line_starts[index], line_starts[index + 1] - line_starts[index]};
  }
  /// `aten.add.Tensor`
  [[nodiscard]] std::string_view name(std::uint32_t index) const {
    return {names + name_starts[index], name_starts[index + 1] - name_starts[index]};
  }
  /// The index of a qualified name, or `count`.
  [[nodiscard]] std::uint32_t find(std::string_view qualified_name) const {
    auto slot = static_cast<std::uint32_t>(hash_op_name(qualified_name)) & (slot_count - 1);
    for (; slots[slot] != 0; slot = (slot + 1) & (slot_count - 1)) {
      std::uint32_t index = slots[slot] - 1U;
      if (name(index) == qualified_name) return index;
    }
    return count;
  }
};

/// The table that is compiled in.
extern const OpTable built_in_op_table;

}  // namespace winze
