// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "tools/winze/command.h"
#include "tools/winze/help.h"
#include "tools/winze/inputs.h"
#include "winze/program/program_verifier.h"
#include "winze/shape/meta_check.h"

namespace winze {
namespace {

constexpr const char* verify_footer =
    "Levels, each with those before it:\n"
    "  structure   links, order, use lists\n"
    "  schema      arguments fit the operators\n"
    "  meta        what is known of values fits and follows anew from the inputs; symbols are "
    "bound\n"
    "  semantics   roles of inputs and outputs, weights, mutation\n"
    "Every finding is shown, on standard error, with the user's own line where it is known.\n"
    "\n"
    "Examples:\n"
    "  winze verify model.pt2\n"
    "  winze verify *.pt2 --level schema\n"
    "\n"
    "Exit codes: 0 nothing found; 1 something found, or a file cannot be read; 2 wrong usage.";

struct VerifyOptions {
  std::vector<std::string> inputs;
  std::string level = "semantics";
  InputOptions input_options;
};

/// Says what is wrong with one program; true where nothing is.
bool verify_one(const std::string& path, const VerifyOptions& options) {
  try {
    const Input input = read_input(path, options.input_options);
    const VerifyLevel level = *verify_level_from_name(options.level);
    std::vector<Diagnostic> findings = verify(input.program, level);
    if (findings.empty() && level >= VerifyLevel::meta) findings = verify_metas(input.program);
    for (Diagnostic finding : findings) {
      if (finding.where.file.empty()) finding.where.file = display_name(path);
      write_message(finding.str());
    }
    return findings.empty();
  } catch (const UsageError&) {
    throw;
  } catch (const DiagnosticError& error) {
    write_message(error.diagnostic().str());
    return false;
  }
}

int run_verify(const VerifyOptions& options) {
  bool ok = true;
  for (const std::string& path : options.inputs) ok = verify_one(path, options) && ok;
  return ok ? exit_done : exit_failed;
}

}  // namespace

void add_verify_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<VerifyOptions>();
  CLI::App& command = *app.add_subcommand("verify", "Checks programs and shows every finding.");
  command.footer(verify_footer);
  command.add_option("IN", options->inputs, "Programs to check; - is standard input")->required();
  command.add_option("--level", options->level, "How far to check (default: semantics)")
      ->option_text("LEVEL")
      ->check(one_of({"structure", "schema", "meta", "semantics"}));
  add_input_options(command, options->input_options);
  command.callback([options, &action] {
    action = [options] {
      load_plugins(options->input_options);
      return run_verify(*options);
    };
  });
}

}  // namespace winze
