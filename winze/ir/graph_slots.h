// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "winze/ir/graph.h"
#include "winze/ir/op_signature.h"

namespace winze {

template <typename Visit>
void Graph::visit_slot_range(std::uint32_t first, std::uint32_t count, Visit& visit) const {
  for (std::uint32_t slot = first; slot < first + count; ++slot) {
    const ArgumentKind kind = slot_kinds_[slot];
    if (kind == ArgumentKind::value || kind == ArgumentKind::graph) {
      visit(SlotId{slot});
    } else if (kind == ArgumentKind::list) {
      visit_slot_range(slots_[slot].a, slots_[slot].b, visit);  // fill_slot bounds the depth
    }
  }
}

template <typename Visit>
void Graph::visit_slots(const NodeRecord& record, Visit visit) const {
  visit_slot_range(record.first_slot, record.slot_count, visit);
}

inline Argument Graph::normalized(const OpSignature& signature, std::size_t index,
                                  const Argument& argument) {
  Argument result = argument;
  if (index < signature.arguments.size() && signature.arguments[index].has_default &&
      !argument.is_default()) {
    result = canonical(argument);
    if (same_attribute(result, signature.arguments[index].default_value))
      result = Argument::default_value();
  }
  return result;
}

}  // namespace winze
