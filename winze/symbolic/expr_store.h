// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "winze/support/hash.h"
#include "winze/symbolic/sym_expr.h"
#include "winze/symbolic/sym_op.h"
#include "winze/symbolic/symbol_table.h"

namespace winze {

/// The hash-consed nodes of a context: equal nodes are stored once, so that equality of expressions
/// is equality of indices. Operands always have smaller indices than the node that uses them.
class ExprStore {
 public:
  struct Node {
    std::uint64_t hash = 0;   ///< of the structure alone: the same in every context and run
    std::uint64_t key = 0;    ///< the first bytes of the name of `lead`, which order as it does
    std::uint32_t first = 0;  ///< of the operands or the payload in the pool; a symbol's number
    std::uint32_t count = 0;  ///< of operands; 0 for atoms
    std::uint32_t lead = no_symbol;  ///< the symbol in it whose name is the smallest
    SymOp op = SymOp::integer;
    SymKind kind = SymKind::int_kind;
    std::uint16_t depth = 0;  ///< 1 + that of the deepest operand, at most 65535
  };
  static constexpr std::uint32_t no_symbol = ~std::uint32_t{0};

  ExprStore();

  [[nodiscard]] const Node& node(SymExpr expr) const { return nodes_[expr.index()]; }
  [[nodiscard]] std::span<const SymExpr> operands(SymExpr expr) const {
    const Node& found = node(expr);
    if (found.count == 0) return {};  // `first` of an atom is no place of operands
    return {pool_.data() + found.first, found.count};
  }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] SymbolTable& symbols() { return symbols_; }
  [[nodiscard]] const SymbolTable& symbols() const { return symbols_; }

  /// Operands handled so far: a measure of the work done, by which a reader bounds what a text may
  /// cost.
  [[nodiscard]] std::uint64_t work() const { return work_; }
  void add_work(std::uint64_t operands) { work_ += operands; }
  /// Bytes held by nodes, operands and the table.
  [[nodiscard]] std::size_t memory() const;

  /// Finds or makes the node. The operands must be canonical for `op`; `operands` may point into
  /// the store.
  SymExpr intern(SymOp op, SymKind kind, std::span<const SymExpr> operands);
  SymExpr intern_symbol(std::string_view name, SymbolAssumptions assumptions);
  SymExpr intern_float(double value);
  SymExpr intern_rational(std::int64_t numerator, std::int64_t denominator);
  /// One of true, false, the infinities and nan.
  [[nodiscard]] static SymExpr atom(SymOp op);

  [[nodiscard]] double float_value(SymExpr expr) const;
  [[nodiscard]] std::int64_t numerator(SymExpr expr) const;
  [[nodiscard]] std::int64_t denominator(SymExpr expr) const;

  /// A total order that does not depend on the order of creation (but for a collision of 64-bit
  /// hashes): integers first, then by leading symbol name, depth, operation, hash. Constant time.
  [[nodiscard]] bool before(SymExpr a, SymExpr b) const;
  /// A number by which most pairs are told apart without looking at their nodes: where the keys
  /// differ they order as `before` does. Not for integers.
  [[nodiscard]] std::uint64_t sort_key(SymExpr expr) const { return node(expr).key; }

 private:
  [[nodiscard]] bool lead_before(std::uint32_t a, std::uint32_t b) const;
  SymExpr find_or_add(SymOp op, SymKind kind, std::span<const SymExpr> content, bool is_payload);
  std::uint32_t append(std::span<const SymExpr> content);
  /// The operands of a node, or the payload.
  [[nodiscard]] std::span<const SymExpr> content(const Node& node) const;
  /// Where in the table the search for a node begins. The hash of the structure decides the order
  /// of operands and so has no secret: expressions could be made for which it is the same.
  [[nodiscard]] std::size_t first_slot(SymOp op, std::span<const SymExpr> content) const;
  void grow();

  std::vector<Node> nodes_;
  std::vector<SymExpr> pool_;
  std::vector<std::uint32_t> table_;  ///< open addressing, linear probing; index + 1, 0 is free
  SecretHash combine_;
  SymbolTable symbols_;
  std::uint64_t work_ = 0;
};

}  // namespace winze
