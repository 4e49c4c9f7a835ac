// SPDX-License-Identifier: Apache-2.0
#include "winze/pass/pass_context.h"

#include <exception>

#include "winze/program/program.h"

namespace winze {
namespace {

constexpr std::size_t max_messages = 100;

}  // namespace

PassContext::PassContext(ExportedProgram* program, const PassOptions& options, PassReport& report)
    : program_(program), options_(&options), report_(&report) {}

PassContext::~PassContext() = default;

const ExportedProgram& PassContext::program() const {
  WINZE_CHECK(program_ != nullptr, "this pass needs a whole program and was given a graph alone");
  return *program_;
}

ExportedProgram& PassContext::edit_program() {
  static_cast<void>(program());
  if (snapshot_ == nullptr) snapshot_ = std::make_unique<ProgramDetails>(*program_);
  return *program_;
}

void PassContext::restore_program() {
  if (snapshot_ == nullptr) return;
  static_cast<ProgramDetails&>(*program_) = std::move(*snapshot_);
  program_->apply_range_constraints();
  snapshot_.reset();
}

AliasAnalysis PassContext::alias_analysis(Graph& graph) const {
  const bool is_programs = program_ != nullptr && program_->graph.get() == &graph;
  return is_programs ? AliasAnalysis(*program_) : AliasAnalysis(graph);
}

PreservedCalls PassContext::preserved_calls(const Graph& graph) const {
  return program_ != nullptr ? PreservedCalls(*program_) : PreservedCalls(graph.context());
}

void PassContext::count(std::string_view statistic, std::int64_t amount) {
  report_->statistics[std::string(statistic)] += amount;
}

void PassContext::add(std::vector<std::string>& list, std::size_t& dropped, std::string text) {
  if (list.size() < max_messages) {
    list.push_back(std::move(text));
  } else {
    ++dropped;
  }
}

PassContext::RuleScope PassContext::rule(Graph& graph, std::string_view name) {
  return {graph.journal(), *this, name};
}

PassContext::RuleScope::RuleScope(Journal& journal, PassContext& context, std::string_view name)
    : journal_(&journal),
      context_(&context),
      name_(name),
      outer_author_(journal.author()),
      edits_before_(journal.edit_count()),
      exceptions_before_(std::uncaught_exceptions()) {
  journal.set_author(fmt::format("{}/{}", context.report_->name, name));
}

PassContext::RuleScope::~RuleScope() {
  const std::uint64_t edits = journal_->edit_count() - edits_before_;
  if (edits != 0) context_->report_->edits_by_rule[name_] += edits;
  const bool is_unwinding = std::uncaught_exceptions() > exceptions_before_;
  if (is_unwinding && context_->failing_rule_.empty()) context_->failing_rule_ = name_;
  journal_->set_author(outer_author_);
}

}  // namespace winze
