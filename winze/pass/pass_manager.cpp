// SPDX-License-Identifier: Apache-2.0
#include "winze/pass/pass_manager.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <ranges>

#include "winze/pass/op_counts.h"
#include "winze/pass/pass_context.h"
#include "winze/pass/pass_printer.h"
#include "winze/pass/program_checks.h"
#include "winze/pass/reproducer.h"
#include "winze/program/module_calls.h"
#include "winze/program/program.h"
#include "winze/support/atomic_file.h"
#include "winze/support/quote.h"

namespace winze {
namespace {

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

std::int64_t peak_resident_bytes() {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;  // Linux counts in KiB
}

bool calls_any(const Graph& root, const OpList& ops) {
  const std::vector<const Graph*> graphs = root.all_graphs();
  return std::any_of(graphs.begin(), graphs.end(), [&](const Graph* graph) {
    return std::any_of(ops.begin(), ops.end(), [&](OpId op) { return graph->count(op) != 0; });
  });
}

std::string names_of(const OpRegistry& registry, const OpList& ops) {
  std::string names;
  for (OpId op : ops)
    names += (names.empty() ? "" : ", ") + std::string(registry.qualified_name(op));
  return names;
}

std::string_view name_of(EditKind kind) {
  switch (kind) {
    case EditKind::create_node:
      return "create_node";
    case EditKind::erase_node:
      return "erase_node";
    case EditKind::set_slot:
      return "set_argument";
    case EditKind::replace_uses:
      return "replace_uses";
    case EditKind::move_node:
      return "move_node";
    case EditKind::set_meta:
      return "set_meta";
    case EditKind::set_name:
    case EditKind::set_node_name:
      return "set_name";
    case EditKind::set_source:
      return "set_source";
    case EditKind::set_positional_count:
      return "set_positional_count";
    case EditKind::move_reference:
      return "move_reference";
  }
  return "edit";
}

/// The newest edit of the open transaction as data.
std::optional<LastEdit> last_edit(const Graph& graph) {
  const Journal& journal = graph.journal();
  if (journal.pending() == 0) return std::nullopt;
  const Journal::Entry entry = journal.entry(journal.pending() - 1);
  LastEdit edit{.kind = std::string(name_of(entry.kind)),
                .author = std::string(entry.author),
                .id = entry.node};
  const std::vector<const Graph*> graphs = graph.all_graphs();
  edit.graph = static_cast<std::size_t>(std::ranges::find(graphs, entry.graph) - graphs.begin());
  const Node node = entry.graph->node_at(entry.node);
  if (entry.kind == EditKind::erase_node || !node || !node.is_alive()) return edit;
  edit.node = node.str();
  if (const auto line = graph.context().user_line(node.source())) edit.source = line->str();
  return edit;
}

/// One run of a pipeline over one program.
class PipelineRun {
 public:
  PipelineRun(const Pipeline& pipeline, const PassManagerOptions& options, ExportedProgram& program)
      : pipeline_(pipeline),
        options_(options),
        program_(program),
        printer_(options, program),
        counts_(*program.graph),
        lost_calls_(lost_module_calls(program)) {}

  Report run() {
    const Stopwatch watch;
    begin_report();
    if (check_ends("the program is not valid, before any pass")) run_passes();
    if (report_.ok() && report_.edits != 0)
      check_ends("the program is not valid after the pipeline");
    report_.nodes_after = counts_.nodes();
    report_.seconds = watch.seconds();
    return std::move(report_);
  }

 private:
  void begin_report() {
    report_.program = program_.name;
    report_.pipeline = pipeline_.str();
    report_.nodes_before = counts_.nodes();
    for (const PipelineEntry& entry : pipeline_.entries()) {
      PassReport pass;
      pass.name = entry.info->name;
      pass.options = entry.options.str();
      report_.passes.push_back(std::move(pass));
    }
  }

  /// False, with the error in the report, where the whole program is not valid.
  bool check_ends(std::string what) {
    if (options_.verify_each == VerifyEach::none) return true;
    const bool infers_metas = options_.verify_each == VerifyEach::whole;
    const std::vector<Diagnostic> findings = check_whole(program_, infers_metas);
    if (!findings.empty()) report_.error = summary_of(findings, std::move(what));
    return findings.empty();
  }

