// SPDX-License-Identifier: Apache-2.0
#include "winze/support/interner.h"

#include "winze/support/diagnostic.h"
#include "winze/support/hash.h"

namespace winze {
namespace {

constexpr std::size_t first_slots = 64;

}  // namespace

StringInterner::StringInterner() : slots_(first_slots), seed_(random_seed()) {
  intern({});
}

/// The slot that holds the string, or the empty one where it belongs.
std::size_t StringInterner::slot_of(std::string_view text, std::uint64_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  const auto tag = static_cast<std::uint32_t>(hash >> 32U);
  std::size_t at = hash & mask;
  while (slots_[at].id != not_found && !(slots_[at].tag == tag && views_[slots_[at].id] == text)) {
    at = (at + 1) & mask;
  }
  return at;
}

std::uint32_t StringInterner::intern(std::string_view text) {
  const std::uint64_t hash = hash_bytes(text, seed_);
  std::size_t at = slot_of(text, hash);
  if (slots_[at].id != not_found) return slots_[at].id;
  WINZE_CHECK(views_.size() < not_found, "there are too many different strings");
  const auto id = static_cast<std::uint32_t>(views_.size());
  views_.push_back(texts_.store(text));
  slots_[at] = {static_cast<std::uint32_t>(hash >> 32U), id};
  if (views_.size() * 2 > slots_.size()) grow();
  return id;
}

std::uint32_t StringInterner::find(std::string_view text) const {
  return slots_[slot_of(text, hash_bytes(text, seed_))].id;
}

void StringInterner::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.id == not_found) continue;
    std::size_t at = hash_bytes(views_[slot.id], seed_) & mask;
    while (slots_[at].id != not_found) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

std::size_t StringInterner::memory() const {
  return slots_.capacity() * sizeof(Slot) + views_.capacity() * sizeof(std::string_view) +
         texts_.memory();
}

}  // namespace winze
