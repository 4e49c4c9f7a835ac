// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "winze/ir/graph.h"
#include "winze/ir/op_signature.h"
#include "winze/shape/promotion.h"
#include "winze/shape/shape_env.h"
#include "winze/shape/sizes.h"

namespace winze {

class ShapeCall;

/// Infers the results of one call: reads arguments, yields metas. What PyTorch refuses is an Error
/// with PyTorch's words.
using ShapeRule = void (*)(ShapeCall& call);

/// One line of a family's table: which operator has which rule. Operators that differ in little
/// share a rule and tell it the difference by `parameter`.
struct ShapeRow {
  OpId op;
  ShapeRule rule = nullptr;
  std::uint32_t parameter = 0;
};

/// Thrown by a rule, and caught by ShapeRules, where the results cannot be told: an argument whose
/// value is not known, a layout that is not strided.
class NotInferable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What a rule sees of a call: its arguments in schema position, whether they are those of a node
/// or of one about to be made, with defaults filled in; and where its results go.
class ShapeCall {
 public:
  /// Arguments of `node`, which has been made.
  ShapeCall(ShapeEnv& env, const Node& node, const OpSignature& signature);
  /// Arguments of a call about to be made in `graph`.
  ShapeCall(ShapeEnv& env, const Graph& graph, const OpSignature& signature,
            std::span<const Argument> arguments);

  [[nodiscard]] ShapeEnv& env() const { return env_; }
  [[nodiscard]] Context& context() const { return graph_.context(); }
  /// The graph that the call stands in.
  [[nodiscard]] const Graph& graph() const { return graph_; }
  /// The node that is inferred anew; none for a call about to be made.
  [[nodiscard]] const Node& node() const { return node_; }
  [[nodiscard]] const Op& op() const { return *signature_.op; }
  [[nodiscard]] std::uint32_t parameter() const { return parameter_; }

  // --- Arguments. Positions are the schema's; one that is not there counts as None.

  /// As given, with the schema's default in place of `default_value`.
  [[nodiscard]] Argument argument(std::uint32_t index) const;
  [[nodiscard]] std::uint32_t argument_count() const { return count_; }
  [[nodiscard]] bool is_none(std::uint32_t index) const { return argument(index).is_none(); }

  /// A tensor; anything else, and layouts other than strided, cannot be inferred.
  [[nodiscard]] const TensorMeta& tensor(std::uint32_t index) const;
  /// A tensor of whatever layout: for rules whose result is the tensor itself but for its storage.
  [[nodiscard]] const TensorMeta& tensor_of_any_layout(std::uint32_t index) const;
  /// A tensor, or null for None.
  [[nodiscard]] const TensorMeta* optional_tensor(std::uint32_t index) const;
  /// A tensor where the argument is one; null for a number and for None.
  [[nodiscard]] const TensorMeta* tensor_or_null(std::uint32_t index) const;
  /// A list of tensors, null where an element is None.
  [[nodiscard]] std::vector<const TensorMeta*> tensors(std::uint32_t index) const;

  /// An int or SymInt.
  [[nodiscard]] SymInt sym_int(std::uint32_t index) const;
  [[nodiscard]] std::optional<SymInt> optional_sym_int(std::uint32_t index) const;
  /// A list of those; a single one where the schema has `int[1]`. None is an empty list.
  [[nodiscard]] DimVector sym_ints(std::uint32_t index) const;
  /// A dimension of a tensor of this rank, counted from the front.
  [[nodiscard]] std::size_t dim(std::uint32_t index, std::size_t rank) const {
    return wrap_dim(sym_int(index), rank);
  }
  [[nodiscard]] bool boolean(std::uint32_t index) const;
  /// A string, empty for None.
  [[nodiscard]] std::string_view string(std::uint32_t index) const;
  /// What promotion wants to know of a number: bool_, int64, float64 or complex128.
  [[nodiscard]] ScalarType number_kind(std::uint32_t index) const;
  /// The value of a number that is a constant int, float or bool.
  [[nodiscard]] std::optional<double> constant_number(std::uint32_t index) const;
  /// Position of the argument of that name; one past the last where there is none, which reads as
  /// None.
  [[nodiscard]] std::uint32_t position(std::string_view name) const;
  [[nodiscard]] std::optional<ScalarType> dtype(std::uint32_t index) const;
  [[nodiscard]] std::optional<Device> device(std::uint32_t index) const;
  /// Throws NotInferable for layouts other than strided.
  void expect_strided(std::uint32_t index) const;
  [[nodiscard]] MemoryFormat memory_format(std::uint32_t index, MemoryFormat otherwise) const;
  /// A nested graph.
  [[nodiscard]] const Graph& subgraph(std::uint32_t index) const;
  /// An element of an argument that is a `list`.
  [[nodiscard]] Argument element(const Argument& list, std::uint32_t index) const;
  /// The value behind an argument; invalid where it is none.
  [[nodiscard]] Value value(std::uint32_t index) const { return value_of(argument(index)); }

