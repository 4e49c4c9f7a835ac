// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tsl/robin_map.h>

#include "winze/ir/argument.h"
#include "winze/ir/context.h"
#include "winze/ir/ids.h"
#include "winze/ir/journal.h"
#include "winze/ir/node.h"
#include "winze/support/record_array.h"

namespace winze {

class NodeRange;
class InsertionGuard;

/// How the results of a call are grouped, where the operator's schema does not say: higher-order
/// and opaque operators, and operators that return several lists.
struct ResultStructure {
  static constexpr std::int32_t single = -1;
  /// One entry a result: `single`, or the number of values of a list.
  std::vector<std::int32_t> groups;
  /// Higher-order operators: whether the call returns one tensor rather than a tuple; unset where
  /// the file is silent.
  std::optional<bool> is_single_tensor_return;
  bool operator==(const ResultStructure&) const = default;
};

/// What a call may be given beyond operator and arguments.
struct CallOptions {
  SourceId source;        ///< where it comes from; else where the insertion point's node does
  std::string_view name;  ///< name of the only value, or of the node where it has several
  const ResultStructure* structure = nullptr;
  /// How many arguments, the first ones, are given by position; the others by keyword, though the
  /// schema may have them by position too. Without it a call is spelled as PyTorch's dispatcher
  /// does: all by position but those that the schema has by keyword alone.
  std::uint32_t positional_count = as_dispatched;
  static constexpr std::uint32_t as_dispatched = UINT32_MAX;
};

/// An ordered list of nodes, and the graphs nested in them. Owns its nodes.
///
/// Always true between edits: the order is topological (a value's node comes before its users),
/// every value has a meta, every argument fits its operator's schema, use lists and the index by
/// operator are up to date, and the edit counter has moved. Nodes, values and arguments live in
/// arrays and refer to each other by 32-bit index.
class Graph {
 public:
  explicit Graph(Context& context, std::string_view name = "forward");
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  [[nodiscard]] Context& context() const { return *context_; }
  [[nodiscard]] std::string_view name() const { return name_; }
  void set_name(std::string_view name) { name_ = name; }
  /// The graph whose node holds this one as a nested graph; null for a program's own graph.
  [[nodiscard]] Graph* parent() const { return parent_; }
  /// The node of the parent that holds this graph; invalid for a program's own graph.
  [[nodiscard]] Node holder() const { return parent_ ? parent_->node_at(holder_) : Node(); }

  // --- Creating nodes. New nodes go to the insertion point: before the output node, or the end,
  // unless a guard says otherwise.

  /// A new input, after the last placeholder. `spec` is its role in a program
  /// (`Context::input_spec`).
  Node placeholder(std::string_view name, MetaId meta, Argument spec = Argument::none());
  /// A reference to an attribute of the module by name.
  Node get_attr(std::string_view target, MetaId meta);
  /// A call with arguments in schema position; missing ones take the schema's default. One meta for
  /// each value it yields. Throws Error where an argument does not fit the schema, has no default,
  /// or is defined after the insertion point.
  Node call_function(OpId op, std::span<const Argument> arguments, std::span<const MetaId> metas,
                     const CallOptions& options = {});
  Node call_function(OpId op, std::initializer_list<Argument> arguments, MetaId meta,
                     const CallOptions& options = {});
  /// The same with keyword arguments after the positional ones; the call stays spelled so.
  Node call_function(OpId op, std::span<const Argument> arguments,
                     std::span<const NamedArgument> keywords, std::span<const MetaId> metas,
                     const CallOptions& options = {});
  /// Ends the graph with what it returns. `specs` are the roles (`Context::output_spec`), one for
  /// each value, or none in a nested graph.
  Node output(std::span<const Argument> values, std::span<const Argument> specs = {});
  /// An empty graph nested in this one, to be passed as `Argument::graph` to exactly one call.
  GraphId add_subgraph(std::string_view name);
  [[nodiscard]] Graph& subgraph(GraphId id) const;

  /// New nodes go right before / right after `node`, in the order of their creation, as long as the
  /// guard lives. A call that is given no source has that of `node`.
  [[nodiscard]] InsertionGuard inserting_before(Node node);
  [[nodiscard]] InsertionGuard inserting_after(Node node);
  /// Where a call comes from that is given no source.
  [[nodiscard]] SourceId insertion_source() const { return insertion_source_; }

  // --- Reading.

