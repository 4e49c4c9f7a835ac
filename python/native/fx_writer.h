// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "python/native/fx_reader.h"

namespace winze {

/// Brings what the journal says was edited in a native graph into the torch.fx graph that it was
/// read from. Nodes that were not edited are not looked at. The editing of torch.fx nodes itself is
/// done by a Python object (`winze.torch._fx_editor.FxEditor`). Costs by the edits.
class FxWriter {
 public:
  /// `changes` are those of this graph.
  FxWriter(const ProgramHolder& holder, const std::deque<FxGraph>& graphs, const FxGraph& graph,
           std::vector<Journal::Change> changes, nb::object editor);

  /// \throws Error where a pass made a node that has no place in a torch.fx graph, and where an
  /// edited node breaks its operator's schema.
  void check() const;
  /// Returns the number of torch.fx nodes made, changed, moved or erased.
  std::size_t write();

 private:
  [[nodiscard]] bool is_made(const Journal::Change& change) const;
  /// The torch.fx node that the one of this index was read from; null where it was made since.
  [[nodiscard]] nb::object original(NodeId node) const;
  [[nodiscard]] nb::object fx_node(NodeId node) const;
  [[nodiscard]] nb::object predecessor(Node node) const;
  [[nodiscard]] nb::object created(Node node);
  [[nodiscard]] nb::object example_of(MetaId meta) const;
  void create(Node node);
  void change(Node node, const Journal::Change& change);
  void erase_lost();
  nb::object fx_value(ValueId value);
  nb::object to_python(Node node, const Argument& argument);
  nb::object elements(Node node, const Argument& list);
  nb::tuple call_arguments(Node node);
  nb::list input_values(Node node);
  nb::object target_of(OpId op);
  nb::object origin_of(Node node) const;
  [[nodiscard]] nb::dict notes_of(Node node) const;
  [[nodiscard]] static std::string name_of(Node node);

  const ProgramHolder& holder_;
  const std::deque<FxGraph>& graphs_;
  Graph& graph_;
  Context& context_;
  const FxNodes& read_;  ///< what the nodes were read from
  std::vector<Journal::Change> changes_;
  nb::object editor_;
  std::unordered_map<std::uint32_t, nb::object> made_;  ///< by the index of a native node
  /// By native value: what stands for it, where `read_` has nothing or what was there before. Null
  /// while nothing stands for a result of several.
  std::unordered_map<std::uint32_t, nb::object> values_;
  std::size_t edits_ = 0;
};

}  // namespace winze
