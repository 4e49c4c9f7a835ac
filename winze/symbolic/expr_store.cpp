// SPDX-License-Identifier: Apache-2.0
#include "winze/symbolic/expr_store.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace winze {
namespace {

constexpr std::uint32_t none = ~std::uint32_t{0};

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15U;
  return hash ^ (hash >> 29);
}

std::uint64_t hash_text(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

std::uint64_t name_key(std::string_view name) {
  std::uint64_t key = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    key = key << 8 | (i < name.size() ? static_cast<unsigned char>(name[i]) : 0U);
  }
  return key;
}

constexpr SymOp fixed_atoms[] = {
    SymOp::true_constant,    SymOp::false_constant,
    SymOp::int_infinity,     SymOp::negative_int_infinity,
    SymOp::infinity,         SymOp::negative_infinity,
    SymOp::complex_infinity, SymOp::nan,
};

}  // namespace

ExprStore::ExprStore() {
  grow();
  for (const SymOp op : fixed_atoms) intern(op, *sym_op_info(op).kind, {});
}

SymExpr ExprStore::atom(SymOp op) {
  const auto* found = std::ranges::find(fixed_atoms, op);
  return SymExpr::from_index(static_cast<std::uint32_t>(found - fixed_atoms));
}

std::size_t ExprStore::memory() const {
  return nodes_.capacity() * sizeof(Node) + pool_.capacity() * sizeof(SymExpr) +
         table_.capacity() * sizeof(std::uint32_t);
}

SymExpr ExprStore::intern(SymOp op, SymKind kind, std::span<const SymExpr> operands) {
  return find_or_add(op, kind, operands, false);
}

SymExpr ExprStore::intern_float(double value) {
  const SymExpr payload = SymExpr::from_bits(std::bit_cast<std::uint64_t>(value));
  return find_or_add(SymOp::float_constant, SymKind::float_kind, {&payload, 1}, true);
}

SymExpr ExprStore::intern_rational(std::int64_t numerator, std::int64_t denominator) {
  const SymExpr payload[] = {SymExpr::from_bits(static_cast<std::uint64_t>(numerator)),
                             SymExpr::from_bits(static_cast<std::uint64_t>(denominator))};
  return find_or_add(SymOp::rational, SymKind::float_kind, payload, true);
}

SymExpr ExprStore::intern_symbol(std::string_view name, SymbolAssumptions assumptions) {
  constexpr std::size_t longest_name = 1000;  // names are compared whenever operands are sorted
  if (name.empty()) fail("a symbol needs a name");
  if (name.size() > longest_name) {
    fail("the symbol name `{}…` is longer than {} bytes", name.substr(0, 40), longest_name);
  }
  const std::uint32_t number = symbols_.declare(name, assumptions);
  SymbolTable::Symbol& symbol = symbols_[number];
  if (symbol.expr != SymExpr()) return symbol.expr;
  WINZE_CHECK(nodes_.size() < none, "too many expressions in one context");
  Node node;
  node.op = SymOp::symbol;
  node.kind = symbol.kind;
  node.first = number;
  node.lead = number;
  node.key = name_key(name);
  node.hash = mix(hash_text(name), static_cast<std::uint64_t>(SymOp::symbol));
  symbol.expr = SymExpr::from_index(static_cast<std::uint32_t>(nodes_.size()));
  nodes_.push_back(node);  // found through the symbol table, never through the hash table
  return symbol.expr;
}

double ExprStore::float_value(SymExpr expr) const {
  return std::bit_cast<double>(pool_[node(expr).first].bits());
}

std::int64_t ExprStore::numerator(SymExpr expr) const {
  return static_cast<std::int64_t>(pool_[node(expr).first].bits());
}

std::int64_t ExprStore::denominator(SymExpr expr) const {
  return static_cast<std::int64_t>(pool_[node(expr).first + 1].bits());
}

bool ExprStore::before(SymExpr a, SymExpr b) const {
  if (a == b) return false;
  if (a.is_constant() || b.is_constant()) {
    if (a.is_constant() && b.is_constant()) return a.constant() < b.constant();
    return a.is_constant();
  }
  const Node& left = node(a);
  const Node& right = node(b);
  if (left.key != right.key) return left.key < right.key;
  if (left.lead != right.lead) return lead_before(left.lead, right.lead);
  if (left.depth != right.depth) return left.depth < right.depth;
  if (left.op != right.op) return left.op < right.op;
  if (left.hash != right.hash) return left.hash < right.hash;
  return a.index() < b.index();
}