  /// All nodes in order. Safe under edits: erasing the current node, or nodes around it, and
  /// inserting are allowed.
  [[nodiscard]] inline NodeRange nodes() const;
  [[nodiscard]] std::vector<Node> placeholders() const;
  [[nodiscard]] Node last_placeholder() const;
  /// The output node; invalid while the graph has none.
  [[nodiscard]] Node output_node() const;
  [[nodiscard]] Node first() const { return node_at(first_); }
  [[nodiscard]] Node last() const { return node_at(last_); }
  /// Calls to `op`, in order unless `sorted` is false. Takes time only for what it finds.
  [[nodiscard]] std::vector<Node> find_nodes(OpId op, bool sorted = true) const;
  [[nodiscard]] std::vector<Node> find_nodes(NodeKind kind, bool sorted = true) const;
  /// Number of calls to `op`. O(1).
  [[nodiscard]] std::uint32_t count(OpId op) const;
  [[nodiscard]] std::size_t size() const { return alive_; }
  /// Nested graphs that are in use, each right below this one.
  [[nodiscard]] std::vector<Graph*> subgraphs() const;
  /// This graph and all nested in it, outer before inner.
  [[nodiscard]] std::vector<Graph*> all_graphs();
  [[nodiscard]] std::vector<const Graph*> all_graphs() const;

  // --- Whole-graph operations with torch.fx's names.

  void erase_node(Node node);
  /// Copies `node` of any graph of the same context to the insertion point; `map` gives the new
  /// value for each old one.
  Node node_copy(Node node, const std::function<Value(Value)>& map);
  /// Copies the nodes of `other` but its output; `values` maps its placeholders on entry and all
  /// its values on return. Returns what `other` returns, in terms of this graph.
  std::vector<Argument> graph_copy(const Graph& other,
                                   tsl::robin_map<std::uint32_t, Value>& values);
  /// A deep copy in the same context, nested graphs included. Names and sources are kept.
  [[nodiscard]] std::unique_ptr<Graph> clone() const;
  /// Erases calls whose values nobody uses and that have no effect (`is_impure`), here and in
  /// nested graphs. Returns the number of erased nodes. O(nodes).
  std::size_t eliminate_dead_code();
  std::size_t eliminate_dead_code(const std::function<bool(Node)>& is_impure);
  /// Checks structure and schema and throws an Error that lists every finding.
  void lint() const;
  /// A table of opcode, name, target, args as torch.fx prints it.
  [[nodiscard]] std::string print_tabular() const;
  /// The graph in Graphviz's language.
  [[nodiscard]] std::string to_dot() const;

  // --- Edits and their record.

  [[nodiscard]] Journal& journal() const { return *journal_; }
  [[nodiscard]] std::uint64_t edit_count() const { return journal_->edit_count(); }

  /// Follows a value from outside the graph (a module's preserved signature names it): when its
  /// uses are replaced the reference moves on to the replacement, when its node is erased the
  /// reference becomes empty. Not a use.
  std::uint32_t observe(Value value);
  [[nodiscard]] Value observed(std::uint32_t reference) const;

  /// Tells graphs of one process apart; never 0.
  [[nodiscard]] std::uint32_t serial() const { return serial_; }

  // --- Details that programs carry along.

  /// Grouping of a call's results where the schema does not give it; null otherwise.
  [[nodiscard]] const ResultStructure* result_structure(Node node) const;
  /// How many arguments a call was given by position where it is not spelled as PyTorch's
  /// dispatcher does; else `CallOptions::as_dispatched`. `Node::positional_count` is what to ask
  /// for.
  [[nodiscard]] std::uint32_t given_positional_count(Node node) const;
  /// Nested graphs: whether the body returns one tensor rather than a tuple.
  [[nodiscard]] bool is_single_tensor_return() const { return is_single_tensor_return_; }
  void set_is_single_tensor_return(bool single) { is_single_tensor_return_ = single; }
  /// JSON members of the graph that this version does not know, kept as text.
  [[nodiscard]] const std::string& unknown_fields() const { return unknown_fields_; }
  void set_unknown_fields(std::string json) { unknown_fields_ = std::move(json); }

  /// Makes room for so many more nodes, values and arguments.
  void reserve(std::size_t nodes, std::size_t values, std::size_t arguments);
  /// Bytes held by nodes, values and arguments; nested graphs and interned data are not counted.
  [[nodiscard]] std::size_t memory_bytes() const;

