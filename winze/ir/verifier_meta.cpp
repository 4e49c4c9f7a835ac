// SPDX-License-Identifier: Apache-2.0
// Metas of values, and symbols.
#include <algorithm>

#include "winze/ir/text_types.h"
#include "winze/ir/verifier_checks.h"
#include "winze/schema/op_ids.h"
#include "winze/support/integer_map.h"

namespace winze {
namespace {

class MetaChecker {
 public:
  MetaChecker(const Node& node, Findings& findings) : node_(node), findings_(findings) {}

  void check() {
    for (std::uint32_t index = 0; index < node_.value_count(); ++index) {
      const Meta& meta = node_.value(index).meta();
      if (meta.is_tensor()) check_tensor(index, meta.tensor);
      if (meta.kind == ValueKind::unknown && !may_be_unknown()) {
        add(fmt::format("result {} has a type that is not known", index),
            "only operators that are not known may yield it");
      }
    }
    if (node_.is_call()) check_results();
  }

 private:
  void add(std::string message, std::string hint = {}) {
    findings_.add(node_.graph(), node_.id(), std::move(message), std::move(hint));
  }

  [[nodiscard]] bool may_be_unknown() const {
    if (!node_.is_call()) return false;
    const Op& op = node_.graph().context().ops().get(node_.op());
    return op.is_opaque() || op.is_higher_order();
  }

  void check_tensor(std::uint32_t index, const TensorMeta& tensor) {
    const bool is_strided = tensor.layout == Layout::strided;
    if (is_strided && tensor.sizes.size() != tensor.strides.size()) {
      add(fmt::format("result {} has {} sizes but {} strides", index, tensor.sizes.size(),
                      tensor.strides.size()));
    }
    const auto check = [&](std::string_view what, SymInt value) {
      if (value.is_constant()) {
        if (value.constant() < 0)
          add(fmt::format("result {} has the {} {}", index, what, value.constant()));
      } else if (node_.graph().context().symbols().kind(value) != SymKind::int_kind) {
        add(fmt::format("result {} has a {} that is no integer: {}", index, what,
                        node_.graph().context().symbols().str(value)));
      }
    };
    for (const SymInt size : tensor.sizes) check("size", size);
    for (const SymInt stride : tensor.strides) check("stride", stride);
    check("storage offset", tensor.storage_offset);
  }

  /// Kinds of the results against the types that the schema returns.
  void check_results() {
    const Op& op = node_.graph().context().ops().get(node_.op());
    // Export keeps no result of other functions.
    if (op.schema.is_variadic_returns || op.is_opaque() || op.kind == OpKind::function) return;
    const ResultStructure* structure = node_.graph().result_structure(node_);
    std::uint32_t at = 0;
    for (std::size_t result = 0; result < op.schema.returns.size(); ++result) {
      const Type& type = op.schema.returns[result].type;
      std::uint32_t left = 1;
      if (structure != nullptr && result < structure->groups.size()) {
        const std::int32_t group = structure->groups[result];
        if ((group != ResultStructure::single) != type.is_list() &&
            type.base_kind() != TypeKind::any) {
          add(fmt::format("result {} is {}, but {} returns {}", result,
                          group == ResultStructure::single ? "one value" : "a list",
                          op.qualified_name, type.str()));
        }
        left = group == ResultStructure::single ? 1 : static_cast<std::uint32_t>(group);
      } else if (returns_one_list(op)) {
        left = node_.value_count();
      }
      for (; left > 0 && at < node_.value_count(); --left, ++at)
        check_result(at, type.is_list() ? type.element() : type, op);
    }
  }

  void check_result(std::uint32_t index, const Type& type, const Op& op) {
    const Value value = node_.value(index);
    const ValueKind kind = value.meta().kind;
    // Export runs what yields no tensor, such as promote_types, and keeps what came out in place of
    // its uses. It records None for the call that is left.
    if (kind == ValueKind::none &&
        (type.is_optional() || type.base_kind() == TypeKind::tensor || !value.has_uses()))
      return;
    const bool fits = type.base_kind() == TypeKind::tensor
                          ? kind == ValueKind::tensor || kind == ValueKind::unknown
                          : fits_type(kind, type);
    if (fits && kind != ValueKind::constant) return;
    std::string shown;
    append_type(shown, node_.graph().context(), value.meta_id(), Device{});
    add(fmt::format("result {} has type {}, but {} returns {}", index, shown, op.qualified_name,
                    type.str()));
  }

