// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "winze/ir/argument.h"
#include "winze/ir/ids.h"
#include "winze/ir/meta.h"

namespace winze {

class Graph;
class Node;
class UseRange;

enum class NodeKind : std::uint8_t { placeholder, get_attr, call_function, output };

/// What a node yields. A handle: graph and index, passed by value. A handle whose node was erased
/// is stale; using it is an InternalError in builds that check handles (WINZE_CHECK_HANDLES).
class Value {
 public:
  Value() = default;
  inline Value(Graph* graph, ValueId id);
  Value(Node node);  // NOLINT(google-explicit-constructor): a node with one result stands for it

  [[nodiscard]] bool valid() const { return graph_ != nullptr; }
  explicit operator bool() const { return valid(); }
  bool operator==(const Value& other) const { return graph_ == other.graph_ && id_ == other.id_; }

  [[nodiscard]] Graph& graph() const { return *graph_; }
  [[nodiscard]] ValueId id() const { return id_; }
  /// Differs from that of all other values, those of other graphs too: a key for maps.
  [[nodiscard]] inline std::uint64_t key() const;
  /// The node that yields this value.
  [[nodiscard]] inline Node node() const;
  /// Position among the results of its node.
  [[nodiscard]] std::uint32_t index() const;

  [[nodiscard]] inline MetaId meta_id() const;
  [[nodiscard]] const Meta& meta() const;
  [[nodiscard]] bool is_tensor() const { return meta().is_tensor(); }
  void set_meta(MetaId meta) const;

  /// Name as given by the user or the file; empty where there is none.
  [[nodiscard]] std::string_view name() const;
  void set_name(std::string_view name) const;

  /// Number of uses: a node that uses the value twice counts twice. O(1).
  [[nodiscard]] inline std::uint32_t use_count() const;
  [[nodiscard]] bool has_uses() const { return use_count() != 0; }
  /// The uses in the order they were made.
  [[nodiscard]] UseRange uses() const;
  /// The nodes that use this value, each once, in the order of first use. O(uses).
  [[nodiscard]] std::vector<Node> users() const;

  /// Makes the users of this value use `replacement`. Uses in nodes that do not come after the
  /// replacement's node keep this value, since they cannot see the new one: so replacing `x` by
  /// `relu(x)` is safe. Returns the number of uses replaced. O(uses).
  std::uint32_t replace_all_uses_with(Value replacement) const;
  /// The same for uses whose node satisfies `predicate`.
  template <typename Predicate>
  std::uint32_t replace_uses_if(Value replacement, Predicate predicate) const;

 private:
  [[nodiscard]] inline Graph& checked() const;
  [[noreturn]] void refuse_handle() const;

  Graph* graph_ = nullptr;
  ValueId id_;
#ifdef WINZE_CHECK_HANDLES
  std::uint32_t generation_ = 0;
#endif
  friend class Graph;
};

/// Arguments of a call by index: those given by position, with the defaults between them, and those
/// given by keyword.
struct GivenArguments {
  std::vector<std::uint32_t> args;
  std::vector<std::uint32_t> kwargs;
};

/// A node of a graph. A handle: graph and index, passed by value.
class Node {
 public:
  Node() = default;
  inline Node(Graph* graph, NodeId id);

  [[nodiscard]] bool valid() const { return graph_ != nullptr; }
  explicit operator bool() const { return valid(); }
  bool operator==(const Node& other) const { return graph_ == other.graph_ && id_ == other.id_; }

  [[nodiscard]] Graph& graph() const { return *graph_; }
  [[nodiscard]] NodeId id() const { return id_; }
  /// Differs from that of all other nodes, those of other graphs too: a key for maps.
  [[nodiscard]] inline std::uint64_t key() const;
  [[nodiscard]] inline NodeKind kind() const;
  [[nodiscard]] bool is_placeholder() const { return kind() == NodeKind::placeholder; }
  [[nodiscard]] bool is_call() const { return kind() == NodeKind::call_function; }
  [[nodiscard]] bool is_output() const { return kind() == NodeKind::output; }
  /// The operator overload of a call; invalid for other nodes.
  [[nodiscard]] inline OpId op() const;
  [[nodiscard]] bool is_call_to(OpId op) const;
  /// `aten.add.Tensor`, or the attribute's name for get_attr, or `output`, or the placeholder's
  /// name.
  [[nodiscard]] std::string_view target() const;
  /// False once the node was erased.
  [[nodiscard]] inline bool is_alive() const;

