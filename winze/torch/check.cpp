// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/check.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <ranges>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "winze/ir/text_printer.h"
#include "winze/pass/line_diff.h"
#include "winze/program/program_text.h"
#include "winze/torch/executor.h"
#include "winze/torch/numeric_judge.h"

namespace winze {
namespace {

/// Lines of the difference that one edit makes which are shown.
constexpr std::size_t shown_lines = 16;

/// libtorch's random generator and number of threads are those of the whole process.
std::mutex& run_mutex() {
  static std::mutex mutex;
  return mutex;
}

class CheckedRun {
 public:
  CheckedRun(const Pipeline& pipeline, const PassManagerOptions& manager, ExportedProgram& program,
             const CheckOptions& options)
      : pipeline_(pipeline),
        manager_(manager),
        program_(program),
        options_(options),
        original_(program.clone()),
        judge_(original_, options) {}

  CheckOutcome run() {
    PassManagerOptions manager = manager_;
    if (options_.mode == CheckMode::each)
      manager.check_pass = [this](const PassInfo& info) { return check_pass(info); };
    outcome_.report = PassManager(pipeline_, std::move(manager)).run(program_);
    if (departure_) {
      explain_pass();
    } else if (outcome_.report.ok()) {
      check_whole_run();
    }
    outcome_.runs = judge_.runs();
    outcome_.calls = judge_.calls();
    outcome_.reused_calls = judge_.reused_calls();
    outcome_.seconds = judge_.seconds();
    if (judge_.results_dropped() != 0) {
      outcome_.notes.push_back(
          fmt::format("results were reused as far as {} MB of memory allow; others were computed "
                      "again",
                      options_.reuse_bytes >> 20U));
    }
    for (const std::string& note : judge_.notes()) outcome_.notes.push_back(note);
    return std::move(outcome_);
  }

 private:
  std::optional<Diagnostic> check_pass(const PassInfo& info) {
    if (judge_.seconds() > options_.budget_seconds) {
      unchecked_.emplace_back(info.name);
      return std::nullopt;
    }
    may_unshare_ = info.changes_output_aliasing;
    departure_ = judge_.judge(program_, may_unshare_);
    if (departure_) {
      departure_->message = "it changes what the program computes: " + departure_->message;
    } else {
      judge_.accept();
      ++outcome_.checked_passes;
    }
    return departure_;
  }

  /// A pass departed and was taken back: which edit of it?
  void explain_pass() {
    const auto failed =
        std::ranges::find(outcome_.report.passes, PassStatus::failed, &PassReport::status);
    if (failed == outcome_.report.passes.end()) return;
    narrow(outcome_.report.edits, outcome_.report.edits + failed->edits);
  }

  /// The whole against the original. After `each` with all passes checked only rounding that adds
  /// up could be found, at the price of no run.
  void check_whole_run() {
    if (!unchecked_.empty()) {
      outcome_.notes.push_back(
          fmt::format("the budget of {} s was used up: not checked by themselves: {}",
                      options_.budget_seconds, fmt::join(unchecked_, ", ")));
    }
    note_unsharing();
    const bool all_checked = options_.mode == CheckMode::each && unchecked_.empty();
    if (all_checked || outcome_.report.edits == 0) return;
    judge_.reset();
    outcome_.checked_whole = true;
    may_unshare_ = !unsharing_.empty();
    departure_ = judge_.judge(program_, may_unshare_);
    if (!departure_) return;
    const std::uint64_t edits = outcome_.report.edits;
    outcome_.report.error = *departure_;
    outcome_.report.error->message =
        "the lowered program computes something else: " + departure_->message;
    narrow(0, edits);
    program_ = original_.clone();
  }

  /// Which passes made outputs stop sharing storage by intention, in a run without the check of
  /// each pass too.
  void note_unsharing() {
    unsharing_.clear();
    const std::vector<PipelineEntry>& entries = pipeline_.entries();
    for (std::size_t i = 0; i < entries.size() && i < outcome_.report.passes.size(); ++i) {
      const std::string name(entries[i].info->name);
      if (entries[i].info->changes_output_aliasing && outcome_.report.passes[i].edits != 0 &&
          std::ranges::find(unsharing_, name) == unsharing_.end())
        unsharing_.push_back(name);
    }
    if (unsharing_.empty() || !options_.compare.aliasing) return;
    outcome_.notes.push_back(fmt::format(
        "outputs were allowed to stop sharing storage with inputs and each other, as {} "
        "is meant to make them",
        fmt::join(unsharing_, ", ")));
  }