bool ExprStore::lead_before(std::uint32_t a, std::uint32_t b) const {
  if (a == no_symbol || b == no_symbol) return a == no_symbol && b != no_symbol;
  return symbols_[a].name < symbols_[b].name;
}

SymExpr ExprStore::find_or_add(SymOp op, SymKind kind, std::span<const SymExpr> content,
                               bool is_payload) {
  work_ += content.size();
  // The hash is of the structure, not of indices, so that the order it decides is the same in
  // every context.
  Node wanted;
  std::uint64_t hash = mix(static_cast<std::uint64_t>(op) + 1, content.size());
  for (const SymExpr part : content) {
    if (is_payload || part.is_constant()) {
      hash = mix(hash, part.bits());
      continue;
    }
    const Node& operand = node(part);
    hash = mix(hash, operand.hash);
    // The smallest name; what has no symbol does not count.
    if (operand.lead != wanted.lead && operand.lead != no_symbol) {
      const bool smaller = operand.key != wanted.key ? operand.key < wanted.key
                                                     : lead_before(operand.lead, wanted.lead);
      if (wanted.lead == no_symbol || smaller) {
        wanted.lead = operand.lead;
        wanted.key = operand.key;
      }
    }
    if (operand.depth >= wanted.depth) {
      wanted.depth = static_cast<std::uint16_t>(std::min(operand.depth + 1, 65535));
    }
  }
  if (!is_payload && !content.empty() && wanted.depth == 0) wanted.depth = 1;
  std::size_t slot = first_slot(op, content);
  for (; table_[slot] != 0; slot = (slot + 1) & (table_.size() - 1)) {
    const Node& known = nodes_[table_[slot] - 1];
    if (known.hash == hash && known.op == op && std::ranges::equal(content, this->content(known)))
      return SymExpr::from_index(table_[slot] - 1);
  }
  WINZE_CHECK(nodes_.size() < none - 1, "too many expressions in one context");
  wanted.op = op;
  wanted.kind = kind;
  wanted.hash = hash;
  wanted.first = append(content);
  wanted.count = is_payload ? 0 : static_cast<std::uint32_t>(content.size());
  const auto index = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back(wanted);
  table_[slot] = index + 1;
  if (nodes_.size() * 2 > table_.size()) grow();
  return SymExpr::from_index(index);
}

std::uint32_t ExprStore::append(std::span<const SymExpr> content) {
  if (content.empty()) return 0;
  const std::size_t first = pool_.size();
  if (first + content.size() > none) fail("too many operands in one symbolic context");
  // `content` may lie in the pool itself, which moves when it grows.
  const bool inside = std::less_equal<>()(pool_.data(), content.data()) &&
                      std::less<>()(content.data(), pool_.data() + first);
  const std::size_t offset = inside ? static_cast<std::size_t>(content.data() - pool_.data()) : 0;
  pool_.resize(first + content.size());
  const SymExpr* source = inside ? pool_.data() + offset : content.data();
  std::copy_n(source, content.size(), pool_.data() + first);
  return static_cast<std::uint32_t>(first);
}

std::span<const SymExpr> ExprStore::content(const Node& node) const {
  std::size_t size = node.count;
  if (node.op == SymOp::float_constant) size = 1;
  if (node.op == SymOp::rational) size = 2;
  return {pool_.data() + node.first, size};
}

std::size_t ExprStore::first_slot(SymOp op, std::span<const SymExpr> content) const {
  std::uint64_t hash = combine_(static_cast<std::uint64_t>(op), content.size());
  for (const SymExpr part : content) hash = combine_(hash, part.bits());
  return hash & (table_.size() - 1);
}

void ExprStore::grow() {
  table_.assign(std::max<std::size_t>(256, table_.size() * 4), 0);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].op == SymOp::symbol) continue;  // found through the symbol table
    std::size_t slot = first_slot(nodes_[i].op, content(nodes_[i]));
    while (table_[slot] != 0) slot = (slot + 1) & (table_.size() - 1);
    table_[slot] = static_cast<std::uint32_t>(i) + 1;
  }
}

}  // namespace winze