  void run_passes() {
    for (std::size_t i = 0; i < pipeline_.size() && report_.ok(); ++i) {
      if (options_.stop_after_edits && report_.edits >= *options_.stop_after_edits) {
        report_.stopped_by_edit_limit = true;
        return;
      }
      if (options_.progress) options_.progress(i, pipeline_.size(), *pipeline_.entries()[i].info);
      run_entry(i);
      if (report_.stopped_by_edit_limit) return;
    }
  }

  void run_entry(std::size_t index) {
    const PipelineEntry& entry = pipeline_.entries()[index];
    PassReport& pass = report_.passes[index];
    pass.nodes_before = pass.nodes_after = counts_.nodes();
    if (!entry.info->triggers.empty() && !calls_any(*program_.graph, entry.info->triggers)) {
      pass.status = PassStatus::skipped;
      pass.reason = fmt::format("no graph calls any of {}",
                                names_of(program_.context().ops(), entry.info->triggers));
      return;
    }
    printer_.before(entry, index);
    Journal& journal = program_.graph->journal();
    const std::uint64_t edits_before = journal.edit_count();
    const std::int64_t peak_before = peak_resident_bytes();
    PassContext context(&program_, entry.options, pass);
    pass.status = PassStatus::ran;
    journal.begin(entry.info->name);
    if (options_.stop_after_edits)
      journal.set_edit_limit(*options_.stop_after_edits - report_.edits);
    const std::optional<Diagnostic> failure = attempt(entry, context, pass);
    pass.edits = journal.edit_count() - edits_before;
    pass.peak_memory_bytes = peak_resident_bytes() - peak_before;
    if (pass.status == PassStatus::stopped && entry.info->edits_stand_together) {
      journal.undo();
      context.restore_program();
      pass.reason += ", which are not all of its edits: none is made";
      pass.edits = 0;
      return;
    }
    if (failure) {
      take_back(index, context, *failure);
      return;
    }
    report_.edits += pass.edits;
    if (options_.stop_after_edits && report_.edits == *options_.stop_after_edits &&
        !entry.info->edits_stand_together)
      pass.last_edit = last_edit(*program_.graph);
    journal.commit();
    if (pass.edits != 0) count_again(pass);
    printer_.after(entry, index, pass.edits != 0);
  }

  /// Runs the pass and checks what it left. Returns what went wrong, if anything did.
  std::optional<Diagnostic> attempt(const PipelineEntry& entry, PassContext& context,
                                    PassReport& pass) {
    const Stopwatch watch;
    try {
      call(*entry.info, context);
      pass.seconds = watch.seconds();
      drop_lost_calls(context);
      const Stopwatch verify_watch;
      std::optional<Diagnostic> failure = check_result(*entry.info, context);
      pass.verify_seconds = verify_watch.seconds();
      const bool edited = program_.graph->journal().pending() != 0;
      if (!failure && edited && options_.check_pass) failure = options_.check_pass(*entry.info);
      return failure;
    } catch (const EditLimitReached&) {
      pass.seconds = watch.seconds();
      pass.status = PassStatus::stopped;
      pass.reason = fmt::format("after {} edits", *options_.stop_after_edits);
      report_.stopped_by_edit_limit = true;
      return std::nullopt;
    } catch (const DiagnosticError& error) {
      return error.diagnostic();
    } catch (const std::bad_alloc&) {
      return Diagnostic{.message = "out of memory"};
    } catch (const std::exception& error) {
      return Diagnostic{.message = error.what()};
    }
  }

  void call(const PassInfo& info, PassContext& context) {
    if (info.scope == PassScope::program) {
      info.run(*program_.graph, context);
      return;
    }
    const std::vector<Graph*> graphs = program_.graph->all_graphs();
    for (Graph* graph : graphs | std::views::reverse) info.run(*graph, context);
  }

