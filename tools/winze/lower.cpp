// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>

#include <unistd.h>
#include <CLI/CLI.hpp>

#include "tools/winze/command.h"
#include "tools/winze/help.h"
#include "tools/winze/lower_file.h"
#include "tools/winze/targets.h"
#include "winze/passes/shape/infer_shapes.h"
#include "winze/program/schema_fields.h"
#include "winze/support/atomic_file.h"
#include "winze/support/quote.h"

namespace winze {
namespace {

constexpr const char* lower_description =
    "Lowers programs: reads them, runs the passes of a pipeline in order, writes the result.";

constexpr const char* lower_footer =
    "OUT is written as text where it ends in .wz or is - (standard output), else as .pt2. It "
    "appears\n"
    "whole or, when anything fails, stays as it was. Several INs go to a folder and run in "
    "parallel;\n"
    "one that fails does not stop the others.\n"
    "\n"
    "Examples:\n"
    "  winze lower model.pt2 -o lowered.pt2 --time\n"
    "  winze lower model.pt2 -o model.wz --passes \"\"              .pt2 to text, nothing else\n"
    "  winze lower model.wz -o - --passes remove-detach,dead-code  these passes alone\n"
    "  winze lower model.pt2 -o lowered.pt2 --check                hold each pass to the numbers\n"
    "  winze lower models/*.pt2 -o lowered/ -j 8 --report report.json\n"
    "  winze lower model.pt2 -o half.wz --stop-after-edits 17      the program after 17 edits\n"
    "  winze lower model.pt2 -o seven.pt2 --passes infer-shapes,default --sym s0=7\n"
    "  winze lower model.pt2 -o dyn.pt2 --passes infer-shapes --input 'x=f32[s0,128]' --sym "
    "'s0=[1,64]'\n"
    "\n"
    "PIPELINE is a list of passes, some with options: \"remove-assert-nodes{async}, dead-code\";\n"
    "`winze passes` lists them, and the named pipelines, of which `default` runs when none is "
    "given.\n"
    "\n"
    "Exit codes: 0 done; 1 a program could not be read, lowered or written; 2 wrong usage.";

struct LowerOptions {
  std::vector<std::string> inputs;
  std::string output;
  std::string passes = "default";
  std::vector<std::string> symbols;
  std::vector<std::string> input_types;
  std::string verify_each;
  std::string print_on_change;
  std::string check;
  CheckOptions check_options;
  std::uint64_t check_memory = CheckOptions::default_reuse_bytes >> 20U;  // MB
  bool no_aliasing = false;
  std::uint64_t stop_after_edits = 0;
  CLI::Option* stop_after_edits_given = nullptr;
  std::string report;
  unsigned jobs = 0;
  LowerSettings settings;
};

/// Writes lines of several threads to standard error, and on a terminal a line with the progress.
class Console {
 public:
  explicit Console(std::size_t total)
      : total_(total), shows_progress_(total > 1 && isatty(STDERR_FILENO) == 1) {}

  void say(std::string_view text) {
    const std::lock_guard lock(mutex_);
    clear_progress();
    write_message(text);
    show_progress();
  }
  void finish_one(const std::string& input) {
    const std::lock_guard lock(mutex_);
    ++done_;
    last_ = input;
    clear_progress();
    if (done_ < total_) show_progress();
  }

 private:
  void clear_progress() const {
    if (shows_progress_) std::fputs("\r\x1b[K", stderr);
  }
  void show_progress() const {
    if (!shows_progress_ || done_ == 0) return;
    std::fputs(fmt::format("[{}/{}] {}", done_, total_, last_).c_str(), stderr);
  }