  // --- Results, in the order of the schema; those of a list one after the other.

  /// A tensor of its own. It never requires a gradient: export records that of inputs only.
  void yield(TensorMeta tensor) {
    tensor.requires_grad = false;
    results_.push_back(context().tensor_meta(tensor));
  }
  void yield(MetaId meta) { results_.push_back(meta); }
  void yield_none() { results_.push_back(context().plain_meta(ValueKind::none)); }
  void yield_sym(ValueKind kind, SymExpr expression) {
    results_.push_back(context().sym_meta(kind, expression));
  }
  [[nodiscard]] std::span<const MetaId> results() const { return results_; }

  /// A size of result `result` that depends on data. When a node is inferred anew the size it has,
  /// whose symbol the program knows, as long as it lies in `range`; else a new symbol. A symbol of
  /// `ShapeEnv::renew_ranges` gets the range.
  [[nodiscard]] SymInt unbacked_size(std::size_t result, std::size_t dim, Range range);
  /// Whether the size that is recorded of a result is a symbol which depends on data and is first
  /// met here. Export knew less of an index, when it made the call, than the program asserts later,
  /// and all that follows speaks of that symbol. Linear in the program once, then O(1).
  [[nodiscard]] bool has_own_size(std::size_t result, std::size_t dim) const;
  /// The same for the storage offset of a result.
  [[nodiscard]] bool has_own_offset(std::size_t result) const;
  /// As `unbacked_size` for the storage offset of a result.
  [[nodiscard]] SymInt unbacked_offset(std::size_t result);
  /// The same for a result that is a number.
  [[nodiscard]] SymExpr unbacked_value(std::size_t result, ValueKind kind);

  /// What is recorded of a result of the node that is inferred anew; null for a call about to be
  /// made. Only for what the arguments do not tell, and only as far as it fits what they do.
  [[nodiscard]] const Meta* recorded(std::size_t result) const;
  /// How many values the node has that is inferred anew; 0 for a call about to be made.
  [[nodiscard]] std::size_t recorded_count() const { return node_ ? node_.value_count() : 0; }

  template <typename... Args>
  [[noreturn]] void cannot_infer(fmt::format_string<Args...> format, Args&&... args) const {
    throw NotInferable(fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  [[nodiscard]] Value value_of(const Argument& argument) const;
  [[nodiscard]] SymInt sym_int_of(const Argument& argument) const;
  [[nodiscard]] const TensorMeta& meta_of(const Argument& argument) const;
  [[nodiscard]] const TensorMeta& tensor_of(const Argument& argument) const;
  [[nodiscard]] std::string_view name_of_argument(std::uint32_t index) const;
  [[nodiscard]] SymExpr new_symbol();
  [[nodiscard]] bool is_own_symbol(SymInt recorded) const;

  ShapeEnv& env_;
  const Graph& graph_;
  const OpSignature& signature_;
  Node node_;
  std::span<const Argument> arguments_;
  std::uint32_t count_;
  std::uint32_t parameter_ = 0;
  std::vector<MetaId> results_;
  friend class ShapeRules;
};

}  // namespace winze
