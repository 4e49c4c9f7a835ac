// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/compare_programs.h"

#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "winze/support/plural.h"
#include "winze/support/quote.h"
#include "winze/torch/executor.h"
#include "winze/torch/host_conversion.h"
#include "winze/torch/promote.h"
#include "winze/torch/value_facts.h"

namespace winze {
namespace {

/// Why two programs cannot be given the same inputs; empty where they can.
std::string signature_problem(const ExportedProgram& a, const ExportedProgram& b) {
  const std::vector<Node> left = user_inputs(a);
  const std::vector<Node> right = user_inputs(b);
  if (left.size() != right.size())
    return fmt::format("the programs take different inputs: {} and {}", left.size(), right.size());
  for (std::size_t index = 0; index < left.size(); ++index) {
    const Meta& wanted = left[index].value().meta();
    const Meta& found = right[index].value().meta();
    const bool is_same = wanted.kind == found.kind &&
                         (!wanted.is_tensor() || (wanted.tensor.dtype == found.tensor.dtype &&
                                                  wanted.tensor.dim() == found.tensor.dim()));
    if (!is_same) {
      return fmt::format("the programs take different inputs: {} of the one is {}, of the other {}",
                         index, left[index].str(), right[index].str());
    }
  }
  return {};
}

/// Whether an error is the program's own: a run-time assertion that does not hold.
bool is_assertion(const Error& error) {
  return error.diagnostic().node.find("_assert") != std::string::npos ||
         error.diagnostic().node.find("sym_constrain_range") != std::string::npos;
}

/// A program made ready to run, with what its graph tells about its values.
class Side {
 public:
  Side(const ExportedProgram& program, const CompareProgramsOptions& options)
      : program_(program),
        facts_(program),
        executor_(program, {.threads = options.threads,
                            .seed = options.generate.seed,
                            .fill = UninitializedFill::first}) {}

  /// Marks what depends on memory that nothing initialized, by a second run where there is any.
  [[nodiscard]] bool find_undefined(RunValues& values, const std::vector<HostValue>& inputs) {
    if (!executor_.has_uninitialized()) return false;
    executor_.set_fill(UninitializedFill::second);
    const ExecutorResult other = executor_.run(to_ivalues(inputs));
    executor_.set_fill(UninitializedFill::first);
    return mark_undefined(values, to_run_values(executor_, other));
  }
  [[nodiscard]] std::string separate_written(std::vector<HostValue>& inputs) const {
    return separate_written_inputs(executor_, inputs);
  }

  [[nodiscard]] RunValues run(const std::vector<HostValue>& inputs, bool draws_otherwise) {
    const ExecutorResult result = executor_.run(to_ivalues(inputs));
    RunValues values = to_run_values(executor_, result);
    facts_.annotate(values, draws_otherwise);
    return values;
  }
  [[nodiscard]] const ExportedProgram& program() const { return program_; }
  [[nodiscard]] const ValueFacts& facts() const { return facts_; }

 private:
  const ExportedProgram& program_;
  ValueFacts facts_;
  Executor executor_;
};

class ProgramComparer {
 public:
  ProgramComparer(const ExportedProgram& a, const ExportedProgram& b,
                  const CompareProgramsOptions& options)
      : options_(options), a_(a, options), b_(b, options) {
    draws_otherwise_ = a_.facts().draws() != b_.facts().draws();
    if (draws_otherwise_) {
      report_.notes.emplace_back(
          "random numbers are not drawn by the same calls in the same order: of values that depend "
          "on them only kind, dtype, shape and whether they are finite are compared");
    }
  }

  ProgramsReport compare();

 private:
  void compare_on(std::string title, std::vector<HostValue> inputs);
  void compare_stop(ComparedRun& run, const std::vector<HostValue>& inputs, const Error& error);
  void judge(CompareReport& report, const RunValues& expected, const RunValues& actual,
             const std::vector<HostValue>& inputs);
  void generate();
  void add_note(const std::string& note) {
    if (std::ranges::find(report_.notes, note) == report_.notes.end())
      report_.notes.push_back(note);
  }

