// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "tools/winze/command.h"
#include "tools/winze/inputs.h"
#include "winze/program/program_diff.h"

namespace winze {
namespace {

constexpr const char* diff_footer =
    "Nodes are matched by what they compute, not by name: renaming and reordering change nothing.\n"
    "Names of inputs and example inputs are not compared.\n"
    "\n"
    "Examples:\n"
    "  winze diff model.pt2 lowered.pt2\n"
    "  winze diff before.wz after.wz && echo same\n"
    "\n"
    "Exit codes: 0 the same; 1 they differ, or one cannot be read; 2 wrong usage.";

struct DiffOptions {
  std::string a;
  std::string b;
  InputOptions inputs;
};

int run_diff(const DiffOptions& options) {
  if (options.a == "-" && options.b == "-")
    throw UsageError("only one of the two can be standard input");
  const std::unique_ptr<Context> context = make_context(options.inputs);
  std::vector<Diagnostic> warnings;
  const ExportedProgram a = read_program(*context, options.a, options.inputs, warnings);
  const ExportedProgram b = read_program(*context, options.b, options.inputs, warnings);
  for (const Diagnostic& warning : warnings) write_message(warning.str());
  const std::string difference = diff_programs(a, b);
  if (difference.empty()) return exit_done;
  write_output(difference);
  return exit_failed;
}

}  // namespace

void add_diff_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<DiffOptions>();
  CLI::App& command = *app.add_subcommand("diff", "Shows what differs between two programs.");
  command.footer(diff_footer);
  command.add_option("A", options->a, "The one program; - is standard input")->required();
  command.add_option("B", options->b, "The other")->required();
  add_input_options(command, options->inputs);
  command.callback([options, &action] {
    action = [options] {
      load_plugins(options->inputs);
      return run_diff(*options);
    };
  });
}

}  // namespace winze
