// SPDX-License-Identifier: Apache-2.0
#include "winze/ir/journal.h"

#include <algorithm>
#include <tuple>

#include "winze/ir/graph.h"
#include "winze/ir/graph_slots.h"

namespace winze {

void Journal::begin(std::string_view author) {
  WINZE_CHECK(!open_, "a transaction of \"{}\" is open already", this->author());
  open_ = true;
  made_ = 0;
  authors_.assign(1, {0, std::string(author)});
}

void Journal::set_author(std::string_view author) {
  if (authors_.back().first_record == records_.size()) {
    authors_.back().name = author;
  } else {
    authors_.push_back({records_.size(), std::string(author)});
  }
}

void Journal::begin_edit() {
  // No error, so that a pass which handles errors lets it through.
  // NOLINTNEXTLINE(bugprone-std-exception-baseclass)
  if (limit_ != 0 && made_ >= limit_ && !undoing_) throw EditLimitReached{};
  ++made_;
  ++edit_count_;
}

void Journal::keep(const Record& record) {
  if (touched_.empty() || touched_.back() != record.graph) touched_.push_back(record.graph);
  records_.push_back(record);
}

void Journal::note(const Graph* graph, EditKind kind, std::uint32_t node) {
  const auto bit = static_cast<std::uint16_t>(1U << static_cast<unsigned>(kind));
  if (!changes_.empty() && changes_.back().node.index == node &&
      changes_.back().graph_serial == graph->serial()) {
    changes_.back().kinds |= bit;
  } else {
    changes_.push_back({graph->serial(), NodeId{node}, bit});
  }
}

std::vector<Journal::Change> Journal::changes() const {
  std::vector<Change> sorted = changes_;
  std::ranges::sort(sorted, [](const Change& a, const Change& b) {
    return std::tie(a.graph_serial, a.node.index) < std::tie(b.graph_serial, b.node.index);
  });
  std::vector<Change> each_once;
  for (const Change& change : sorted) {
    if (!change.node.valid()) continue;
    if (!each_once.empty() && each_once.back().graph_serial == change.graph_serial &&
        each_once.back().node == change.node) {
      each_once.back().kinds |= change.kinds;
    } else {
      each_once.push_back(change);
    }
  }
  return each_once;
}

void Journal::commit() {
  WINZE_CHECK(open_, "no transaction is open");
  for (const Record& record : records_) {
    if (record.kind == EditKind::set_slot && record.old_kind == ArgumentKind::list) {
      record.graph->release_slots(record.a, record.b);
    }
  }
  close();
}

void Journal::undo() {
  WINZE_CHECK(open_, "no transaction is open");
  undoing_ = true;
  ++edit_count_;
  for (auto record = records_.rbegin(); record != records_.rend(); ++record)
    record->graph->undo(*record);
  undoing_ = false;
  close();
}

void Journal::close() {
  open_ = false;
  limit_ = 0;
  records_.clear();
  authors_.assign(1, {0, ""});
  std::ranges::sort(touched_);
  touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
  const auto depth = [](const Graph* graph) {
    int levels = 0;
    for (; graph->parent() != nullptr; graph = graph->parent()) ++levels;
    return levels;
  };
  // Inner graphs first: dropping an outer one's dead graphs may end an inner one.
  std::ranges::sort(touched_, std::ranges::greater(), depth);
  for (Graph* graph : touched_) graph->collect_erased();
  for (Graph* graph : touched_) graph->drop_dead_subgraphs();
  touched_.clear();
}

Journal::Entry Journal::entry(std::size_t index) const {
  const Record& record = records_.at(index);
  const auto after = std::ranges::upper_bound(authors_, index, {}, &Author::first_record);
  const ValueId replacement = record.kind == EditKind::replace_uses ? ValueId{record.b} : ValueId{};
  return {record.kind, record.graph, NodeId{record.node}, std::prev(after)->name, replacement};
}

void Graph::drop_dead_subgraphs() {
  for (std::unique_ptr<Graph>& nested : subgraphs_) {
    const bool held =
        nested != nullptr && nested->holder_.valid() && nodes_[nested->holder_.index].alive;
    if (!held) nested.reset();
  }
}

void Graph::undo(const Journal::Record& record) {
  const NodeId node{record.node};
  switch (record.kind) {
    case EditKind::create_node: {
      NodeRecord& made = nodes_[node.index];
      for (std::uint32_t slot = made.first_slot + made.slot_count; slot-- > made.first_slot;)
        empty_slot(SlotId{slot});
      remove_from_index(node);
      unlink_node(node);
      made.alive = false;
      ++made.generation;
      --alive_;
      destroy_node(node);
      break;
    }
    case EditKind::erase_node:
      reattach_node(node);
      break;
    case EditKind::set_slot: {
      const SlotId slot{record.d};
      empty_slot(slot);
      slot_kinds_[slot.index] = record.old_kind;
      slots_[slot.index] = {record.a, record.b, record.c, node};
      if (record.old_kind == ArgumentKind::value) relink_use(slot);
      if (record.old_kind == ArgumentKind::graph) subgraph(GraphId{record.a}).holder_ = node;
      break;
    }
    case EditKind::replace_uses: {
      ValueRecord& source = values_[record.a];
      ValueRecord& target = values_[record.b];
      source.first_use = SlotId{record.c};
      source.last_use = target.last_use;
      source.use_count = record.d;
      Slot& first = slots_[record.c];
      target.last_use = SlotId{first.b};
      (target.last_use.valid() ? slots_[target.last_use.index].c : target.first_use.index) =
          SlotId::none_value;
      target.use_count -= record.d;
      first.b = SlotId::none_value;
      for (std::uint32_t slot = record.c; slot != SlotId::none_value; slot = slots_[slot].c)
        slots_[slot].a = record.a;
      break;
    }
    case EditKind::move_node:
      unlink_node(node);
      link_node(node, NodeId{record.a});
      break;
    case EditKind::set_meta:
      values_[record.a].meta = MetaId{record.b};
      break;
    case EditKind::set_name:
      value_names_[record.a] = StringId{record.b};
      break;
    case EditKind::set_node_name:
      if (record.a == StringId::none_value) {
        node_names_.erase(record.node);
      } else {
        node_names_[record.node] = StringId{record.a};
      }
      break;
    case EditKind::set_source:
      node_sides_[node.index].source = SourceId{record.a};
      break;
    case EditKind::set_positional_count:
      spell(node, record.a);
      break;
    case EditKind::move_reference:
      set_reference(record.a, ValueId{record.b});
      break;
  }
}

}  // namespace winze