  /// Finds an edit in (first, last] without which the program computes the same and with which it
  /// does not, and puts it into the error.
  void narrow(std::uint64_t first, std::uint64_t last) {
    Diagnostic& error = *outcome_.report.error;
    if (!probe(last)) {
      error.notes.emplace_back(
          "running the passes again on a copy does not show it, so no edit can be named");
      return;
    }
    while (last - first > 1) {
      const std::uint64_t middle = first + (last - first) / 2;
      (probe(middle) ? last : first) = middle;
    }
    describe_edit(last, error);
  }

  /// Whether the program departs when the pipeline is stopped after so many edits.
  bool probe(std::uint64_t edits) {
    const ExportedProgram copy = run_to(edits).program;
    return judge_.judge(copy, may_unshare_).has_value();
  }

  struct Stopped {
    ExportedProgram program;
    Report report;
  };
  [[nodiscard]] Stopped run_to(std::uint64_t edits) const {
    Stopped stopped{original_.clone(), {}};
    const PassManagerOptions manager{.verify_each = VerifyEach::none, .stop_after_edits = edits};
    stopped.report = PassManager(pipeline_, manager).run(stopped.program);
    return stopped;
  }

  void describe_edit(std::uint64_t edit, Diagnostic& error) const {
    const Stopped before = run_to(edit - 1);
    const Stopped after = run_to(edit);
    const PassReport* made_by = last_pass(after.report);
    std::string what = fmt::format("it begins with edit {} of the run", edit);
    if (made_by != nullptr)
      what += fmt::format(", edit {} of pass {}", made_by->edits, made_by->name);
    if (made_by != nullptr && made_by->last_edit) {
      const LastEdit& details = *made_by->last_edit;
      what += fmt::format(" ({})", details.kind);
      if (details.author != made_by->name) what += fmt::format(", made by {}", details.author);
      if (error.node.empty()) name_node(details, before.program, error);
    }
    error.notes.push_back(what);
    add_difference(before.program, after.program, error);
  }

  /// The node that was edited, with the user's line; one that was erased as it was before.
  static void name_node(const LastEdit& edit, const ExportedProgram& before, Diagnostic& error) {
    error.node = edit.node;
    error.source = edit.source;
    if (!edit.node.empty()) return;
    const std::vector<Graph*> graphs = before.graph->all_graphs();
    if (edit.graph >= graphs.size()) return;
    const Graph& graph = *graphs[edit.graph];
    if (!edit.id.valid() || edit.id.index >= graph.node_capacity()) return;
    const Node node = graph.node_at(edit.id);
    if (!node.is_alive()) return;
    error.node = node.str();
    if (const auto line = before.context().user_line(node.source())) error.source = line->str();
  }

  static const PassReport* last_pass(const Report& report) {
    const PassReport* last = nullptr;
    for (const PassReport& pass : report.passes) {
      if (pass.edits != 0) last = &pass;
    }
    return last;
  }

  static void add_difference(const ExportedProgram& before, const ExportedProgram& after,
                             Diagnostic& error) {
    const TextPrintOptions print{.sources = TextSources::none};
    std::string text =
        line_diff(print_graph(*before.graph, print), print_graph(*after.graph, print), 0);
    std::size_t lines = 0;
    for (const auto part : text | std::views::split('\n')) {
      const std::string_view line(part.begin(), part.end());
      if (line.empty() || line.starts_with("@@")) continue;
      if (++lines > shown_lines) {
        error.notes.emplace_back("... further lines changed");
        return;
      }
      const std::size_t indent = std::min(line.find_first_not_of(' ', 1), line.size());
      error.notes.push_back(fmt::format("{} {}", line.front(), line.substr(indent)));
    }
  }

  const Pipeline& pipeline_;
  const PassManagerOptions& manager_;
  ExportedProgram& program_;
  const CheckOptions& options_;
  ExportedProgram original_;
  NumericJudge judge_;
  CheckOutcome outcome_;
  std::optional<Diagnostic> departure_;
  std::vector<std::string> unchecked_;
  bool may_unshare_ = false;  ///< in what was judged last
  std::vector<std::string> unsharing_;
};

}  // namespace

CheckOutcome run_checked(const Pipeline& pipeline, const PassManagerOptions& manager,
                         ExportedProgram& program, const CheckOptions& options) {
  const std::lock_guard lock(run_mutex());
  for (const std::string& library : options.libraries) load_operator_library(library);
  return CheckedRun(pipeline, manager, program, options).run();
}

}  // namespace winze