  std::mutex mutex_;
  std::size_t total_;
  std::size_t done_ = 0;
  std::string last_;
  bool shows_progress_;
};

/// Runs `work(i)` for each index on so many threads.
void run_parallel(std::size_t count, unsigned jobs, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  const auto worker = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 1; i < std::min<std::size_t>(jobs, count); ++i) threads.emplace_back(worker);
  worker();
}

/// One object for one program, an array for several.
void write_report(AtomicFile& file, const std::vector<LowerOutcome>& outcomes) {
  std::string text;
  for (const LowerOutcome& outcome : outcomes) {
    text += (text.empty() ? "" : ",\n") + outcome.report;
  }
  if (outcomes.size() > 1) text = "[" + text + "]";
  file.write(text + "\n");
  file.commit();
}

/// What is wrong with a pipeline or the name of a pass is wrong usage.
template <typename Function>
auto as_usage(Function function) {
  try {
    return function();
  } catch (const Error& error) {
    throw UsageError(error.diagnostic());
  }
}

/// Hands `--sym` and `--input` to the pass that they are for.
void set_sizes(const LowerOptions& options, Pipeline& pipeline) {
  if (options.symbols.empty() && options.input_types.empty()) return;
  const auto& entries = pipeline.entries();
  const auto found = std::ranges::find(entries, &infer_shapes_info, &PipelineEntry::info);
  if (found == entries.end()) {
    throw UsageError(
        "--sym and --input are for the pass infer-shapes, which is not in the pipeline",
        "put it first: --passes infer-shapes,default");
  }
  if (options.settings.check) {
    throw UsageError("--check compares with the program as it came, which has other sizes",
                     "write the program for the new sizes first, then check the other passes");
  }
  const auto index = static_cast<std::size_t>(found - entries.begin());
  PipelineEntry entry = *found;
  auto sizes = entry.options.get<InferShapesOptions>();
  sizes.sym.insert(sizes.sym.end(), options.symbols.begin(), options.symbols.end());
  sizes.input.insert(sizes.input.end(), options.input_types.begin(), options.input_types.end());
  entry.options.assign(std::move(sizes));
  pipeline.insert(index, std::move(entry));
  pipeline.remove(index + 1);
}

void fill_settings(LowerOptions& options) {
  LowerSettings& settings = options.settings;
  PassManagerOptions& manager = settings.manager;
  if (options.verify_each == "whole") manager.verify_each = VerifyEach::whole;
  if (options.verify_each == "none") manager.verify_each = VerifyEach::none;
  if (options.print_on_change == "diff") manager.print_on_change = PrintChange::diff;
  if (options.print_on_change == "full") manager.print_on_change = PrintChange::full;
  if (options.stop_after_edits_given->count() > 0)
    manager.stop_after_edits = options.stop_after_edits;
  settings.show_passes = settings.show_passes || settings.show_time;
  settings.inputs.need_weights = true;
  if (!settings.torch_version.empty() && !writable_release(settings.torch_version)) {
    throw UsageError(
        fmt::format("programs of torch {} cannot be written", quote(settings.torch_version)),
        "name a release from 2.9 on, such as 2.13");
  }
  if (!options.check.empty() && options.check != "none") {
    options.check_options.reuse_bytes = options.check_memory << 20U;
    options.check_options.compare.aliasing = !options.no_aliasing;
    options.check_options.mode = options.check == "end" ? CheckMode::end : CheckMode::each;
    settings.check = options.check_options;
  }
  if (options.inputs.size() > 1 && !manager.reproducer.empty()) {
    throw UsageError("--reproducer is for one input", "lower the program that fails by itself");
  }
  const PassRegistry registry = load_plugins(settings.inputs);
  settings.pipeline = as_usage([&] { return Pipeline::parse(options.passes, registry); });
  set_sizes(options, settings.pipeline);
  as_usage([&] { return PassManager(settings.pipeline, manager); });
}

/// Neither report nor reproducer may take the place of a file that has another use.
void check_side_files(const LowerOptions& options, const std::vector<Target>& targets) {
  const LowerSettings& settings = options.settings;
  std::vector<std::string> others = settings.inputs.plugins;
  others.insert(others.end(), settings.inputs.op_files.begin(), settings.inputs.op_files.end());
  others.push_back(settings.inputs.op_table);
  others.push_back(settings.inputs.weights);
  const std::string reproducer = settings.manager.reproducer.string();
  require_own_file("--reproducer", reproducer, targets, others);
  others.push_back(reproducer);
  require_own_file("--report", options.report, targets, others);
}

int run_lower(LowerOptions& options) {
  const std::vector<Target> targets = make_targets(options.inputs, options.output);
  fill_settings(options);
  check_side_files(options, targets);
  make_target_folder(options.output);
  std::optional<AtomicFile> report;  // opened now, so that no program is written where it cannot be
  if (!options.report.empty()) report.emplace(options.report);

  Console console(targets.size());
  std::vector<LowerOutcome> outcomes(targets.size());
  const unsigned jobs = options.jobs > 0 ? options.jobs : std::thread::hardware_concurrency();
  run_parallel(targets.size(), jobs, [&](std::size_t i) {
    std::string lines;  // of one program together, and of one alone as they come
    const bool alone = targets.size() == 1;
    outcomes[i] = lower_file(options.settings, targets[i], [&](std::string_view text) {
      alone ? console.say(text) : static_cast<void>(lines += text);
    });
    if (!lines.empty()) console.say(lines);
    console.finish_one(targets[i].input);
  });

  if (report) write_report(*report, outcomes);
  const auto failed = std::ranges::count(outcomes, false, &LowerOutcome::ok);
  if (failed > 0 && targets.size() > 1) {
    write_message(fmt::format("error: {} of {} programs failed", failed, targets.size()));
  }
  return failed == 0 ? exit_done : exit_failed;
}

void add_pass_options(CLI::App& command, LowerOptions& options) {
  PassManagerOptions& manager = options.settings.manager;
  const char* group = "Passes";
  command
      .add_option("--passes", options.passes,
                  "What to run; \"\" for nothing (default: the pipeline `default`)")
      ->option_text("PIPELINE")
      ->group(group);
  command.get_option("--load-pass-plugin")->group(group);
  command
      .add_option("--sym", options.symbols,
                  "For the pass infer-shapes: give the symbol S the value N, or another range")
      ->option_text("S=N|S=[A,B]")
      ->allow_extra_args(false)
      ->group(group);
  command
      .add_option("--input", options.input_types,
                  "For the pass infer-shapes: give the input X another type. A number makes a\n"
                  "dynamic size static, a new symbol makes a static one dynamic")
      ->option_text("X=f32[s0,128]")
      ->allow_extra_args(false)
      ->group(group);
  options.stop_after_edits_given =
      command
          .add_option("--stop-after-edits", options.stop_after_edits,
                      "Stop after the N-th edit of the run, to find the one that breaks a program")
          ->option_text("N")
          ->check(whole_number(0, std::numeric_limits<long long>::max()))
          ->group(group);
  command
      .add_flag("--verify-each{whole}", options.verify_each,
                "Verify the whole program after each pass, not only what it changed;\n"
                "=none verifies nothing, neither before nor after")
      ->option_text("[=WHAT]")
      ->check(one_of({"none", "changed", "whole"}))
      ->group(group);
  command
      .add_option("--reproducer", manager.reproducer,
                  "When a pass fails, write the program as it was before it, with the passes left")
      ->option_text("FILE.wz")
      ->check(file_name())
      ->group(group);
}

void add_check_options(CLI::App& command, LowerOptions& options) {
  CheckOptions& check = options.check_options;
  const char* group = "Checks on numbers (see docs/checking.md)";
  command
      .add_flag("--check{each}", options.check,
                "Run the program before and after each pass that changed it, and compare;\n"
                "=end compares the whole alone. On a departure: the pass, its first edit that\n"
                "makes the difference, exit 1, nothing written")
      ->option_text("[=WHAT]")
      ->check(one_of({"none", "each", "end"}))
      ->group(group);
  command
      .add_option("--check-draws", check.draws,
                  "On so many inputs (default: 1, and 3 where sizes are symbolic)")
      ->option_text("N")
      ->check(whole_number(1, 1000))
      ->group(group);
  command
      .add_option("--check-budget", check.budget_seconds,
                  "Once runs took so long check the whole alone (default: 120)")
      ->option_text("SECONDS")
      ->check(number_from_zero())
      ->group(group);
  command
      .add_option("--check-memory", options.check_memory,
                  "Keep so many megabytes of results for later runs, which reuse those of calls\n"
                  "that compute the same (default: 1024)")
      ->option_text("MB")
      ->check(whole_number(0, 1 << 24))
      ->group(group);
  command
      .add_option("--check-seed", check.generate.seed,
                  "For inputs that are made and random operators")
      ->option_text("N")
      ->group(group);
  command
      .add_option("--rtol", check.compare.rtol, "Relative tolerance (default: by dtype and depth)")
      ->option_text("X")
      ->check(number_from_zero())
      ->group(group);
  command.add_option("--atol", check.compare.atol, "Absolute tolerance")
      ->option_text("X")
      ->check(number_from_zero())
      ->group(group);
  command
      .add_flag("--no-aliasing", options.no_aliasing,
                "Do not compare which outputs share storage with inputs and each other")
      ->group(group);
  command.add_option("--load", check.libraries, "Load operators of a shared library")
      ->option_text("LIB.so")
      ->allow_extra_args(false)
      ->group(group);
}

void add_show_options(CLI::App& command, LowerOptions& options) {
  PassManagerOptions& manager = options.settings.manager;
  const char* group = "What is shown, on standard error";
  command.add_flag("-v,--verbose", options.settings.show_passes, "Say what each pass did")
      ->group(group);
  command
      .add_flag("--time", options.settings.show_time, "Say what each pass did and how long it took")
      ->group(group);
  command
      .add_option("--print-before", manager.print_before,
                  "Print the program before pass P, or `all`")
      ->option_text("P")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(group);
  command
      .add_option("--print-after", manager.print_after, "Print the program after pass P, or `all`")
      ->option_text("P")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(group);
  command
      .add_flag("--print-on-change{diff}", options.print_on_change,
                "Print what each pass changed, or with =full the whole program")
      ->option_text("[=HOW]")
      ->check(one_of({"none", "diff", "full"}))
      ->group(group);
  command
      .add_flag("--print-on-failure", manager.print_on_failure,
                "Print the program as a failing pass left it")
      ->group(group);
}

}  // namespace

void add_lower_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<LowerOptions>();
  CLI::App& command = *app.add_subcommand("lower", lower_description);
  command.footer(lower_footer);
  command.add_option("IN", options->inputs, "Programs to lower; - is standard input")->required();
  command.add_option("-o,--output", options->output, "Where to: a file, - or FOLDER/")
      ->option_text("OUT")
      ->check(file_name())
      ->required();
  command
      .add_option("-j,--jobs", options->jobs,
                  "Lower N programs at a time (default: as many as processors)")
      ->option_text("N")
      ->check(whole_number(1, 1024));
  command
      .add_option("--torch-version", options->settings.torch_version,
                  "Write as this PyTorch release does, from 2.9 on (default: the program's own)")
      ->option_text("V");
  command
      .add_option("--weights", options->settings.inputs.weights,
                  "Take the weights of a program in text form from this .pt2")
      ->option_text("FILE");
  command.add_option("--report", options->report, "Write what was done as JSON")
      ->option_text("FILE.json")
      ->check(file_name());
  add_input_options(command, options->settings.inputs);
  add_pass_options(command, *options);
  add_check_options(command, *options);
  add_show_options(command, *options);
  command.callback([options, &action] { action = [options] { return run_lower(*options); }; });
}

}  // namespace winze