  const CompareProgramsOptions& options_;
  Side a_;
  Side b_;
  bool draws_otherwise_ = false;
  std::optional<ExportedProgram> precise_program_;
  std::unique_ptr<Side> precise_;
  bool has_no_reference_ = false;
  ProgramsReport report_;
};

ProgramsReport ProgramComparer::compare() {
  if (const auto lost = lost_draws(a_.facts().draws(), b_.facts().draws())) {
    report_.problem = *lost;
    return std::move(report_);
  }
  for (const InputCase& given : options_.cases)
    compare_on(given.name.empty() ? "given" : given.name, given.values);
  if (options_.cases.empty()) {
    std::optional<InputCase> stored;
    if (options_.generate.symbols.empty()) {
      try {
        stored = stored_inputs(a_.program());
      } catch (const Error& error) {
        add_note(fmt::format("the inputs stored in the program are left out: {}",
                             error.diagnostic().message));
      }
    }
    if (stored) compare_on("stored in the program", stored->values);
    generate();
  }
  return std::move(report_);
}

void ProgramComparer::generate() {
  const InputGenerator generator(a_.program(), options_.generate);
  std::uint32_t draws = options_.draws;
  if (draws == 0) draws = std::max(CompareProgramsOptions::default_draws, generator.size_count());
  if (user_inputs(a_.program()).empty() && !report_.runs.empty()) return;
  for (std::uint32_t draw = 0; draw < draws; ++draw) {
    const GeneratedInputs generated = generator.generate(draw);
    for (const std::string& note : generated.notes) add_note(note);
    compare_on(generated.description, generated.values);
    if (report_.first_departure() != nullptr) return;
  }
}

void ProgramComparer::compare_on(std::string title, std::vector<HostValue> inputs) {
  ComparedRun& run = report_.runs.emplace_back();
  run.inputs = std::move(title);
  const std::string separated = a_.separate_written(inputs);
  if (!separated.empty()) add_note(separated);
  RunValues expected;
  try {
    expected = a_.run(inputs, draws_otherwise_);
    if (a_.find_undefined(expected, inputs)) {
      add_note(
          "values that depend on memory that nothing initialized were compared by kind, dtype and "
          "shape alone");
    }
  } catch (const Error& error) {
    compare_stop(run, inputs, error);
    return;
  }
  RunValues actual;
  try {
    actual = b_.run(inputs, draws_otherwise_);
  } catch (const Error& error) {
    run.report.problem =
        "the second program stops where the first does not: " + std::string(error.what());
    return;
  }
  complete_state(expected, a_.program(), actual, b_.program());
  run.report = winze::compare(expected, actual, options_.compare);
  if (!run.report.is_equal() && run.report.is_only_numeric() && options_.reference)
    judge(run.report, expected, actual, inputs);
}

void ProgramComparer::compare_stop(ComparedRun& run, const std::vector<HostValue>& inputs,
                                   const Error& error) {
  run.skipped = error.diagnostic().message;
  if (!is_assertion(error)) return;
  try {
    static_cast<void>(b_.run(inputs, draws_otherwise_));
  } catch (const Error&) {
    return;
  }
  run.skipped.clear();
  run.report.problem =
      fmt::format("the second program goes on where an assertion stops the first: {}",
                  error.diagnostic().message);
}

void ProgramComparer::judge(CompareReport& report, const RunValues& expected,
                            const RunValues& actual, const std::vector<HostValue>& inputs) {
  if (has_no_reference_) return;
  try {
    if (!a_.facts().draws().empty()) fail("random numbers of another dtype are other numbers");
    if (precise_ == nullptr) {
      precise_program_ = promote_to_float64(a_.program());
      precise_ = std::make_unique<Side>(*precise_program_, options_);
    }
    std::vector<HostValue> precise_inputs;
    precise_inputs.reserve(inputs.size());
    for (const HostValue& input : inputs) precise_inputs.push_back(promote_to_float64(input));
    const RunValues reference = precise_->run(precise_inputs, false);
    judge_by_reference(report, expected, actual, reference);
  } catch (const Error& error) {
    has_no_reference_ = true;
    add_note(fmt::format("the original could not be run in float64 to judge the departure: {}",
                         error.diagnostic().message));
  }
}

}  // namespace

ProgramsReport compare_programs(const ExportedProgram& a, const ExportedProgram& b,
                                const CompareProgramsOptions& options) {
  ProgramsReport report;
  report.problem = signature_problem(a, b);
  if (!report.problem.empty()) return report;
  return ProgramComparer(a, b, options).compare();
}

CompareOutcome compare_as_requested(const ExportedProgram& a, const ExportedProgram& b,
                                    const CompareRequest& request) {
  for (const std::string& library : request.libraries) load_operator_library(library);
  CompareProgramsOptions options;
  options.compare = {.rtol = request.rtol,
                     .atol = request.atol,
                     .strides = request.strides,
                     .signed_zeros = request.signed_zeros,
                     .aliasing = request.aliasing};
  options.generate = {.seed = request.seed, .symbols = request.symbols};
  options.draws = request.draws;
  options.threads = request.threads;
  options.reference = request.reference;
  if (!request.inputs.empty())
    options.cases = read_input_file(map_file(request.inputs), request.inputs, a);
  const ProgramsReport report = compare_programs(a, b, options);
  return {report.is_equal(), report.str(request.verbose)};
}

std::size_t ProgramsReport::compared() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(runs, [](const ComparedRun& run) { return run.skipped.empty(); }));
}

const ComparedRun* ProgramsReport::first_departure() const {
  const auto found = std::ranges::find_if(
      runs, [](const ComparedRun& run) { return run.skipped.empty() && !run.report.is_equal(); });
  return found == runs.end() ? nullptr : &*found;
}

bool ProgramsReport::is_equal() const {
  return problem.empty() && compared() != 0 && first_departure() == nullptr;
}

std::string ProgramsReport::str(bool every_value) const {
  std::string text;
  for (const ComparedRun& run : runs) {
    text += fmt::format("inputs {}: ", run.inputs);
    if (!run.skipped.empty()) {
      text += "skipped, the first program stops on them: " + run.skipped + "\n";
    } else {
      text += run.report.summary() + "\n";
      if (every_value) text += run.report.str();
    }
  }
  for (const std::string& note : notes) text += "note: " + note + "\n";
  if (!problem.empty()) return text + "different: " + problem + "\n";
  if (const ComparedRun* departure = first_departure()) {
    const ValueReport* value = departure->report.first_departure();
    return text + fmt::format("different: {} departs first, on inputs {}\n",
                              value == nullptr ? "the run" : value->what, departure->inputs);
  }
  if (compared() == 0) return text + "nothing was compared: the first program ran on no inputs\n";
  return text + fmt::format("equal in {}\n", plural(compared(), "run"));
}

}  // namespace winze
