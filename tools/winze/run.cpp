// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "tools/winze/command.h"
#include "tools/winze/help.h"
#include "tools/winze/inputs.h"
#include "tools/winze/targets.h"
#include "winze/torch/torch_library.h"

namespace winze {
namespace {

constexpr const char* run_description =
    "Runs a program, and prints a line about each thing that it returns or changes.";

constexpr const char* run_footer =
    "Inputs come from FILE, else from the program's own archive, else they are made within the\n"
    "ranges of its symbols. FILE is .npy, .npz (arr_0, arr_1, ... or named as the inputs), what\n"
    "torch.save wrote (tensors and plain containers), or what -o wrote. Nothing in it is "
    "executed.\n"
    "\n"
    "Random numbers are drawn from --seed (default 0), so two runs give the same.\n"
    "\n"
    "Examples:\n"
    "  winze run model.pt2\n"
    "  winze run model.pt2 --inputs inputs.npz -o outputs.npz\n"
    "  winze run model.pt2 --sym s0=7 --seed 3 --profile\n"
    "\n"
    "Exit codes: 0 done; 1 the program could not be read or run; 2 wrong usage.";

struct RunOptions {
  std::string input;
  std::vector<std::string> symbols;
  InputOptions inputs;
  RunRequest request;
};

int run_run(RunOptions& options) {
  for (const std::string& text : options.symbols)
    options.request.symbols.push_back(parse_symbol_value(text));
  if (!options.request.inputs.empty() && !options.request.symbols.empty()) {
    throw UsageError("--sym has no meaning beside --inputs",
                     "the sizes of the inputs give the symbols their values");
  }
  std::vector<std::string> others = options.request.libraries;
  others.insert(others.end(), options.inputs.op_files.begin(), options.inputs.op_files.end());
  for (const std::string& file :
       {options.request.inputs, options.inputs.weights, options.inputs.op_table})
    others.push_back(file);
  if (options.request.output != "-")
    require_own_file("--output", options.request.output, {{options.input, "-"}}, others);
  options.inputs.need_weights = true;
  const Input input = read_input(options.input, options.inputs);
  require_weights(input.program);
  const TorchInterface& torch = load_torch_library();
  write_output(torch.run(input.program, options.request, write_message));
  return exit_done;
}

}  // namespace

void add_run_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<RunOptions>();
  CLI::App& command = *app.add_subcommand("run", run_description);
  command.footer(run_footer);
  command.add_option("IN", options->input, "The program; - is standard input")->required();
  RunRequest& request = options->request;
  command.add_option("--inputs", request.inputs, "Take the inputs from this file")
      ->option_text("FILE");
  command
      .add_option("-o,--output", request.output,
                  "Write inputs and results to this file, for numpy.load and for --inputs")
      ->option_text("FILE.npz");
  command.add_flag("--profile", request.profile, "List time and memory by operator");
  command.add_option("--seed", request.seed, "For inputs that are made and random operators")
      ->option_text("N");
  command.add_option("--sym", options->symbols, "Make inputs in which the symbol S is N")
      ->option_text("S=N")
      ->allow_extra_args(false);
  command.add_option("--threads", request.threads, "Let kernels use N threads")
      ->option_text("N")
      ->check(whole_number(1, 1024));
  command.add_option("--load", request.libraries, "Load operators of a shared library")
      ->option_text("LIB.so")
      ->allow_extra_args(false);
  command
      .add_option("--weights", options->inputs.weights,
                  "Take the weights of a program in text form from this .pt2")
      ->option_text("FILE");
  add_input_options(command, options->inputs);
  command.callback([options, &action] {
    action = [options] {
      load_plugins(options->inputs);
      return run_run(*options);
    };
  });
}

}  // namespace winze
