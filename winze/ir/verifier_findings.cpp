// SPDX-License-Identifier: Apache-2.0
#include "winze/ir/verifier_findings.h"

#include <utility>

#include "winze/ir/text_printer.h"

namespace winze {

std::string Findings::describe(const Graph& graph, NodeId id) {
  const Node node = graph.node_at(id);
  std::string text;
  TextPrinter printer(graph.context(), text, {.sources = TextSources::none});
  if (!printable_) {
    // Only what needs no other array.
    text = fmt::format("node {}", id.index);
    const OpRegistry& ops = graph.context().ops();
    if (node.is_call() && node.op().index < ops.size())
      text += fmt::format(", a call to {}", ops.qualified_name(node.op()));
    return text;
  }
  std::unique_ptr<ValueNames>& names = names_[&graph];
  if (names == nullptr) names = std::make_unique<ValueNames>(graph);
  printer.node(node, names.get());
  return text;
}

void Findings::add(const Graph& graph, NodeId node, std::string message, std::string hint) {
  if (++count_ > limit) return;
  Diagnostic& diagnostic = found_.emplace_back();
  diagnostic.message = std::move(message);
  diagnostic.hint = std::move(hint);
  if (!node.valid() || node.index >= graph.node_capacity()) {
    diagnostic.notes.push_back(fmt::format("in graph \"{}\"", graph.name()));
    return;
  }
  diagnostic.node = describe(graph, node);
  if (!printable_) return;
  if (const auto line = graph.context().user_line(graph.node_at(node).source())) {
    diagnostic.source = line->str();
  }
  if (graph.parent() != nullptr)
    diagnostic.notes.push_back(fmt::format("in graph \"{}\"", graph.name()));
}

void Findings::add(std::string message, std::string hint) {
  if (++count_ > limit) return;
  Diagnostic& diagnostic = found_.emplace_back();
  diagnostic.message = std::move(message);
  diagnostic.hint = std::move(hint);
}

std::vector<Diagnostic> Findings::take() {
  if (count_ > limit) {
    Diagnostic& last = found_.emplace_back();
    last.severity = Severity::note;
    last.message = fmt::format("{} more findings are not listed", count_ - limit);
  }
  count_ = 0;
  return std::move(found_);
}

}  // namespace winze
