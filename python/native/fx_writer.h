// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <deque>
#include <vector>

#include "python/native/fx_reader.h"

namespace winze {

/// A graph's nodes as they were at one time: enough to tell which differ later. O(arguments) to
/// make, in native memory alone.
class GraphRecord {
 public:
  explicit GraphRecord(const Graph& graph);

  /// True where this node was there. One that was given the index of an erased node counts as that
  /// node where it calls the same operator and yields the same value: then it only differs in its
  /// arguments.
  [[nodiscard]] bool has(Node node) const;
  /// True where a node of that index was there and is there no more.
  [[nodiscard]] bool is_lost(const Graph& graph, NodeId id) const;
  /// Same arguments and metas as then.
  [[nodiscard]] bool is_unchanged(Node node) const;
  [[nodiscard]] bool has_same_arguments(Node node) const;
  /// Place in the order of then.
  [[nodiscard]] std::uint32_t position(Node node) const {
    return entries_[node.id().index].position;
  }
  [[nodiscard]] std::size_t capacity() const { return entries_.size(); }

 private:
  struct Entry {
    std::size_t begin = 0;  ///< of its words
    std::size_t metas = 0;  ///< where the metas begin
    std::size_t end = 0;
    std::uint32_t position = 0;
    OpId op;
    ValueId first_value;
    bool was_there = false;
  };
  static ValueId first_value(Node node) {
    return node.value_count() == 0 ? ValueId{} : node.value(0).id();
  }
  static void append_arguments(Node node, std::vector<std::uint64_t>& words);
  static void append_metas(Node node, std::vector<std::uint64_t>& words);

  std::vector<Entry> entries_;
  std::vector<std::uint64_t> words_;
};

/// Brings what changed in a native graph into the torch.fx graph that it was read from. Untouched
/// nodes are not looked at from Python. The editing of torch.fx nodes itself is done by a Python
/// object (`winze.torch._fx_editor.FxEditor`).
class FxWriter {
 public:
  FxWriter(TorchVocabulary& torch, const std::deque<FxGraph>& graphs, FxGraph& graph,
           const GraphRecord& before, nb::object editor);

  /// \throws Error where a pass made a node that has no place in a torch.fx graph.
  void check() const;
  /// Returns the number of torch.fx nodes made, changed, moved or erased.
  std::size_t write();

 private:
  void visit(Node node);
  void create(Node node);
  void change(Node node);
  void erase_lost();
  nb::object fx_value(ValueId value);
  nb::object to_python(Node node, const Argument& argument);
  nb::object elements(Node node, const Argument& list);
  nb::tuple call_arguments(Node node);
  nb::list input_values(Node node);
  nb::object target_of(OpId op);
  nb::object origin_of(Node node) const;

  TorchVocabulary& torch_;
  const std::deque<FxGraph>& graphs_;
  Graph& graph_;
  Context& context_;
  FxNodes& nodes_;
  const GraphRecord& before_;
  nb::object editor_;
  nb::object cursor_;  ///< the torch.fx node after which the next new one goes
  std::uint32_t last_position_ = 0;
  std::size_t edits_ = 0;
  std::vector<nb::object> originals_;  ///< by native node: the torch.fx node it was read from
};

}  // namespace winze
