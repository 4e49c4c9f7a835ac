// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tsl/robin_map.h>

#include "winze/program/program.h"
#include "winze/support/hash.h"
#include "winze/support/string_map.h"

namespace winze {

/// What the two sides of a comparison share: the renamed expressions of both, and a hash under a
/// secret of its own, so that no two programs can be made that pass for equal.
struct CanonicalContext {
  SymbolicContext symbols;
  SecretHash hash;
};

/// One of two programs that are compared: hashes of its parts in which names of values, numbers of
/// symbols and the identity of the context play no part. Equal parts of both programs have equal
/// hashes, and different ones different hashes but for collisions of 64 bits.
class CanonicalSide {
 public:
  /// `shared` is that of both sides and outlives them.
  CanonicalSide(const ExportedProgram& program, CanonicalContext& shared);

  [[nodiscard]] const ExportedProgram& program() const { return *program_; }
  [[nodiscard]] Context& context() const { return program_->context(); }
  [[nodiscard]] std::uint64_t combine(std::uint64_t hash, std::uint64_t value) const {
    return shared_->hash(hash, value);
  }
  /// The expression with its symbols named by order of their first occurrence.
  SymExpr expression(SymExpr own);
  /// The text of an expression or a symbol with symbols so named: for ranges.
  std::string renamed(std::string_view text);

  std::uint64_t meta(MetaId meta);
  /// Operator with the names of its arguments.
  std::uint64_t op(OpId op);
  /// A constant; values, lists in slots and graphs are not for it.
  std::uint64_t constant(const Argument& argument);
  /// The role of an input; user inputs by their position among each other.
  std::uint64_t input_role(const Node& placeholder, std::uint32_t user_position);
  std::uint64_t output_role(const Argument& spec);
  std::uint64_t text(StringId id);

 private:
  void name_symbols(const Graph& graph);
  void name_symbols(MetaId meta);
  void name_symbols(SymExpr expression);
  SymExpr translate_node(SymExpr own);
  [[nodiscard]] std::uint64_t bytes(std::string_view text) const {
    return shared_->hash.bytes(text);
  }

  const ExportedProgram* program_;
  CanonicalContext* shared_;
  tsl::robin_map<SymExpr, SymExpr, std::hash<SymExpr>> expressions_;
  StringMap<std::string> symbol_names_;
  StringViewMap<std::uint32_t> user_inputs_;  // position by name
  std::vector<bool> named_metas_;
  std::vector<std::uint64_t> metas_;
  std::vector<std::uint64_t> ops_;
};

}  // namespace winze
