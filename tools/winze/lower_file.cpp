// SPDX-License-Identifier: Apache-2.0
#include "tools/winze/lower_file.h"

#include <chrono>
#include <new>
#include <optional>

#include "winze/program/program_text.h"
#include "winze/program/pt2_writer.h"
#include "winze/support/atomic_file.h"
#include "winze/support/json_writer.h"
#include "winze/torch/torch_library.h"

namespace winze {
namespace {

/// Seconds since the last call, or since it was made.
class Stopwatch {
 public:
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - start_).count();
    start_ = now;
    return seconds;
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// What is known of one program's way so far.
struct Progress {
  Report report;  ///< of the passes; its error is that of reading and writing too
  std::optional<CheckOutcome> check;
  std::vector<Diagnostic> warnings;
  double read_seconds = 0;
  double write_seconds = 0;
};

void add_check(JsonWriter& json, const CheckOutcome& check) {
  json.plain_key("check");
  json.begin_object();
  json.plain_key("checked_passes");
  json.unsigned_integer(check.checked_passes);
  json.plain_key("runs");
  json.unsigned_integer(check.runs);
  json.plain_key("calls");
  json.unsigned_integer(check.calls);
  json.plain_key("reused_calls");
  json.unsigned_integer(check.reused_calls);
  json.plain_key("seconds");
  json.real(check.seconds);
  json.plain_key("notes");
  json.begin_array();
  for (const std::string& note : check.notes) json.string(note);
  json.end_array();
  json.end_object();
}

/// The report of the passes with what the command adds to it.
std::string report_json(const Target& target, const Progress& progress) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.plain_key("input");
  json.string(target.input);
  json.plain_key("output");
  json.string(target.output);
  json.plain_key("read_seconds");
  json.real(progress.read_seconds);
  json.plain_key("write_seconds");
  json.real(progress.write_seconds);
  json.plain_key("warnings");
  json.begin_array();
  for (const Diagnostic& warning : progress.warnings) json.string(warning.str());
  json.end_array();
  if (progress.check) add_check(json, *progress.check);
  json.end_object();
  text.back() = ',';
  return text + ' ' + progress.report.to_json().substr(1);
}

void write_program(ExportedProgram& program, const std::string& output,
                   const std::string& torch_version, std::vector<Diagnostic>& warnings) {
  AtomicFile file(output);
  if (is_text_output(output)) {
    program.archive.path = path_seen_from_text(program.archive.path, output);
    file.write(print_program(program));
  } else {
    for (Diagnostic& warning : write_pt2(program, file, {.torch_version = torch_version})) {
      warnings.push_back(std::move(warning));
    }
  }
  file.commit();
}

/// The three steps; fills in `progress` as they get done. \throws Error
void run_steps(const LowerSettings& settings, const Target& target,
               const std::function<void(std::string_view)>& say, Progress& progress) {
  Stopwatch watch;
  InputOptions inputs = settings.inputs;
  inputs.need_records = !is_text_output(target.output);
  Input input = read_input(target.input, inputs, progress.warnings);
  if (inputs.need_records) require_weights(input.program);
  progress.read_seconds = watch.lap();

  PassManagerOptions options = settings.manager;
  options.print = say;
  if (settings.check) {
    progress.check =
        load_torch_library().check(settings.pipeline, options, input.program, *settings.check);
    progress.report = progress.check->report;
  } else {
    progress.report = PassManager(settings.pipeline, std::move(options)).run(input.program);
  }
  progress.report.throw_if_failed();

  watch.lap();
  write_program(input.program, target.output, settings.torch_version, progress.warnings);
  progress.write_seconds = watch.lap();
}

void say_what_was_done(const LowerSettings& settings, const Progress& progress,
                       const std::function<void(std::string_view)>& say) {
  for (const Diagnostic& warning : progress.warnings) say(warning.str() + "\n");
  if (settings.show_time) {
    say(fmt::format("     {:>10.3f} ms  read\n", progress.read_seconds * 1e3));
  }
  if (settings.show_passes) {
    say(progress.report.to_text(settings.show_time));
  } else {
    for (const PassReport& pass : progress.report.passes) {
      for (const std::string& warning : pass.warnings) {
        say(fmt::format("{}: warning: {}\n", pass.name, warning));
      }
    }
  }
  if (progress.check) {
    say(progress.check->summary() + "\n");
    for (const std::string& note : progress.check->notes) say(fmt::format("  {}\n", note));
  }
  if (settings.show_time && progress.report.ok()) {
    say(fmt::format("     {:>10.3f} ms  write\n", progress.write_seconds * 1e3));
  }
}

}  // namespace

LowerOutcome lower_file(const LowerSettings& settings, const Target& target,
                        const std::function<void(std::string_view)>& say) {
  Progress progress;
  try {
    run_steps(settings, target, say, progress);
  } catch (const DiagnosticError& error) {
    progress.report.error = error.diagnostic();
  } catch (const std::bad_alloc&) {
    progress.report.error = Diagnostic{.message = "out of memory"};
  }
  say_what_was_done(settings, progress, say);
  if (std::optional<Diagnostic>& error = progress.report.error) {
    if (error->where.file.empty()) error->where.file = display_name(target.input);
    say(error->str() + "\n");
  }
  return {.ok = progress.report.ok(), .report = report_json(target, progress)};
}

}  // namespace winze
