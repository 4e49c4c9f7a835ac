// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include <tsl/robin_map.h>

#include "winze/effects/call_effects.h"
#include "winze/ir/graph.h"

namespace winze {

struct ExportedProgram;

/// One write into a storage class.
struct StorageWrite {
  Node node;                      ///< the call that writes, in the graph where it stands
  bool changes_metadata = false;  ///< sizes, strides or storage change, perhaps beside the content
};

/// Which values of a program may share storage, and who writes to it.
///
/// Values are grouped into *storage classes*: two values that may share storage, directly or
/// through others, are in one class; two values in different classes never share. Views, in-place
/// results, elements of split lists, operands and placeholders of nested graphs and what these
/// return are followed. Weights share storage as the program's table of storages says. User inputs
/// are taken not to share storage with each other or with weights: torch.export makes the same
/// assumption.
///
/// It describes the graph as it was when it was made. Erasing nodes and replacing a value by one of
/// the same class keeps it right; values made since are in no class, and the answer for them is the
/// careful one. O(nodes + arguments), nearly.
class AliasAnalysis {
 public:
  /// `root` is a program's own graph; those nested in it are analyzed with it.
  explicit AliasAnalysis(Graph& root);
  /// The same with the storages that weights share.
  explicit AliasAnalysis(const ExportedProgram& program);

  /// True unless the two are known never to share storage. The values may stand in different
  /// graphs.
  [[nodiscard]] bool may_share_storage(Value a, Value b) const;
  /// Tells that the two share storage from now on, as after replacing one by the other.
  void merge(Value a, Value b);

  /// Whether the class holds an input of any graph: a placeholder or an attribute.
  [[nodiscard]] bool is_input(Value value) const;
  /// Whether the class holds an input of the program: a placeholder of its own graph, or an
  /// attribute.
  [[nodiscard]] bool is_program_input(Value value) const;
  [[nodiscard]] bool is_program_input_class(std::uint32_t class_number) const;
  /// Whether the class holds a value that a graph returns.
  [[nodiscard]] bool is_returned(Value value) const;
  /// Whether a graph returns several values of the class: someone could compare them.
  [[nodiscard]] bool is_returned_repeatedly(Value value) const;
  /// Whether the class is seen from outside the graph: input or returned.
  [[nodiscard]] bool escapes(Value value) const { return is_input(value) || is_returned(value); }

  /// Whether anything is written at all.
  [[nodiscard]] bool has_writes() const { return !events_.empty(); }
  /// Whether anything writes to the class, in any graph.
  [[nodiscard]] bool is_written(Value value) const;
  /// Whether a call in the value's graph, or in a graph it runs, writes to the class strictly after
  /// `first` and strictly before `last`. O(log writes).
  [[nodiscard]] bool is_written_between(Value value, Node first, Node last) const;
  /// Whether one writes to the class strictly after `node`. O(1).
  [[nodiscard]] bool is_written_after(Value value, Node node) const;
  /// Whether anything changes sizes, strides or storage of a value of the class in place.
  [[nodiscard]] bool is_metadata_changed(Value value) const;

  /// The calls that write to the class, in every graph; those of one graph in their order.
  [[nodiscard]] std::vector<StorageWrite> writers_of(Value value) const;

  /// Calls `visit(StorageWrite, class_number)` for each class that a call writes.
  template <typename Visit>
  void for_each_write(const Visit& visit) const {
    for (const Event& event : events_) {
      if (!event.is_projection) visit(write_of(event), find(event.value));
    }
  }

  /// A number for the class of a value, the same for all of its values until the next `merge`;
  /// below `class_capacity()`. `no_class` for values made after the analysis.
  [[nodiscard]] std::uint32_t class_of(Value value) const;
  [[nodiscard]] std::size_t class_capacity() const { return parent_.size(); }
  static constexpr std::uint32_t no_class = std::numeric_limits<std::uint32_t>::max();

 private:
  static constexpr std::uint32_t no_position = std::numeric_limits<std::uint32_t>::max();

  struct GraphInfo {
    Graph* graph = nullptr;
    std::uint32_t first_value = 0;  ///< number of the graph's first value
    std::uint32_t value_count = 0;
    std::vector<std::uint32_t> positions;  ///< of nodes, by index
  };
  struct Event {
    std::uint32_t value = 0;  ///< number of what is written
    std::uint32_t graph = 0;  ///< in which the writer stands
    std::uint32_t position = 0;
    NodeId writer;
    bool changes_metadata = false;
    bool is_projection = false;  ///< the writer runs a graph in which the write stands
  };
  struct Range {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };

  void build(Graph& root);
  void number_graphs(Graph& root);
  void visit_graph(std::uint32_t ordinal);
  void visit_call(std::uint32_t ordinal, Node call, const OpEffects& effects);
  void visit_bodies(std::uint32_t ordinal, Node call);
  void bind_body(Node call, Graph& body);
  void unite_result(Node call, const ResultAlias& alias);
  void tie_everything(Node call);
  void write_everything(std::uint32_t ordinal, Node call, bool changes_metadata);
  void add_write(std::uint32_t ordinal, Node writer, Value value, bool changes_metadata);
  void project_writes(std::uint32_t ordinal, Node call, std::size_t first_event);
  void settle();
  void count_results();

  void unite(Value a, Value b) { unite_numbers(number_of(a), number_of(b)); }
  std::uint32_t unite_numbers(std::uint32_t a, std::uint32_t b);
  [[nodiscard]] std::uint32_t number_of(Value value) const;
  [[nodiscard]] std::uint32_t find(std::uint32_t number) const;
  [[nodiscard]] bool has_flag(Value value, std::uint8_t flag) const;
  [[nodiscard]] std::uint32_t position_of(Node node) const;
  [[nodiscard]] StorageWrite write_of(const Event& event) const;
  [[nodiscard]] Range writes_in(std::uint32_t class_number, std::uint32_t ordinal) const;

  const Context* context_;
  CallEffects effects_;
  std::vector<GraphInfo> graphs_;
  tsl::robin_map<const Graph*, std::uint32_t> ordinals_;
  mutable std::vector<std::uint32_t> parent_;    ///< union-find; paths are halved on lookup
  std::vector<std::uint8_t> flags_;              ///< by value, in the end of the class's root
  std::vector<Event> events_;                    ///< by class, graph and position
  tsl::robin_map<std::uint32_t, Range> ranges_;  ///< of the events of a written class, by its root
};

}  // namespace winze