  [[nodiscard]] Node node_at(NodeId id) const {
    return id.valid() ? Node(const_cast<Graph*>(this), id) : Node();
  }
  [[nodiscard]] Value value_at(ValueId id) const {
    return id.valid() ? Value(const_cast<Graph*>(this), id) : Value();
  }
  /// Upper bounds of the indices in use, for tables by node or value.
  [[nodiscard]] std::size_t node_capacity() const { return nodes_.size(); }
  [[nodiscard]] std::size_t value_capacity() const { return values_.size(); }

 private:
  // How a node is laid out: a record of 32 bytes, so that a cache line holds two whole ones, with
  // all that walking, checking and matching look at; beside it, under the same index, 12 bytes that
  // only edits and few readers want. Its arguments are `slot_count` slots of 16 bytes from
  // `first_slot` on, their kinds are bytes in an array of their own; its results are `value_count`
  // records of 20 bytes from `first_value` on. A call with three arguments and one result has
  // 44 + 3 * 17 + 20 = 115 bytes, and 4 more where values have names.
  struct NodeRecord {
    OpId op;
    std::uint32_t first_slot = 0;
    std::uint32_t first_value = 0;
    std::uint16_t slot_count = 0;
    std::uint16_t value_count = 0;
    NodeId prev;
    NodeId next;
    std::uint32_t order = 0;
    NodeKind kind = NodeKind::call_function;
    bool alive = false;
    std::uint16_t generation = 0;
  };
  static_assert(sizeof(NodeRecord) == 32);
  struct NodeSideRecord {
    SourceId source;
    NodeId same_op_prev;
    NodeId same_op_next;
  };
  struct ValueRecord {
    NodeId node;
    MetaId meta;
    SlotId first_use;
    SlotId last_use;
    std::uint32_t use_count = 0;
  };
  /// An argument: for a value {value, previous use, next use}, else 64 bits of payload in {a, b}; a
  /// list has its first slot in `a` and its length in `b`.
  struct Slot {
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    std::uint32_t c = 0;
    NodeId owner;
  };
  struct Bucket {
    NodeId head;
    NodeId tail;
    std::uint32_t count = 0;
  };

  Graph(Context& context, std::string_view name, Graph* parent);

  // Slots and uses (graph_uses.cpp).
  [[nodiscard]] std::uint32_t allocate_slots(std::uint32_t count);
  void release_slots(std::uint32_t first, std::uint32_t count);
  /// Writes a fresh slot; nothing is recorded.
  void fill_slot(SlotId slot, const Argument& argument, NodeId owner, int depth = 0);
  /// Changes a slot and records it; lists are taken apart and made anew.
  void change_slot(SlotId slot, const Argument& argument);
  /// Undoes fill_slot: uses are unlinked, list slots released.
  void empty_slot(SlotId slot);
  void set_raw(SlotId slot, const Argument& argument);
  void link_use(SlotId slot, ValueId value);
  void unlink_use(SlotId slot);
  /// Puts a slot that was unlinked back between its old neighbours.
  void relink_use(SlotId slot);
  void splice_uses(ValueId from, ValueId to);
  [[nodiscard]] bool is_unused_up_to(ValueId value, NodeId last) const;
  std::uint32_t replace_uses(ValueId from, ValueId to, const std::function<bool(Node)>* predicate);
  [[nodiscard]] inline Argument read_slot(std::uint32_t slot) const;
  /// Element `index` of a list, wherever it is kept.
  [[nodiscard]] Argument element(const Argument& list, std::uint32_t index) const {
    return list.is_external() ? list.external_elements()[index]
                              : read_slot(list.first_slot().index + index);
  }
  void check_list(std::span<const Argument> elements, NodeId after, const char* what) const;
  /// Calls `visit(SlotId)` for each slot of the node that holds a value or a graph, list elements
  /// included, in order.
  template <typename Visit>
  void visit_slots(const NodeRecord& record, Visit visit) const;
  template <typename Visit>
  void visit_slot_range(std::uint32_t first, std::uint32_t count, Visit& visit) const;
  /// Gives back the slots of the list in this slot, those of lists in it included.
  void release_list(SlotId slot);
  /// The elements of a list argument in the canonical form: constant lists are interned.
  [[nodiscard]] Argument canonical(const Argument& argument);
  /// Argument `index` of a call in its one spelling: `default_value` where it equals the default.
  [[nodiscard]] inline Argument normalized(const OpSignature& signature, std::size_t index,
                                           const Argument& argument);

