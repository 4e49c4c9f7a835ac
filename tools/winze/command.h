// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

#include "winze/support/diagnostic.h"

// Named only: reading CLI11 is most of compiling what includes it.
namespace CLI {
class App;
}

namespace winze {

/// How the command ends.
enum ExitCode : int {
  exit_done = 0,
  exit_failed = 1,  ///< the program that was given failed: it could not be read, lowered, written
  exit_usage = 2,   ///< the command line is wrong
};

/// Wrong usage that shows only after the command line was parsed, such as an unknown pass.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// What the chosen subcommand does; returns an ExitCode and throws Error.
using Action = std::function<int()>;

// Each adds a subcommand, which sets `action` where it is chosen.
void add_lower_command(CLI::App& app, Action& action);
void add_run_command(CLI::App& app, Action& action);
void add_print_command(CLI::App& app, Action& action);
void add_verify_command(CLI::App& app, Action& action);
void add_diff_command(CLI::App& app, Action& action);
void add_compare_command(CLI::App& app, Action& action);
void add_passes_command(CLI::App& app, Action& action);
void add_ops_command(CLI::App& app, Action& action);

/// The command `winze`: parses the arguments and runs the subcommand. Returns the exit code.
int run_command(int argc, const char* const* argv);

/// Writes to standard output. Throws Error where that fails.
void write_output(std::string_view text);
/// Writes a line to standard error.
void write_message(std::string_view text);

}  // namespace winze
