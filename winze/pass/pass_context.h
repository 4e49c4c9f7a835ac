// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "winze/effects/alias_analysis.h"
#include "winze/ir/graph.h"
#include "winze/pass/pass_options.h"
#include "winze/pass/report.h"
#include "winze/program/module_calls.h"

namespace winze {

struct ExportedProgram;
struct ProgramDetails;

/// What a pass is given beside the graph: its options, the program around the graph, and a way to
/// say what it did.
class PassContext {
 public:
  /// `program` may be null: for running a pass on a graph alone.
  PassContext(ExportedProgram* program, const PassOptions& options, PassReport& report);
  ~PassContext();
  PassContext(const PassContext&) = delete;
  PassContext& operator=(const PassContext&) = delete;

  template <typename Struct>
  [[nodiscard]] const Struct& options() const {
    return options_->get<Struct>();
  }

  [[nodiscard]] bool has_program() const { return program_ != nullptr; }
  /// The program that the graph belongs to.
  [[nodiscard]] const ExportedProgram& program() const;
  /// The same for changing what is not in the graph: weights, ranges, metadata. The first call
  /// keeps a copy of all that, so that it can be taken back with the edits: O(weights), bytes are
  /// shared.
  [[nodiscard]] ExportedProgram& edit_program();
  /// Takes back what was changed through `edit_program`.
  void restore_program();

  /// Which values of `graph`, the program's own or one that stands alone, may share storage.
  [[nodiscard]] AliasAnalysis alias_analysis(Graph& graph) const;
  /// Which calls of modules its nodes have to stay in.
  [[nodiscard]] PreservedCalls preserved_calls(const Graph& graph) const;

  /// Says that the pass is not meant for this program, and why. It must not have edited anything;
  /// the report shows it as skipped and what it promises to leave none of is not checked.
  template <typename... Args>
  void decline(fmt::format_string<Args...> format, Args&&... args) {
    report_->status = PassStatus::skipped;
    report_->reason = fmt::format(format, std::forward<Args>(args)...);
  }
  /// The rule in whose scope an exception began, or empty.
  [[nodiscard]] const std::string& failing_rule() const { return failing_rule_; }
  [[nodiscard]] bool declined() const { return report_->status == PassStatus::skipped; }

  /// Something the user may want to know. Of more than 100 notes the number alone is kept.
  template <typename... Args>
  void note(fmt::format_string<Args...> format, Args&&... args) {
    add(report_->notes, report_->dropped_notes, fmt::format(format, std::forward<Args>(args)...));
  }
  /// Something the user should look at: the pass held back, or cost something.
  template <typename... Args>
  void warn(fmt::format_string<Args...> format, Args&&... args) {
    add(report_->warnings, report_->dropped_warnings,
        fmt::format(format, std::forward<Args>(args)...));
  }
  /// Adds to a number of the report.
  void count(std::string_view statistic, std::int64_t amount = 1);

  /// Names the rule that makes the edits from here on, in report and journal, as long as the
  /// returned guard lives.
  class RuleScope;
  [[nodiscard]] RuleScope rule(Graph& graph, std::string_view name);

 private:
  static void add(std::vector<std::string>& list, std::size_t& dropped, std::string text);
  ExportedProgram* program_;
  const PassOptions* options_;
  PassReport* report_;
  std::unique_ptr<ProgramDetails> snapshot_;  ///< from before the first edit of the program
  std::string failing_rule_;
};

class [[nodiscard]] PassContext::RuleScope {
 public:
  RuleScope(Journal& journal, PassContext& context, std::string_view name);
  RuleScope(const RuleScope&) = delete;
  RuleScope& operator=(const RuleScope&) = delete;
  ~RuleScope();

 private:
  Journal* journal_;
  PassContext* context_;
  std::string name_;
  std::string outer_author_;
  std::uint64_t edits_before_;
  int exceptions_before_;
};

}  // namespace winze