  // How a call is spelled (graph.cpp).
  /// One more than the last of the first `limit` arguments that is given and not keyword-only.
  [[nodiscard]] std::uint32_t positional_end(Node call, std::uint32_t limit) const;
  /// Whether the dispatcher would have given more than so many by position.
  [[nodiscard]] bool is_own_spelling(Node call, std::uint32_t positional_count) const;
  void spell(NodeId call, std::uint32_t positional_count);

  // Order and index (graph_order.cpp).
  void link_node(NodeId node, NodeId after);
  void unlink_node(NodeId node);
  void relink_node(NodeId node);
  void assign_order(NodeId node);
  void renumber_around(NodeId node);
  void add_to_index(NodeId node);
  void remove_from_index(NodeId node);
  void restore_to_index(NodeId node) { restore_to_index(node, bucket_of(nodes_[node.index])); }
  void restore_to_index(NodeId node, Bucket& bucket);
  [[nodiscard]] Bucket& bucket_of(const NodeRecord& record) {
    return buckets_.find(index_key(record)).value();
  }
  [[nodiscard]] std::uint32_t index_key(const NodeRecord& record) const;
  [[nodiscard]] const Bucket* bucket(std::uint32_t key) const;
  [[nodiscard]] std::vector<Node> nodes_of(std::uint32_t key, bool sorted) const;
  void move_after(NodeId node, NodeId after);
  /// Moves after checking that the order stays topological.
  void move_checked(NodeId node, NodeId after);
  [[nodiscard]] NodeId insertion_predecessor() const;
  [[nodiscard]] bool comes_before(NodeId a, NodeId b) const {
    return nodes_[a.index].order < nodes_[b.index].order;
  }

  // Creation and erasure (graph.cpp).
  NodeId allocate_node(NodeKind kind, OpId op, std::uint32_t slots, std::span<const MetaId> metas,
                       SourceId source);
  void finish_node(NodeId node, NodeId after);
  void destroy_node(NodeId node);
  void detach_node(NodeId node);
  void reattach_node(NodeId node);
  void collect_erased();
  void move_references(ValueId from, ValueId to);
  void set_reference(std::uint32_t reference, ValueId value);

  // What a call must satisfy (graph_check.cpp).
  void check_call(const OpSignature& signature, std::span<const Argument> arguments,
                  std::span<const MetaId> metas, NodeId after) const;
  void check_argument(const OpSignature& signature, std::size_t index, const Argument& argument,
                      NodeId after) const;
  void check_elements(const OpSignature& signature, std::size_t index, const Argument& list) const;
  void check_value(const Argument& argument, NodeId after, std::string_view what) const;
  /// Whether a value is one of this graph, and defined up to `after`.
  [[nodiscard]] bool is_usable(const Argument& value, NodeId after) const {
    const std::uint32_t index = value.value_id().index;
    const std::uint32_t serial = value.graph_serial();
    if ((serial != 0 && serial != serial_) || index >= values_.size()) return false;
    const NodeId producer = values_[index].node;
    return nodes_[producer.index].alive && after.valid() && !comes_before(after, producer);
  }
  [[noreturn]] void refuse_value(const Argument& argument, std::string_view what) const;

  // Undo (journal.cpp).
  void undo(const Journal::Record& record);
  void drop_dead_subgraphs();

  Context* context_;
  Graph* parent_ = nullptr;
  std::string name_;
  RecordArray<NodeRecord> nodes_;
  RecordArray<NodeSideRecord> node_sides_;  ///< as many as nodes
  RecordArray<ValueRecord> values_;
  RecordArray<Slot> slots_;
  RecordArray<ArgumentKind> slot_kinds_;  ///< as many as slots
  RecordArray<StringId> value_names_;     ///< as many as values, or fewer where the last have none
  tsl::robin_map<std::uint32_t, StringId> node_names_;
  tsl::robin_map<std::uint32_t, ResultStructure> result_structures_;
  tsl::robin_map<std::uint32_t, std::uint32_t> positional_counts_;  ///< where not as dispatched
  tsl::robin_map<std::uint32_t, Bucket> buckets_;                   ///< nodes by `index_key`
  std::vector<std::unique_ptr<Graph>> subgraphs_;
  std::vector<NodeId> erased_;
  std::vector<NodeId> free_nodes_;
  std::vector<std::vector<std::uint32_t>> free_slots_;
  std::vector<std::vector<std::uint32_t>> free_values_;
  std::vector<ValueId> observed_;
  tsl::robin_map<std::uint32_t, std::vector<std::uint32_t>>
      references_;  ///< value to observed references
  std::uint32_t serial_;
  NodeId holder_;  ///< in the parent: the call that has this graph as an argument
  NodeId first_;
  NodeId last_;
  NodeId insert_after_;
  bool insertion_set_ = false;
  SourceId insertion_source_;
  std::size_t alive_ = 0;
  mutable std::uint32_t iterations_ = 0;
  bool is_single_tensor_return_ = false;
  std::string unknown_fields_;
  Journal own_journal_;
  Journal* journal_;

