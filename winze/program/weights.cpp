// SPDX-License-Identifier: Apache-2.0
#include "winze/program/weights.h"

#include <utility>

#include "winze/support/diagnostic.h"
#include "winze/support/quote.h"

namespace winze {

const Weight* WeightTable::find(std::string_view fqn) const {
  const auto found = by_name_.find(fqn);
  return found == by_name_.end() ? nullptr : &entries_[found->second];
}

Weight* WeightTable::find(std::string_view fqn) {
  return const_cast<Weight*>(std::as_const(*this).find(fqn));
}

Weight& WeightTable::add(Weight weight) {
  if (!by_name_.emplace(weight.fqn, static_cast<std::uint32_t>(entries_.size())).second) {
    fail("weight {} is there twice", quote(weight.fqn));
  }
  return entries_.emplace_back(std::move(weight));
}

std::size_t WeightTable::erase_if(const std::function<bool(const Weight&)>& unwanted) {
  const std::size_t erased = std::erase_if(entries_, unwanted);
  by_name_.clear();
  for (std::uint32_t at = 0; at < entries_.size(); ++at) by_name_.emplace(entries_[at].fqn, at);
  return erased;
}

void WeightTable::clear() {
  entries_.clear();
  unknown_members_.clear();
  by_name_.clear();
}

}  // namespace winze