  const Node& node_;
  Findings& findings_;
};

/// Finds symbols that nothing binds: neither an input nor a call whose results depend on data.
class SymbolChecker {
 public:
  SymbolChecker(const Graph& graph, Findings& findings)
      : symbols_(graph.context().symbols()), findings_(findings) {}

  void check(const Graph& graph, int depth) {
    for (const Node node : graph.nodes()) {
      if (node.is_call() && depth < text_max_depth) {
        for (std::uint32_t index = 0; index < node.argument_count(); ++index) {
          const Argument argument = node.argument(index);
          if (argument.kind() == ArgumentKind::graph)
            check(graph.subgraph(argument.graph_id()), depth + 1);
        }
      }
      for (std::uint32_t index = 0; index < node.value_count(); ++index)
        check_value(node, node.value(index));
    }
  }

 private:
  void check_value(const Node& node, Value value) {
    const std::uint32_t meta_index = value.meta_id().index;
    if (meta_index >= seen_.size()) seen_.resize(meta_index + meta_index / 2 + 64);
    if (seen_[meta_index]) return;
    seen_[meta_index] = true;
    for_each_expression(value.meta(),
                        [&](SymExpr expression) { check_expression(node, expression); });
  }

  void check_expression(const Node& node, SymExpr expression) {
    if (expression.is_constant()) return;
    for (const SymExpr symbol : symbols_.free_symbols(expression)) {
      if (bound_.contains(symbol.bits())) continue;
      bound_.insert(symbol.bits());
      if (node.is_placeholder() || can_bind(node)) continue;
      const std::string& name = symbols_.symbol_name(symbol);
      findings_.add(
          node.graph(), node.id(),
          fmt::format(
              "symbol {} occurs here first, but neither an input nor this call can give it a value",
              name),
          "keep the call whose result it was (its value is used by the sizes behind it)");
    }
  }

  /// Whether the results may have sizes or values that follow from data. Only operators known not
  /// to are told apart: most have no tag.
  [[nodiscard]] bool can_bind(const Node& node) const {
    if (!node.is_call()) return false;
    // An offset that depends on data: torch.export.load drops those of tensors.
    if (node.op() == op::aten_sym_storage_offset_default) return true;
    const Op& op = node.graph().context().ops().get(node.op());
    if (op.kind != OpKind::overload || op.effects.is_data_dependent || op.effects.has_dynamic_shape)
      return op.kind != OpKind::symbolic;
    const bool is_plain = op.tags.has(Tag::pointwise) || op.tags.has(Tag::core) || op.is_view();
    return !is_plain || (op.is_view() && indexes_by_data(node));
  }

  /// Whether one of the numbers that the call takes depends on data: how much `x[:n]` is, and where
  /// `x[n]` lies, is a symbol of its own where `n` may be negative.
  [[nodiscard]] bool indexes_by_data(const Node& node) const {
    for (const Value operand : node.input_values()) {
      const Meta& meta = operand.meta();
      if (meta.kind != ValueKind::sym_int || !meta.has_expression) continue;
      for (const SymExpr symbol : symbols_.free_symbols(meta.expression))
        if (!symbols_.symbol_assumptions(symbol).is(Assumption::positive)) return true;
    }
    return false;
  }

  const SymbolicContext& symbols_;
  Findings& findings_;
  std::vector<bool> seen_;
  IntegerSet bound_;
};

}  // namespace

void check_meta(const Node& node, Findings& findings) {
  MetaChecker(node, findings).check();
}

void check_symbols(const Graph& graph, Findings& findings) {
  SymbolChecker(graph, findings).check(graph, 0);
}

}  // namespace winze