  /// Signatures of modules that do not fit the graph any more would keep PyTorch from making
  /// modules of it. Those that did not fit before any pass are as they came.
  void drop_lost_calls(PassContext& context) {
    if (program_.graph->journal().pending() == 0) return;
    for (const std::size_t lost : lost_module_calls(program_)) {
      if (std::ranges::binary_search(lost_calls_, lost)) continue;
      ModuleCallEntry& entry = context.edit_program().module_call_graph[lost];
      entry.signature.reset();
      context.warn(
          "the preserved signature of module {} is dropped: what is left of its nodes does not fit "
          "it",
          quote(entry.fqn));
    }
  }

  std::optional<Diagnostic> check_result(const PassInfo& info, const PassContext& context) {
    if (!context.declined()) {
      for (OpId op : info.leaves_none_of) {
        if (const Node left = first_call_to(op)) {
          return Diagnostic{.message = fmt::format("it promised to leave no {}, and left this one",
                                                   program_.context().ops().qualified_name(op)),
                            .node = left.str()};
        }
      }
    }
    std::vector<Diagnostic> findings;
    if (options_.verify_each == VerifyEach::whole) findings = check_whole(program_, true);
    if (options_.verify_each == VerifyEach::changed) findings = check_changed(program_);
    if (findings.empty()) return std::nullopt;
    return summary_of(findings, "it left a program that is not valid");
  }

  Node first_call_to(OpId op) {
    for (const Graph* graph : program_.graph->all_graphs()) {
      if (graph->count(op) != 0) return graph->find_nodes(op).front();
    }
    return {};
  }

  /// Undoes a pass that failed, and says so.
  void take_back(std::size_t index, PassContext& context, Diagnostic failure) {
    const PipelineEntry& entry = pipeline_.entries()[index];
    PassReport& pass = report_.passes[index];
    printer_.on_failure(entry, index);
    program_.graph->journal().undo();
    context.restore_program();
    pass.status = PassStatus::failed;
    failure.message =
        fmt::format("pass {} (at {}) failed: {}", entry.info->name, index, failure.message);
    if (!context.failing_rule().empty())
      failure.notes.push_back(fmt::format("in rule {}", context.failing_rule()));
    failure.notes.emplace_back("its edits were taken back, and the passes after it were not run");
    report_.error = std::move(failure);
    write_reproducer(entry);
  }

  void write_reproducer(const PipelineEntry& entry) {
    if (options_.reproducer.empty()) return;
    const std::string path = options_.reproducer.string();
    try {
      write_file_atomically(path, reproducer_text(program_, entry.str(), report_.error->str()));
      report_.reproducer = path;
      report_.error->notes.push_back(fmt::format("reproducer: {}", path));
    } catch (const DiagnosticError& error) {
      report_.error->notes.push_back(
          fmt::format("no reproducer was written: {}", error.diagnostic().message));
    }
  }

  void count_again(PassReport& pass) {
    OpCounts now(*program_.graph);
    pass.op_changes = counts_.changes(now, program_.context().ops());
    pass.nodes_after = now.nodes();
    counts_ = std::move(now);
  }

  const Pipeline& pipeline_;
  const PassManagerOptions& options_;
  ExportedProgram& program_;
  PassPrinter printer_;
  OpCounts counts_;
  std::vector<std::size_t> lost_calls_;  ///< before any pass
  Report report_;
};

}  // namespace

PassManager::PassManager(Pipeline pipeline, PassManagerOptions options)
    : pipeline_(std::move(pipeline)), options_(std::move(options)) {
  for (const std::vector<std::string>* names : {&options_.print_before, &options_.print_after}) {
    for (const std::string& name : *names) {
      const bool known =
          name == "all" ||
          std::any_of(pipeline_.entries().begin(), pipeline_.entries().end(),
                      [&](const PipelineEntry& entry) { return entry.info->name == name; });
      if (known) continue;
      throw Error(
          fmt::format("printing is asked for pass {}, which is not in the pipeline", quote(name)),
          pipeline_.empty() ? "the pipeline is empty"
                            : fmt::format("the pipeline is {}", pipeline_.str()));
    }
  }
}

Report PassManager::run(ExportedProgram& program) const {
  return PipelineRun(pipeline_, options_, program).run();
}

}  // namespace winze