  [[nodiscard]] inline std::uint32_t value_count() const;
  [[nodiscard]] inline Value value(std::uint32_t index = 0) const;
  [[nodiscard]] std::vector<Value> values() const;
  /// True where no value of the node has a use.
  [[nodiscard]] inline bool has_no_uses() const;

  /// Arguments in schema position.
  [[nodiscard]] inline std::uint32_t argument_count() const;
  [[nodiscard]] inline Argument argument(std::uint32_t index) const;
  /// By the schema's name; an Error names the operator's arguments where there is none of that
  /// name.
  [[nodiscard]] Argument argument(std::string_view name) const;
  /// As `argument`, with the schema's default in place of `default_value`.
  [[nodiscard]] Argument argument_or_default(std::uint32_t index) const;
  /// The value passed as argument `index`; invalid where it is no value.
  [[nodiscard]] Value argument_value(std::uint32_t index) const;
  /// Element `index` of a list argument, wherever the list is kept.
  [[nodiscard]] Argument element(const Argument& list, std::uint32_t index) const;
  void set_argument(std::uint32_t index, const Argument& argument) const;
  /// How many arguments of a call are given by position (torch.fx's `args`), the last of them being
  /// no default; those from there on are given by keyword (`kwargs`). O(arguments).
  [[nodiscard]] std::uint32_t positional_count() const;
  /// Gives the first `count` arguments by position and the others by keyword. Changes how the call
  /// is spelled, not what it means.
  void set_positional_count(std::uint32_t count) const;
  /// The arguments of a call by index, as torch.fx has them. The first `positional` count as given
  /// by position, or what `positional_count` says. O(arguments).
  [[nodiscard]] GivenArguments given_arguments(std::uint32_t positional) const;
  [[nodiscard]] GivenArguments given_arguments() const {
    return given_arguments(positional_count());
  }

  /// Values used as arguments, in the order of arguments, each once (torch.fx `all_input_nodes`, by
  /// value).
  [[nodiscard]] std::vector<Value> input_values() const;
  /// Nodes whose values are used as arguments, each once.
  [[nodiscard]] std::vector<Node> all_input_nodes() const;
  [[nodiscard]] bool uses(Value value) const;
  /// Replaces each use of `old_value` in this node; returns how many.
  std::uint32_t replace_input_with(Value old_value, Value new_value) const;
  /// The nodes that use a value of this node, each once.
  [[nodiscard]] std::vector<Node> users() const;
  /// For nodes with one value each, or equally many: replaces value by value.
  std::uint32_t replace_all_uses_with(Node replacement) const;

  [[nodiscard]] inline Node next() const;
  [[nodiscard]] inline Node prev() const;
  /// True where this node comes before `other` in the graph. O(1).
  [[nodiscard]] inline bool before(Node other) const;
  /// Moves `node` right before (prepend) or right after (append) this one.
  void prepend(Node node) const;
  void append(Node node) const;
  /// Erases the node; an Error names its users where it has any.
  void erase() const;

  /// Name of the node itself, where the file gives one that differs from its only value's.
  [[nodiscard]] std::string_view name() const;
  void set_name(std::string_view name) const;
  [[nodiscard]] SourceId source() const;
  void set_source(SourceId source) const;

  /// One line: `%y = aten.add.Tensor(%x, 1) : f32[2]`.
  [[nodiscard]] std::string str() const;

 private:
  [[nodiscard]] inline Graph& checked() const;
  [[noreturn]] void refuse_handle() const;
  [[noreturn]] void refuse_value(std::uint32_t index) const;
  [[noreturn]] void refuse_argument(std::uint32_t index) const;

  Graph* graph_ = nullptr;
  NodeId id_;
#ifdef WINZE_CHECK_HANDLES
  std::uint32_t generation_ = 0;
#endif
  friend class Graph;
};

/// One use of a value: which node, through which slot.
struct Use {
  Node node;
  SlotId slot;
};

}  // namespace winze

/// `{}` is `Node::str`; there are no other specifiers.
template <>
struct fmt::formatter<winze::Node> {
  constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
  fmt::format_context::iterator format(const winze::Node& node, fmt::format_context& context) const;
};
