// SPDX-License-Identifier: Apache-2.0
#include "tools/winze/command.h"

#include <algorithm>
#include <cstdio>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "tools/winze/help.h"
#include "winze/schema/op_registry.h"
#include "winze/support/atomic_file.h"
#include "winze/support/edit_distance.h"
#include "winze/support/quote.h"

namespace winze {
namespace {

constexpr const char* command_description =
    "Lowers PyTorch programs: reads what torch.export.save wrote (.pt2), runs passes over it, and\n"
    "writes a program that PyTorch loads and that computes the same.";

constexpr const char* command_footer =
    "Examples:\n"
    "  winze lower model.pt2 -o lowered.pt2         run the default pipeline\n"
    "  winze lower model.pt2 -o lowered.pt2 --time  and show what each pass did\n"
    "  winze print model.pt2 | less                 read the program\n"
    "  winze diff model.pt2 lowered.pt2             see what changed\n"
    "  winze run lowered.pt2                        run it\n"
    "\n"
    "IN is a .pt2 or a program in Winze's text form (.wz), told apart by content; - is standard\n"
    "input. `winze COMMAND --help` says more.\n"
    "\n"
    "Exit codes: 0 done; 1 the program failed (it could not be read, lowered, verified or "
    "written,\n"
    "or `diff` found a difference); 2 wrong usage.";

/// The subcommand that was named, else the command itself.
const CLI::App* chosen_command(const CLI::App& app) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  return chosen.empty() ? &app : chosen.front();
}

std::string hint_for_option(const CLI::App& command, std::string_view given) {
  const std::string name(given.substr(0, given.find('=')));
  NearestName nearest(name);
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& known : option->get_lnames()) names.push_back("--" + known);
  }
  for (const std::string& known : names) nearest.offer(known);
  return nearest.best().empty() ? std::string()
                                : fmt::format("did you mean {}?", quote(nearest.best()));
}

std::string hint_for_command(const CLI::App& app, std::string_view given) {
  if (given == "help") return "`winze --help` and `winze COMMAND --help` say how";
  if (given == "version") return "`winze --version` says it";
  std::vector<std::string_view> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  const std::string near = did_you_mean(given, names);
  return near.empty() ? fmt::format("there are {}", fmt::join(names, ", ")) : near;
}

/// CLI11's finding as one of ours.
Diagnostic usage_diagnostic(const CLI::App& app, const CLI::ParseError& error, int argc,
                            const char* const* argv) {
  const CLI::App* command = chosen_command(app);
  Diagnostic diagnostic;
  diagnostic.message = error.what();
  const std::string_view first = argc > 1 ? argv[1] : "";
  const std::vector<std::string> unknown = command->remaining();
  if (command == &app && first.empty()) {
    diagnostic.message = "no command was given";
    diagnostic.hint = hint_for_command(app, "") + "; `winze --help` says what they do";
  } else if (command == &app && !first.starts_with('-')) {
    diagnostic.message = fmt::format("there is no command {}", quote(first));
    diagnostic.hint = hint_for_command(app, first);
  } else if (!unknown.empty() && unknown.front().starts_with('-')) {
    diagnostic.message = fmt::format("there is no option {}", quote(unknown.front()));
    diagnostic.hint = hint_for_option(*command, unknown.front());
  } else if (!unknown.empty()) {
    diagnostic.message = fmt::format("{} is one argument too many", quote(unknown.front()));
  }
  if (diagnostic.hint.empty()) {
    diagnostic.hint = command == &app
                          ? "`winze --help` says how"
                          : fmt::format("`winze {} --help` says how", command->get_name());
  }
  return diagnostic;
}

std::string version_text() {
  return fmt::format("winze {} (operators of torch {})", WINZE_VERSION,
                     OpRegistry().torch_version());
}

/// What CLI11 parses, last first. An option that is given the empty text as `--passes=` is given to
/// it as `--passes ""`, since it would look for the value of the first in the next argument.
std::vector<std::string> reversed_arguments(int argc, const char* const* argv) {
  std::vector<std::string> arguments;
  bool may_be_option = true;
  for (int index = 1; index < argc; ++index) {
    std::string argument = argv[index];
    may_be_option = may_be_option && argument != "--";
    const bool ends_empty =
        may_be_option && argument.starts_with("--") && argument.find('=') == argument.size() - 1;
    if (ends_empty) argument.pop_back();
    arguments.push_back(std::move(argument));
    if (ends_empty) arguments.emplace_back();
  }
  std::reverse(arguments.begin(), arguments.end());
  return arguments;
}

int run_action(const Action& action) {
  try {
    return action();
  } catch (const UsageError& error) {
    write_message(error.diagnostic().str());
    return exit_usage;
  } catch (const DiagnosticError& error) {
    write_message(error.diagnostic().str());
  } catch (const std::bad_alloc&) {
    write_message("error: out of memory");
  } catch (const std::exception& error) {
    write_message(fmt::format("error: {}", error.what()));
  }
  return exit_failed;
}

}  // namespace

void write_output(std::string_view text) {
  AtomicFile output("-");
  output.write(text);
  output.commit();
}

void write_message(std::string_view text) {
  std::string line(text);
  if (!line.ends_with('\n')) line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}

int run_command(int argc, const char* const* argv) {
  CLI::App app(command_description, "winze");
  app.footer(command_footer);
  app.require_subcommand(1);
  app.set_version_flag("--version", version_text, "Say the version, and exit");
  app.set_help_flag("-h,--help", "Say this, and exit");
  const auto formatter = std::make_shared<HelpFormatter>();
  formatter->column_width(28);
  formatter->label("SUBCOMMAND", "COMMAND");
  formatter->label("Positionals", "Arguments");
  formatter->label("REQUIRED", "");
  app.formatter(formatter);
  Action action;
  add_lower_command(app, action);
  add_run_command(app, action);
  add_print_command(app, action);
  add_verify_command(app, action);
  add_diff_command(app, action);
  add_compare_command(app, action);
  add_passes_command(app, action);
  add_ops_command(app, action);
  try {
    app.parse(reversed_arguments(argc, argv));
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    write_message(usage_diagnostic(app, error, argc, argv).str());
    return exit_usage;
  }
  return run_action(action);
}

}  // namespace winze
