// SPDX-License-Identifier: Apache-2.0
#include "winze/ir/verifier.h"

#include <algorithm>
#include <array>

#include <tsl/robin_set.h>

#include "winze/ir/graph_checker.h"
#include "winze/ir/verifier_checks.h"
#include "winze/support/plural.h"

namespace winze {
namespace {

constexpr std::array<std::string_view, 4> level_names = {"structure", "schema", "meta",
                                                         "semantics"};

void check_node(const Node& node, VerifyLevel level, Findings& findings) {
  if (node.is_call()) check_schema(node, findings);
  if (level < VerifyLevel::meta) return;
  check_meta(node, findings);
  if (node.is_call()) check_bodies(node, findings);
}

}  // namespace

std::string_view name_of(VerifyLevel level) {
  return level_names[static_cast<std::size_t>(level)];
}

std::optional<VerifyLevel> verify_level_from_name(std::string_view name) {
  const auto found = std::ranges::find(level_names, name);
  if (found == level_names.end()) return std::nullopt;
  return static_cast<VerifyLevel>(found - level_names.begin());
}

bool check_structure(const Graph& graph, Findings& findings) {
  // Which graphs are nested in one is read only once it was found sound.
  std::vector<const Graph*> graphs{&graph};
  while (!graphs.empty()) {
    const Graph& current = *graphs.back();
    graphs.pop_back();
    GraphChecker(current, findings).check();
    if (!findings.empty()) return false;
    for (const Graph* nested : current.subgraphs()) graphs.push_back(nested);
  }
  findings.set_printable(true);
  return true;
}

bool check_graph(const Graph& graph, VerifyLevel level, Findings& findings) {
  if (!check_structure(graph, findings)) return false;
  if (level == VerifyLevel::structure) return true;
  for (const Graph* each : graph.all_graphs()) {
    for (const Node node : each->nodes()) check_node(node, level, findings);
  }
  if (level >= VerifyLevel::meta) check_symbols(graph, findings);
  return true;
}

std::vector<Diagnostic> verify(const Graph& graph, VerifyLevel level) {
  Findings findings;
  check_graph(graph, level, findings);
  return findings.take();
}

std::vector<Diagnostic> verify(std::span<const Node> nodes, VerifyLevel level) {
  Findings findings;
  if (nodes.empty()) return {};
  GraphChecker(nodes.front().graph(), findings).check_nodes(nodes);
  if (!findings.empty() || level == VerifyLevel::structure) return findings.take();
  findings.set_printable(true);
  tsl::robin_set<std::uint32_t> checked;
  const auto check_once = [&](const Node& node) {
    if (checked.insert(node.id().index).second) check_node(node, level, findings);
  };
  for (const Node& node : nodes) {
    if (!node.is_alive()) continue;
    check_once(node);
    for (std::uint32_t index = 0; index < node.value_count(); ++index) {
      for (const Use use : node.value(index).uses()) check_once(use.node);
    }
  }
  return findings.take();
}

void Graph::lint() const {
  std::vector<Diagnostic> found = verify(*this, VerifyLevel::schema);
  if (found.empty()) return;
  Diagnostic all;
  all.message =
      fmt::format("graph \"{}\" is not valid: {}", name_, plural(found.size(), "finding"));
  for (const Diagnostic& finding : found) {
    all.notes.push_back(finding.message + (finding.node.empty() ? "" : ", at " + finding.node));
  }
  throw Error(std::move(all));
}

}  // namespace winze
