// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "tools/winze/command.h"
#include "tools/winze/inputs.h"
#include "tools/winze/program_stats.h"
#include "winze/ir/text_printer.h"
#include "winze/support/plural.h"
#include "winze/support/quote.h"

namespace winze {
namespace {

constexpr const char* print_footer =
    "Prints what is best to read: the user's own lines as comments, weights summarized. It says "
    "that\n"
    "it is a summary, and reading it back warns of what it leaves out. For the whole text form,\n"
    "which loses nothing: winze lower IN -o OUT.wz --passes \"\"\n"
    "\n"
    "Examples:\n"
    "  winze print model.pt2 | less\n"
    "  winze print model.pt2 --no-sources\n"
    "  winze print model.pt2 --stats\n"
    "\n"
    "Exit codes: 0 done; 1 the program cannot be read; 2 wrong usage.";

struct PrintOptions {
  std::string input;
  bool stats = false;
  bool no_sources = false;
  bool graph_only = false;
  InputOptions inputs;
};

std::string header(const ExportedProgram& program) {
  std::string text = "program " + quote(program.name);
  if (!program.torch_version.empty()) text += " torch " + quote(program.torch_version);
  return text + " summary\n";
}

std::string weights_comment(const ExportedProgram& program) {
  const std::size_t weights = program.state_dict.size() + program.constants.size();
  if (weights == 0) return {};
  std::uint64_t bytes = 0;
  for (const Storage& storage : program.storages) bytes += storage.size;
  return fmt::format("// {}, {}\n", plural(weights, "weight"), bytes_text(bytes));
}

int run_print(const PrintOptions& options) {
  const Input input = read_input(options.input, options.inputs);
  if (options.stats) {
    write_output(program_stats(input.program));
    return exit_done;
  }
  const TextSources sources = options.no_sources ? TextSources::none : TextSources::comments;
  std::string text = options.graph_only ? "" : header(input.program);
  text += print_graph(*input.program.graph, {.sources = sources});
  if (!options.graph_only) text += weights_comment(input.program);
  write_output(text);
  return exit_done;
}

}  // namespace

void add_print_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<PrintOptions>();
  CLI::App& command = *app.add_subcommand("print", "Prints a program as text.");
  command.footer(print_footer);
  command.add_option("IN", options->input, "The program; - is standard input")->required();
  command.add_flag("--stats", options->stats, "Count nodes by operator, weights, symbols, effects");
  command.add_flag("--no-sources", options->no_sources, "Leave out the lines of Python");
  command.add_flag("--graph-only", options->graph_only,
                   "Leave out the program around the graph, and thus that this is a summary");
  add_input_options(command, options->inputs);
  command.callback([options, &action] {
    action = [options] {
      load_plugins(options->inputs);
      return run_print(*options);
    };
  });
}

}  // namespace winze
