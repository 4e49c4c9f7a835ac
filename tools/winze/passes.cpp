// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "tools/winze/command.h"
#include "winze/pass/pass_registry.h"
#include "winze/pass/plugin.h"
#include "winze/passes/registration.h"

namespace winze {
namespace {

constexpr const char* passes_footer =
    "Examples:\n"
    "  winze passes                          every pass and pipeline\n"
    "  winze passes dead-code                one of them\n"
    "  winze passes --markdown               the reference page, docs/passes.md\n"
    "\n"
    "Exit codes: 0 done; 1 there is no pass of that name; 2 wrong usage.";

struct PassesOptions {
  std::vector<std::string> names;
  std::vector<std::string> plugins;
  bool markdown = false;
};

/// Those of the names alone, or all where there are none.
PassRegistry select(const PassRegistry& registry, const std::vector<std::string>& names) {
  if (names.empty()) return registry;
  PassRegistry selected;
  for (const std::string& name : names) {
    if (const NamedPipeline* pipeline = registry.find_pipeline(name)) {
      selected.add_pipeline(*pipeline);
    } else {
      selected.add(registry.get(name));
    }
  }
  return selected;
}

int run_passes(const PassesOptions& options) {
  PassRegistry registry = all_passes();
  for (const std::string& plugin : options.plugins) load_pass_plugin(plugin, registry);
  const PassRegistry selected = select(registry, options.names);
  write_output(options.markdown ? markdown_reference(selected) : text_reference(selected));
  return exit_done;
}

}  // namespace

void add_passes_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<PassesOptions>();
  CLI::App& command =
      *app.add_subcommand("passes", "Lists the passes and pipelines that `lower` knows.");
  command.footer(passes_footer);
  command.add_option("NAME", options->names, "Passes or pipelines to describe (default: all)");
  command.add_flag("--markdown", options->markdown, "As a page in Markdown");
  command.add_option("--load-pass-plugin", options->plugins, "Add the passes of a shared library")
      ->option_text("LIB.so")
      ->allow_extra_args(false);
  command.callback([options, &action] { action = [options] { return run_passes(*options); }; });
}

}  // namespace winze
