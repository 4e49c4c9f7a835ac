// SPDX-License-Identifier: Apache-2.0
// Arguments in slots, and the use lists that run through them.
#include <algorithm>

#include "winze/ir/graph.h"
#include "winze/ir/graph_slots.h"
#include "winze/ir/op_signature.h"

namespace winze {
namespace {

constexpr std::uint32_t exact_classes = 32;

/// True for a list that can be interned whole as a constant list of `kind`.
bool all_of_kind(std::span<const Argument> elements, ArgumentKind kind) {
  return std::ranges::all_of(elements,
                             [kind](const Argument& element) { return element.kind() == kind; });
}

}  // namespace

std::uint32_t Graph::allocate_slots(std::uint32_t count) {
  if (count < free_slots_.size() && !free_slots_[count].empty()) {
    const std::uint32_t first = free_slots_[count].back();
    free_slots_[count].pop_back();
    return first;
  }
  const auto first = static_cast<std::uint32_t>(slots_.size());
  slots_.resize(slots_.size() + count);
  slot_kinds_.resize(slots_.size(), ArgumentKind::none);
  return first;
}

void Graph::release_slots(std::uint32_t first, std::uint32_t count) {
  if (count == 0) return;
  for (std::uint32_t index = first; index < first + count; ++index)
    slot_kinds_[index] = ArgumentKind::none;
  // A long run is cut up, so that no run is lost and no table grows with the longest list.
  for (; count > exact_classes; count -= exact_classes, first += exact_classes)
    release_slots(first, exact_classes);
  if (count >= free_slots_.size()) free_slots_.resize(exact_classes + 1);
  free_slots_[count].push_back(first);
}

void Graph::set_raw(SlotId slot, const Argument& argument) {
  Slot& content = slots_[slot.index];
  slot_kinds_[slot.index] = argument.kind();
  if (argument.is_list()) {
    content.a = argument.first_slot().index;
    content.b = argument.count();
  } else {
    content.a = static_cast<std::uint32_t>(argument.bits());
    content.b = static_cast<std::uint32_t>(argument.bits() >> 32);
  }
}

Argument Graph::canonical(const Argument& argument) {
  if (!argument.is_list() || !argument.is_external()) return argument;
  const std::span<const Argument> elements = argument.external_elements();
  if (elements.empty()) return Argument::empty_list();
  switch (const ArgumentKind kind = elements[0].kind()) {
    case ArgumentKind::integer: {
      if (!all_of_kind(elements, kind)) return argument;
      std::vector<std::int64_t> values;
      for (const Argument& element : elements) values.push_back(element.integer());
      return context_->integers(values);
    }
    case ArgumentKind::floating: {
      if (!all_of_kind(elements, kind)) return argument;
      std::vector<double> values;
      for (const Argument& element : elements) values.push_back(element.floating());
      return context_->floats(values);
    }
    case ArgumentKind::boolean: {
      if (!all_of_kind(elements, kind)) return argument;
      const std::unique_ptr<bool[]> values(new bool[elements.size()]);
      for (std::size_t index = 0; index < elements.size(); ++index)
        values[index] = elements[index].boolean();
      return context_->booleans({values.get(), elements.size()});
    }
    case ArgumentKind::string: {
      if (!all_of_kind(elements, kind)) return argument;
      std::vector<StringId> values;
      for (const Argument& element : elements) values.push_back(element.string_id());
      return context_->strings(values);
    }
    default:
      return argument;
  }
}

void Graph::fill_slot(SlotId slot, const Argument& given, NodeId owner, int depth) {
  slots_[slot.index].owner = owner;
  if (given.is_value()) {
    link_use(slot, given.value_id());
    return;
  }
  if (given.kind() == ArgumentKind::graph) {
    Graph& nested = subgraph(given.graph_id());
    WINZE_CHECK(!nested.holder_.valid(), "graph \"{}\" is an argument of two calls", nested.name());
    nested.holder_ = owner;
    set_raw(slot, given);
    return;
  }
  const Argument argument = canonical(given);
  if (!argument.is_list() || argument.count() == 0) {
    set_raw(slot, argument);
    return;
  }
  WINZE_CHECK(depth < max_list_depth, "lists nest deeper than {}", max_list_depth);
  const std::uint32_t count = argument.count();
  const std::uint32_t first = allocate_slots(count);
  set_raw(slot, Argument::slots(SlotId{first}, count));
  for (std::uint32_t index = 0; index < count; ++index) {
    fill_slot(SlotId{first + index}, element(argument, index), owner, depth + 1);
  }
}

void Graph::empty_slot(SlotId slot) {
  const Argument content = read_slot(slot.index);
  if (content.is_value()) {
    unlink_use(slot);
  } else if (content.kind() == ArgumentKind::graph) {
    subgraph(content.graph_id()).holder_ = NodeId{};
  } else if (content.is_list()) {
    for (std::uint32_t index = content.count(); index-- > 0;) {
      empty_slot(SlotId{content.first_slot().index + index});
    }
    release_slots(content.first_slot().index, content.count());
  }
  slot_kinds_[slot.index] = ArgumentKind::none;
}

void Graph::release_list(SlotId slot) {
  if (slot_kinds_[slot.index] != ArgumentKind::list) return;
  const Argument list = read_slot(slot.index);
  for (std::uint32_t index = 0; index < list.count(); ++index) {
    release_list(SlotId{list.first_slot().index + index});
  }
  release_slots(list.first_slot().index, list.count());
}

void Graph::change_slot(SlotId slot, const Argument& given) {
  const NodeId owner = slots_[slot.index].owner;
  const Argument old = read_slot(slot.index);
  if (old.is_list()) {
    for (std::uint32_t index = 0; index < old.count(); ++index) {
      change_slot(SlotId{old.first_slot().index + index}, Argument::none());
    }
  }
  Journal::Record record;
  record.graph = this;
  record.kind = EditKind::set_slot;
  record.old_kind = slot_kinds_[slot.index];
  record.a = slots_[slot.index].a;
  record.b = slots_[slot.index].b;
  record.c = slots_[slot.index].c;
  record.d = slot.index;
  record.node = owner.index;
  journal_->add(record);
  if (old.is_value()) unlink_use(slot);
  if (old.kind() == ArgumentKind::graph) subgraph(old.graph_id()).holder_ = NodeId{};
  // While a transaction is open the old list's slots are kept for undo; commit gives them back.
  if (old.is_list() && !journal_->is_open()) release_slots(old.first_slot().index, old.count());
  fill_slot(slot, given, owner);
}

void Graph::link_use(SlotId slot, ValueId value) {
  Slot& use = slots_[slot.index];
  ValueRecord& record = values_[value.index];
  slot_kinds_[slot.index] = ArgumentKind::value;
  use.a = value.index;
  use.b = record.last_use.index;
  use.c = SlotId::none_value;
  (record.last_use.valid() ? slots_[record.last_use.index].c : record.first_use.index) = slot.index;
  record.last_use = slot;
  ++record.use_count;
}

void Graph::unlink_use(SlotId slot) {
  const Slot& use = slots_[slot.index];
  ValueRecord& record = values_[use.a];
  (use.b != SlotId::none_value ? slots_[use.b].c : record.first_use.index) = use.c;
  (use.c != SlotId::none_value ? slots_[use.c].b : record.last_use.index) = use.b;
  --record.use_count;
}

void Graph::relink_use(SlotId slot) {
  const Slot& use = slots_[slot.index];
  ValueRecord& record = values_[use.a];
  (use.b != SlotId::none_value ? slots_[use.b].c : record.first_use.index) = slot.index;
  (use.c != SlotId::none_value ? slots_[use.c].b : record.last_use.index) = slot.index;
  ++record.use_count;
}

void Graph::splice_uses(ValueId from, ValueId to) {
  ValueRecord& source = values_[from.index];
  ValueRecord& target = values_[to.index];
  Journal::Record record;
  record.graph = this;
  record.kind = EditKind::replace_uses;
  record.a = from.index;
  record.b = to.index;
  record.c = source.first_use.index;
  record.d = source.use_count;
  record.node = source.node.index;
  journal_->add(record);
  const bool watched = journal_->is_watching();
  for (std::uint32_t slot = source.first_use.index; slot != SlotId::none_value;) {
    Slot& use = slots_[slot];
    use.a = to.index;
    if (watched) journal_->note(this, EditKind::replace_uses, use.owner.index);
    // Uses mostly lie in the order of the list, about evenly; without a guess where the ones after
    // the next are, the list would be followed at the pace of memory.
    constexpr std::uint32_t ahead = 64;
    slots_.prefetch(std::size_t{use.c} + std::size_t{use.c - slot} * ahead);
    slot = use.c;
  }
  slots_[source.first_use.index].b = target.last_use.index;
  (target.last_use.valid() ? slots_[target.last_use.index].c : target.first_use.index) =
      source.first_use.index;
  target.last_use = source.last_use;
  target.use_count += source.use_count;
  source.first_use = source.last_use = SlotId{};
  source.use_count = 0;
}

/// Whether it is quickly seen that no node from the value's own up to `last` uses it, so that all
/// its uses come after `last`: a replacement is mostly made right after what it replaces. Looks at
/// no more arguments than there are uses, and a few.
bool Graph::is_unused_up_to(ValueId value, NodeId last) const {
  constexpr std::uint32_t few = 16;
  const ValueRecord& source = values_[value.index];
  std::uint64_t left = std::uint64_t{source.use_count} + few;
  for (NodeId at = source.node; at != last;) {
    at = nodes_[at.index].next;
    if (!at.valid()) return false;
    const NodeRecord& record = nodes_[at.index];
    if (record.slot_count >= left) return false;
    left -= record.slot_count + std::uint64_t{1};
    for (std::uint32_t slot = record.first_slot; slot < record.first_slot + record.slot_count;
         ++slot) {
      const bool may_use =
          slot_kinds_[slot] == ArgumentKind::list
              ? slots_[slot].b != 0
              : slot_kinds_[slot] == ArgumentKind::value && slots_[slot].a == value.index;
      if (may_use) return false;
    }
  }
  return true;
}

std::uint32_t Graph::replace_uses(ValueId from, ValueId to,
                                  const std::function<bool(Node)>* predicate) {
  if (from == to) return 0;
  const ValueRecord& source = values_[from.index];
  const NodeId new_node = values_[to.index].node;
  const bool whole = predicate == nullptr;
  if (whole) move_references(from, to);
  if (source.use_count == 0) return 0;
  journal_->begin_edit();
  // All uses of `from` come after its node, so they can see anything that comes before it.
  if (whole && (comes_before(new_node, source.node) || new_node == source.node ||
                is_unused_up_to(from, new_node))) {
    const std::uint32_t count = source.use_count;
    splice_uses(from, to);
    return count;
  }
  std::uint32_t count = 0;
  for (const Use use : UseRange(this, source.first_use)) {
    const NodeId user = use.node.id();
    if (!comes_before(new_node, user) || (predicate != nullptr && !(*predicate)(use.node)))
      continue;
    change_slot(use.slot, Argument::of_value(to, serial_));
    ++count;
  }
  return count;
}

}  // namespace winze
