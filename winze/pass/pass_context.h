// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "winze/ir/graph.h"
#include "winze/pass/pass_options.h"
#include "winze/pass/report.h"

namespace winze {

class ExportedProgram;

/// What a pass is given beside the graph: its options, the program around the graph, and a way to
/// say what it did.
class PassContext {
 public:
  /// `program` may be null: for running a pass on a graph alone.
  PassContext(ExportedProgram* program, const PassOptions& options, PassReport& report)
      : program_(program), options_(&options), report_(&report) {}

  template <typename Struct>
  [[nodiscard]] const Struct& options() const {
    return options_->get<Struct>();
  }

  [[nodiscard]] bool has_program() const { return program_ != nullptr; }
  /// The program that the graph belongs to.
  [[nodiscard]] ExportedProgram& program() const {
    WINZE_CHECK(program_ != nullptr, "this pass needs a whole program and was given a graph alone");
    return *program_;
  }

  /// Something the user may want to know; at most 1,000 are kept, the rest counted.
  template <typename... Args>
  void note(fmt::format_string<Args...> format, Args&&... args) {
    add(report_->notes, fmt::format(format, std::forward<Args>(args)...));
  }
  /// Something the user should look at: the pass held back, or cost something.
  template <typename... Args>
  void warn(fmt::format_string<Args...> format, Args&&... args) {
    add(report_->warnings, fmt::format(format, std::forward<Args>(args)...));
  }
  /// Adds to a number of the report.
  void count(std::string_view statistic, std::int64_t amount = 1);

  /// Names the rule that makes the edits from here on, in report and journal, as long as the
  /// returned guard lives.
  class RuleScope;
  [[nodiscard]] RuleScope rule(Graph& graph, std::string_view name);

 private:
  void add(std::vector<std::string>& list, std::string text);
  ExportedProgram* program_;
  const PassOptions* options_;
  PassReport* report_;
};

class [[nodiscard]] PassContext::RuleScope {
 public:
  RuleScope(Journal& journal, PassReport& report, std::string_view name);
  RuleScope(const RuleScope&) = delete;
  RuleScope& operator=(const RuleScope&) = delete;
  ~RuleScope();

 private:
  Journal* journal_;
  PassReport* report_;
  std::string name_;
  std::string outer_author_;
  std::uint64_t edits_before_;
};

}  // namespace winze
