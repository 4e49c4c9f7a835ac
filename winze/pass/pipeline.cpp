// SPDX-License-Identifier: Apache-2.0
#include "winze/pass/pipeline.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include <fmt/ranges.h>

#include "winze/support/diagnostic.h"
#include "winze/support/quote.h"

namespace winze {
namespace {

std::string because(const PassInfo& info) {
  return info.order_reason.empty() ? std::string() : fmt::format(": {}", info.order_reason);
}

}  // namespace

PipelineEntry pipeline_entry(const PassInfo& info) {
  return {&info, info.options == nullptr ? PassOptions() : PassOptions(info.options())};
}

std::string PipelineEntry::str() const {
  return std::string(info->name) + options.str();
}

std::string Pipeline::str() const {
  std::string text;
  for (const PipelineEntry& entry : entries_) text += (text.empty() ? "" : ", ") + entry.str();
  return text;
}

std::string Pipeline::dump() const {
  std::string text;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    text += fmt::format("{:>3}  {:<32}  {}\n", i, entries_[i].str(), entries_[i].info->summary);
  }
  return text;
}

std::size_t Pipeline::index_of(std::string_view name) const {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].info->name == name) found.push_back(i);
  }
  if (found.empty()) {
    throw Error(fmt::format("the pipeline has no pass named {}", quote(name)),
                empty() ? "it is empty" : fmt::format("it is {}", str()));
  }
  if (found.size() > 1) {
    throw Error(fmt::format("the pipeline has {} passes named {}, at {}", found.size(), quote(name),
                            fmt::join(found, ", ")),
                "say which by its index");
  }
  return found.front();
}

void Pipeline::replace(std::vector<PipelineEntry> entries) {
  entries.swap(entries_);
  try {
    check_order();
  } catch (...) {
    entries.swap(entries_);
    throw;
  }
}

void Pipeline::append(PipelineEntry entry) {
  insert(size(), std::move(entry));
}

void Pipeline::insert(std::size_t index, PipelineEntry entry) {
  if (index > size()) fail("index {} is past the end of a pipeline of {} passes", index, size());
  std::vector<PipelineEntry> entries = entries_;
  entries.insert(entries.begin() + static_cast<std::ptrdiff_t>(index), std::move(entry));
  replace(std::move(entries));
}

void Pipeline::insert_before(std::string_view name, PipelineEntry entry) {
  insert(index_of(name), std::move(entry));
}

void Pipeline::insert_after(std::string_view name, PipelineEntry entry) {
  insert(index_of(name) + 1, std::move(entry));
}

void Pipeline::remove(std::size_t index) {
  if (index >= size()) fail("index {} is past the end of a pipeline of {} passes", index, size());
  std::vector<PipelineEntry> entries = entries_;
  entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(index));
  replace(std::move(entries));
}

void Pipeline::remove(std::string_view name) {
  std::vector<PipelineEntry> entries = entries_;
  std::erase_if(entries, [&](const PipelineEntry& entry) { return entry.info->name == name; });
  if (entries.size() == entries_.size()) static_cast<void>(index_of(name));
  replace(std::move(entries));
}

void Pipeline::check_order() const {
  std::unordered_map<std::string_view, std::size_t> last;
  for (std::size_t i = 0; i < entries_.size(); ++i) last[entries_[i].info->name] = i;
  std::unordered_set<std::string_view> seen;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const PassInfo& info = *entries_[i].info;
    for (std::string_view other : info.after) {
      const auto later = last.find(other);
      if (later == last.end() || later->second <= i) continue;
      throw Error(fmt::format("pass {} (at {}) must not stand before {} (at {}){}", info.name, i,
                              other, later->second, because(info)),
                  fmt::format("put {} first", other));
    }
    for (std::string_view needed : info.needs) {
      if (seen.contains(needed)) continue;
      throw Error(
          fmt::format("pass {} (at {}) needs {} before it{}", info.name, i, needed, because(info)),
          fmt::format("add {} before it", needed));
    }
    seen.insert(info.name);
  }
}

}  // namespace winze