  friend class Node;
  friend class Value;
  friend class Journal;
  friend class NodeRange;
  friend class NodeIterator;
  friend class UseRange;
  friend class UseIterator;
  friend class InsertionGuard;
  friend class GraphChecker;
};

/// Steps through the nodes of a graph.
class NodeIterator {
 public:
  using value_type = Node;
  using difference_type = std::ptrdiff_t;
  NodeIterator() = default;
  NodeIterator(const Graph* graph, NodeId node) : graph_(graph), node_(node) {}
  Node operator*() const { return {const_cast<Graph*>(graph_), node_}; }
  inline NodeIterator& operator++();
  bool operator==(const NodeIterator& other) const { return node_ == other.node_; }

 private:
  const Graph* graph_ = nullptr;
  NodeId node_;
};

/// The nodes of a graph in order. While it lives no index of an erased node is given out again, so
/// that a loop may edit.
class NodeRange {
 public:
  explicit NodeRange(const Graph& graph) : graph_(&graph) { ++graph.iterations_; }
  NodeRange(const NodeRange& other) : NodeRange(*other.graph_) {}
  NodeRange& operator=(const NodeRange&) = delete;
  ~NodeRange() { --graph_->iterations_; }
  [[nodiscard]] NodeIterator begin() const { return {graph_, graph_->first_}; }
  [[nodiscard]] NodeIterator end() const { return {graph_, NodeId{}}; }

 private:
  const Graph* graph_;
};

/// Steps through the uses of a value; the current use may be changed.
class UseIterator {
 public:
  using value_type = Use;
  using difference_type = std::ptrdiff_t;
  UseIterator() = default;
  UseIterator(const Graph* graph, SlotId slot) : graph_(graph) { set(slot); }
  Use operator*() const { return {graph_->node_at(graph_->slots_[slot_.index].owner), slot_}; }
  UseIterator& operator++() {
    set(next_);
    return *this;
  }
  bool operator==(const UseIterator& other) const { return slot_ == other.slot_; }

 private:
  void set(SlotId slot) {
    slot_ = slot;
    if (slot.valid()) next_ = SlotId{graph_->slots_[slot.index].c};
  }
  const Graph* graph_ = nullptr;
  SlotId slot_;
  SlotId next_;
};

class UseRange {
 public:
  UseRange(const Graph* graph, SlotId first) : graph_(graph), first_(first) {}
  [[nodiscard]] UseIterator begin() const { return {graph_, first_}; }
  [[nodiscard]] UseIterator end() const { return {}; }
  [[nodiscard]] bool empty() const { return !first_.valid(); }

 private:
  const Graph* graph_;
  SlotId first_;
};

/// Sets a graph's insertion point while it lives and puts the old one back after. Like a NodeRange
/// it keeps the indices of erased nodes, which may be the old point.
class [[nodiscard]] InsertionGuard {
 public:
  InsertionGuard(Graph& graph, NodeId after, SourceId source);
  InsertionGuard(const InsertionGuard&) = delete;
  InsertionGuard& operator=(const InsertionGuard&) = delete;
  ~InsertionGuard();

 private:
  Graph* graph_;
  NodeId saved_;
  bool saved_set_;
  SourceId saved_source_;
};

template <typename Predicate>
std::uint32_t Value::replace_uses_if(Value replacement, Predicate predicate) const {
  const std::function<bool(Node)> function = predicate;
  return graph_->replace_uses(id_, replacement.id_, &function);
}

}  // namespace winze

#include "winze/ir/node_reading.h"  // IWYU pragma: export
