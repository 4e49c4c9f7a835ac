// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "winze/pass/pass_info.h"
#include "winze/pass/pass_options.h"
#include "winze/pass/pass_registry.h"

namespace winze {

/// One pass in a pipeline, with its options there.
struct PipelineEntry {
  const PassInfo* info = nullptr;
  PassOptions options;

  /// `decompose{to=core-aten}`
  [[nodiscard]] std::string str() const;
};

/// An ordered list of passes with options. Text form:
///
///     pipeline = [ entry { "," entry } ]
///     entry    = name [ "{" option { "," option } "}" ]
///     option   = name [ "=" value ]            a name alone means true
///     value    = word | string | "[" [ value { "," value } ] "]"
///
/// A name may be that of a named pipeline, which stands for its passes.
class Pipeline {
 public:
  Pipeline() = default;
  /// \throws Error with column and caret, or the nearest names; ordering constraints are checked.
  [[nodiscard]] static Pipeline parse(std::string_view text, const PassRegistry& registry);

  [[nodiscard]] const std::vector<PipelineEntry>& entries() const { return entries_; }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  /// The text form; parsing it gives an equal pipeline.
  [[nodiscard]] std::string str() const;
  /// One pass a line, with index and summary.
  [[nodiscard]] std::string dump() const;

  // Each of these leaves the pipeline as it was when it throws: where no pass, or more than one,
  // has the name, the index is past the end, or the new order breaks a constraint.

  void append(PipelineEntry entry);
  void insert(std::size_t index, PipelineEntry entry);
  void insert_before(std::string_view name, PipelineEntry entry);
  void insert_after(std::string_view name, PipelineEntry entry);
  void remove(std::size_t index);
  /// Removes each pass of that name.
  void remove(std::string_view name);

  /// Checks `after` and `needs` of every pass. \throws Error that says which two, and why.
  void check_order() const;

 private:
  [[nodiscard]] std::size_t index_of(std::string_view name) const;
  void replace(std::vector<PipelineEntry> entries);
  std::vector<PipelineEntry> entries_;
};

/// An entry with default options.
[[nodiscard]] PipelineEntry pipeline_entry(const PassInfo& info);

}  // namespace winze
