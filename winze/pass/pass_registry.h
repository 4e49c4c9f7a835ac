// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "winze/pass/pass_info.h"

namespace winze {

class Context;

/// What a library adds to a context before a program is read into it: operators, shape rules.
using ContextSetup = std::function<void(Context& context)>;

/// A pipeline that has a name, which other pipelines may use like a pass.
struct NamedPipeline {
  std::string name;
  std::string text;     ///< in the language of `Pipeline::parse`
  std::string summary;  ///< one sentence
};

/// The passes and named pipelines that a tool knows. Filled by explicit calls
/// (`register_cleanup_passes(registry)`) and by plugins.
class PassRegistry {
 public:
  /// Adds a pass; the record must outlive the registry (it is a constant of the program or plugin).
  /// \throws Error where the name is taken or is no pass name.
  void add(const PassInfo& info);
  void add(const PassInfo&&) = delete;  // a temporary would not outlive it
  void add_pipeline(NamedPipeline pipeline);
  /// Adds to every context that programs are read into from now on. It is called by several
  /// threads, each with a context of its own.
  void add_context_setup(ContextSetup setup) { context_setups_.push_back(std::move(setup)); }

  /// The pass of that name, or null.
  [[nodiscard]] const PassInfo* find(std::string_view name) const;
  [[nodiscard]] const NamedPipeline* find_pipeline(std::string_view name) const;
  /// \throws Error that suggests the nearest names.
  [[nodiscard]] const PassInfo& get(std::string_view name) const;

  /// In order of registration.
  [[nodiscard]] const std::vector<const PassInfo*>& passes() const { return passes_; }
  [[nodiscard]] const std::vector<NamedPipeline>& pipelines() const { return pipelines_; }
  [[nodiscard]] const std::vector<ContextSetup>& context_setups() const { return context_setups_; }

  /// `did you mean "x"?` among passes and pipelines; empty where nothing is near.
  [[nodiscard]] std::string suggestion(std::string_view name) const;

 private:
  void check_name(std::string_view name, std::string_view what) const;
  std::vector<const PassInfo*> passes_;
  std::vector<NamedPipeline> pipelines_;
  std::vector<ContextSetup> context_setups_;
};

/// The reference page of all passes and pipelines, in Markdown.
[[nodiscard]] std::string markdown_reference(const PassRegistry& registry);
/// What `winze passes` prints: each pass with summary, options and triggers, in plain text.
[[nodiscard]] std::string text_reference(const PassRegistry& registry);

}  // namespace winze
