// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/result_store.h"

#include <utility>

#include <ATen/core/Tensor.h>

namespace winze {
namespace {

std::uint64_t bytes_of(const std::vector<c10::IValue>& results) {
  std::uint64_t bytes = 0;
  for (const c10::IValue& result : results) {
    if (!result.isTensor() || !result.toTensor().defined()) continue;
    const at::Tensor& tensor = result.toTensor();
    bytes += tensor.has_storage() ? tensor.storage().nbytes() : tensor.nbytes();
  }
  return bytes;
}

}  // namespace

void ResultStore::begin_run(std::size_t inputs, const std::vector<ResultKey>& keys) {
  inputs_ = static_cast<std::uint32_t>(inputs);
  ++run_;
  for (const ResultKey& key : keys) {
    if (!key.is_reusable) continue;
    const auto found = entries_.find(key_of(key.number));
    if (found != entries_.end()) found.value().run = run_;
  }
}

const std::vector<c10::IValue>* ResultStore::find(std::uint32_t number) const {
  const auto found = entries_.find(key_of(number));
  return found == entries_.end() ? nullptr : &found->second.results;
}

void ResultStore::keep(std::uint32_t number, std::vector<c10::IValue> results) {
  const std::uint64_t bytes = bytes_of(results);
  if (bytes_ + bytes > budget_) drop_old();
  if (bytes_ + bytes > budget_) {
    ++dropped_;
    return;
  }
  Entry entry{.results = std::move(results), .bytes = bytes, .run = run_};
  if (entries_.emplace(key_of(number), std::move(entry)).second) bytes_ += bytes;
}

/// Once a run: entries of other inputs that their own last run made stay, too.
void ResultStore::drop_old() {
  if (swept_ == run_) return;
  swept_ = run_;
  tsl::robin_map<std::uint32_t, std::uint64_t> newest;  // by inputs
  for (const auto& [key, entry] : entries_) {
    std::uint64_t& run = newest[static_cast<std::uint32_t>(key >> 32U)];
    run = std::max(run, entry.run);
  }
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    if (entry->second.run < newest[static_cast<std::uint32_t>(entry->first >> 32U)]) {
      bytes_ -= entry->second.bytes;
      entry = entries_.erase(entry);
    } else {
      ++entry;
    }
  }
}

}  // namespace winze
