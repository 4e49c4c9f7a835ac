// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "winze/ir/ids.h"
#include "winze/ir/meta.h"
#include "winze/program/read_session.h"
#include "winze/support/string_map.h"

namespace winze {

/// A value of a graph in a file: what its table says, and its id once it is defined.
struct ScopeEntry {
  MetaId meta;
  ValueKind kind = ValueKind::unknown;
  ValueId value;  ///< invalid before the definition
};

/// The names of one graph. A nested graph has its own: it sees none of the outer graph.
class ValueScope {
 public:
  /// Reads the value tables (`tensor_values` and the like) of a graph.
  void read_table(ReadSession& session, JsonValue table, ValueKind kind);

  /// Defines a name; an Error at `where` when it is in no table, in the table of another kind, or
  /// defined already.
  MetaId declare(std::string_view name, ValueKind kind, JsonValue where);
  void set_value(std::string_view name, ValueId value);
  /// Takes a name that no argument can refer to: that of an input which is a constant.
  void declare_constant(std::string_view name, JsonValue where);
  /// The entry of a name that is used; an Error at `where` when it is undefined, or defined only
  /// later.
  const ScopeEntry& use(std::string_view name, JsonValue where) const;
  /// The entry of a defined name, or null.
  [[nodiscard]] const ScopeEntry* find(std::string_view name) const;
  /// How many names have a table entry but no definition.
  [[nodiscard]] std::size_t undefined_count() const { return entries_.size() - defined_; }

 private:
  StringViewMap<ScopeEntry> entries_;
  std::size_t defined_ = 0;
};

}  // namespace winze
