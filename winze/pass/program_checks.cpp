// SPDX-License-Identifier: Apache-2.0
#include "winze/pass/program_checks.h"

#include <algorithm>

#include <tsl/robin_map.h>
#include <tsl/robin_set.h>

#include "winze/ir/verifier.h"
#include "winze/program/program.h"
#include "winze/program/program_verifier.h"
#include "winze/shape/meta_check.h"

namespace winze {
namespace {

/// More findings than these help nobody in one message.
constexpr std::size_t max_notes = 8;

/// Warnings are no reason to stop.
std::vector<Diagnostic> errors_of(std::vector<Diagnostic> findings) {
  std::erase_if(findings,
                [](const Diagnostic& finding) { return finding.severity != Severity::error; });
  return findings;
}

}  // namespace

std::vector<Diagnostic> check_whole(const ExportedProgram& program, bool infers_metas) {
  std::vector<Diagnostic> findings = errors_of(verify(program, VerifyLevel::semantics));
  return findings.empty() && infers_metas ? errors_of(verify_metas(program)) : findings;
}

std::vector<Diagnostic> check_changed(const ExportedProgram& program) {
  const Journal& journal = program.graph->journal();
  const std::vector<Graph*> graphs = program.graph->all_graphs();
  tsl::robin_map<const Graph*, std::size_t> ordinals;
  for (std::size_t i = 0; i < graphs.size(); ++i) ordinals.emplace(graphs[i], i);
  std::vector<std::vector<Node>> changed(graphs.size());
  std::vector<tsl::robin_set<std::uint32_t>> seen(graphs.size());
  for (std::size_t i = 0; i < journal.pending(); ++i) {
    const Journal::Entry entry = journal.entry(i);
    const auto found = ordinals.find(entry.graph);
    if (found == ordinals.end() || !entry.node.valid()) continue;  // in a graph that was erased
    if (seen[found->second].insert(entry.node.index).second)
      changed[found->second].push_back(graphs[found->second]->node_at(entry.node));
  }
  std::vector<Diagnostic> findings;
  for (const std::vector<Node>& nodes : changed) {
    if (nodes.empty()) continue;
    std::vector<Diagnostic> found = errors_of(verify(nodes, VerifyLevel::meta));
    std::move(found.begin(), found.end(), std::back_inserter(findings));
  }
  return findings.empty() ? errors_of(verify_edited_metas(program)) : findings;
}

Diagnostic summary_of(const std::vector<Diagnostic>& findings, std::string what) {
  Diagnostic summary = findings.front();
  summary.message = fmt::format("{}: {}", what, summary.message);
  for (std::size_t i = 1; i < findings.size() && i <= max_notes; ++i) {
    const Diagnostic& finding = findings[i];
    summary.notes.push_back(finding.node.empty()
                                ? finding.message
                                : fmt::format("{}: {}", finding.node, finding.message));
  }
  if (findings.size() > max_notes + 1)
    summary.notes.push_back(fmt::format("and {} more", findings.size() - max_notes - 1));
  return summary;
}

}  // namespace winze
