// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/numeric_judge.h"

#include <algorithm>
#include <chrono>
#include <string_view>

#include <fmt/format.h>

#include "winze/torch/host_conversion.h"
#include "winze/torch/input_file.h"
#include "winze/torch/promote.h"

namespace winze {
namespace {

/// Adds the time of its life to a sum.
class Timer {
 public:
  explicit Timer(double& sum) : sum_(&sum) {}
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer() {
    *sum_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  double* sum_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

NumericJudge::NumericJudge(const ExportedProgram& original, const CheckOptions& options)
    : original_(&original),
      options_(&options),
      store_(options.reuse_bytes),
      original_facts_(original),
      original_executor_(original, executor_options()) {
  const Timer timer(seconds_);
  if (!original.has_all_bytes()) note("weights that are not at hand are made up");
  original_values_.draws = original_facts_.draws();
  choose_cases();
  accepted_ = original_values_;
}

void NumericJudge::note(std::string text) {
  if (std::ranges::find(notes_, text) == notes_.end()) notes_.push_back(std::move(text));
}

ExecutorOptions NumericJudge::executor_options() {
  return {.threads = options_->threads,
          .seed = options_->generate.seed,
          .make_up_weights = true,
          .fill = UninitializedFill::first,
          .keys = options_->reuse_bytes == 0 ? nullptr : &keys_};
}

RunValues NumericJudge::run(Executor& executor, const std::vector<HostValue>& inputs,
                            std::size_t index) {
  ++runs_;
  RunValues values = to_run_values(executor, executor.run(to_ivalues(inputs), store_, index));
  calls_ += executor.call_count();
  reused_calls_ += executor.calls_left_out();
  return values;
}

/// The places of values that are others when memory that nothing initialized holds other numbers.
std::vector<std::string> NumericJudge::find_undefined(RunValues& values,
                                                      const std::vector<HostValue>& inputs) {
  if (!original_executor_.has_uninitialized()) return {};
  ++runs_;
  original_executor_.set_fill(UninitializedFill::second);
  const ExecutorResult other = original_executor_.run(to_ivalues(inputs));
  original_executor_.set_fill(UninitializedFill::first);
  std::vector<std::string> places;
  if (!mark_undefined(values, to_run_values(original_executor_, other))) return places;
  for (const NamedValue& value : values.values) {
    if (!value.is_undefined) continue;
    places.push_back(value.place());
    note(fmt::format(
        "{} depends on memory that nothing initialized: only its kind, dtype and shape were "
        "compared",
        value.text()));
  }
  return places;
}

void NumericJudge::choose_cases() {
  const InputGenerator generator(*original_, options_->generate);
  std::uint32_t wanted = options_->draws;
  if (wanted == 0) wanted = std::min(CheckOptions::default_draws, generator.size_count());
  if (options_->generate.symbols.empty()) {
    try {
      if (std::optional<InputCase> stored = stored_inputs(*original_))
        add_case("stored in the program", std::move(stored->values));
    } catch (const Error& error) {
      note(fmt::format("the inputs stored in the program are left out: {}",
                       error.diagnostic().message));
    }
  }
  // Draw 0 has the sizes of the stored inputs. Inputs on which the original stops make room for
  // others, for a while.
  const std::uint32_t first = cases_.empty() ? 0 : 1;
  for (std::uint32_t draw = first; cases_.size() < wanted && draw < first + 2 * wanted; ++draw) {
    GeneratedInputs generated = generator.generate(draw);
    for (std::string& text : generated.notes) note(std::move(text));
    add_case(std::move(generated.description), std::move(generated.values));
  }
  if (cases_.empty()) note("nothing was compared: the program itself stops on all inputs tried");
}

void NumericJudge::add_case(std::string title, std::vector<HostValue> inputs) {
  std::vector<std::string> undefined;
  try {
    const std::string separated = separate_written_inputs(original_executor_, inputs);
    if (!separated.empty()) note(separated);
    RunValues values = run(original_executor_, inputs, cases_.size());
    undefined = find_undefined(values, inputs);
    original_facts_.annotate(values, false);
    original_values_.runs.push_back(std::move(values));
  } catch (const Error& error) {
    note(fmt::format("inputs {} are left out, since the program itself stops on them: {}", title,
                     error.diagnostic().message));
    return;
  }
  note(fmt::format("inputs: {}", title));
  cases_.push_back({std::move(title), std::move(inputs), std::move(undefined)});
}

std::optional<Diagnostic> NumericJudge::judge(const ExportedProgram& program, bool may_unshare) {
  const Timer timer(seconds_);
  try {
    return judge_values(program, may_unshare);
  } catch (const Error& error) {
    Diagnostic diagnostic = error.diagnostic();
    diagnostic.message = "the program does not run any more: " + diagnostic.message;
    return diagnostic;
  }
}

void NumericJudge::accept() {
  accepted_ = std::move(last_);
}

std::optional<Diagnostic> NumericJudge::judge_values(const ExportedProgram& program,
                                                     bool may_unshare) {
  const ValueFacts facts(program);
  if (const auto lost = lost_draws(accepted_.draws, facts.draws()))
    return Diagnostic{.message = *lost};
  const bool draws_otherwise = facts.draws() != accepted_.draws;
  if (draws_otherwise) {
    note(
        "random numbers are drawn by other calls: of values that depend on them only kind, dtype, "
        "shape and whether they are finite are compared");
  }
  Executor executor(program, executor_options());
  last_ = {.runs = {}, .draws = facts.draws()};
  for (std::size_t i = 0; i < cases_.size(); ++i) {
    RunValues actual = run(executor, cases_[i].inputs, i);
    facts.annotate(actual, draws_otherwise);
    const CompareReport report = compare_case(i, program, actual, may_unshare);
    last_.runs.push_back(std::move(actual));
    if (report.is_equal()) continue;
    const ValueReport* value = report.first_departure();
    Diagnostic diagnostic;
    diagnostic.message = value != nullptr ? value->str() : report.problem;
    diagnostic.notes.push_back(fmt::format("inputs: {}", cases_[i].title));
    return diagnostic;
  }
  return std::nullopt;
}

CompareReport NumericJudge::compare_case(std::size_t index, const ExportedProgram& program,
                                         RunValues& actual, bool may_unshare) {
  RunValues expected = accepted_.runs[index];
  for (NamedValue& value : expected.values)
    value.is_undefined = std::ranges::count(cases_[index].undefined, value.place()) != 0;
  complete_state(expected, *original_, actual, program);
  CompareOptions options = options_->compare;
  options.may_unshare = may_unshare;
  CompareReport report = compare(expected, actual, options);
  if (!report.is_equal() && report.is_only_numeric())
    judge_in_float64(index, report, expected, actual);
  return report;
}

void NumericJudge::judge_in_float64(std::size_t index, CompareReport& report,
                                    const RunValues& expected, const RunValues& actual) {
  if (has_no_reference_ || !original_facts_.draws().empty()) return;
  try {
    if (precise_ == nullptr) {
      precise_program_ = promote_to_float64(*original_);
      precise_ = std::make_unique<Executor>(*precise_program_, executor_options());
    }
    std::vector<HostValue> inputs;
    for (const HostValue& input : cases_[index].inputs) inputs.push_back(promote_to_float64(input));
    ++runs_;
    judge_by_reference(report, expected, actual,
                       to_run_values(*precise_, precise_->run(to_ivalues(inputs))));
  } catch (const Error& error) {
    has_no_reference_ = true;
    note(fmt::format("the original could not be run in float64 to judge the departure: {}",
                     error.diagnostic().message));
  }
}

}  // namespace winze
