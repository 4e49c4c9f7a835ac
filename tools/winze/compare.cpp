// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "tools/winze/command.h"
#include "tools/winze/help.h"
#include "tools/winze/inputs.h"
#include "winze/torch/torch_library.h"

namespace winze {
namespace {

constexpr const char* compare_description =
    "Runs two programs on the same inputs and compares what they return and change.";

constexpr const char* compare_footer =
    "Inputs are those stored in A, then generated ones: other numbers, and other sizes of each\n"
    "dynamic dimension (as exported, primes, both ends of its range). They are matched by "
    "position.\n"
    "\n"
    "Integers and bools have to be equal. Of other numbers each element has to satisfy\n"
    "  |b - a| <= rtol * |a| + atol\n"
    "where by default\n"
    "  rtol = min(4 * eps * sqrt(depth), max(1/32, 2 * eps))\n"
    "  atol = rtol * the median magnitude of the value's elements\n"
    "eps is torch.finfo(dtype).eps; depth counts the roundings on the longest way to the value: 1 "
    "a\n"
    "call, and as many as a reduction or a product of matrices sums terms. What departs on "
    "numbers\n"
    "alone is then judged by a run of A in float64: B may be at most 4 times as far from it as A,\n"
    "plus the tolerance. NaN and infinities have to be in the same places.\n"
    "\n"
    "Of values that depend on random numbers elements are compared where both programs draw by "
    "the\n"
    "same calls in the same order; else only dtype, shape and whether they are finite.\n"
    "\n"
    "Examples:\n"
    "  winze compare model.pt2 lowered.pt2\n"
    "  winze compare model.pt2 lowered.pt2 --draws 10 --seed 7\n"
    "  winze compare model.pt2 lowered.pt2 --inputs calls.npz --rtol 1e-4 --atol 1e-5\n"
    "\n"
    "Exit codes: 0 equal; 1 they differ, or one cannot be read or run; 2 wrong usage.";

struct CompareCommandOptions {
  std::string a;
  std::string b;
  std::vector<std::string> symbols;
  double rtol = 0;
  double atol = 0;
  bool no_aliasing = false;
  bool no_reference = false;
  CLI::Option* given_rtol = nullptr;
  CLI::Option* given_atol = nullptr;
  InputOptions inputs;
  CompareRequest request;
};

int run_compare(CompareCommandOptions& options) {
  if (options.a == "-" && options.b == "-")
    throw UsageError("only one of the two can be standard input");
  CompareRequest& request = options.request;
  for (const std::string& text : options.symbols)
    request.symbols.push_back(parse_symbol_value(text));
  if (!request.inputs.empty() && (!request.symbols.empty() || request.draws != 0)) {
    throw UsageError("--sym and --draws have no meaning beside --inputs",
                     "they are for inputs that are generated");
  }
  if (options.given_rtol->count() != 0) request.rtol = options.rtol;
  if (options.given_atol->count() != 0) request.atol = options.atol;
  request.aliasing = !options.no_aliasing;
  request.reference = !options.no_reference;
  options.inputs.need_weights = true;
  const std::unique_ptr<Context> context = make_context(options.inputs);
  std::vector<Diagnostic> warnings;
  const ExportedProgram a = read_program(*context, options.a, options.inputs, warnings);
  const ExportedProgram b = read_program(*context, options.b, options.inputs, warnings);
  for (const Diagnostic& warning : warnings) write_message(warning.str());
  require_weights(a);
  require_weights(b);
  const CompareOutcome outcome = load_torch_library().compare(a, b, request);
  write_output(outcome.text);
  return outcome.is_equal ? exit_done : exit_failed;
}

void add_tolerance_options(CLI::App& command, CompareCommandOptions& options) {
  options.given_rtol =
      command.add_option("--rtol", options.rtol, "Relative tolerance; see below for the default")
          ->option_text("X")
          ->check(number_from_zero());
  options.given_atol =
      command.add_option("--atol", options.atol, "Absolute tolerance; see below for the default")
          ->option_text("X")
          ->check(number_from_zero());
  CompareRequest& request = options.request;
  command.add_flag("--strides", request.strides, "Strides of outputs have to be equal, too");
  command.add_flag("--signed-zeros", request.signed_zeros, "-0.0 and 0.0 differ");
  command.add_flag("--no-aliasing", options.no_aliasing,
                   "Do not compare which outputs share storage with inputs and each other");
  command.add_flag("--no-reference", options.no_reference,
                   "Do not judge departures by a run in float64");
}

}  // namespace

void add_compare_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<CompareCommandOptions>();
  CLI::App& command = *app.add_subcommand("compare", compare_description);
  command.footer(compare_footer);
  command.add_option("A", options->a, "The one program, the original; - is standard input")
      ->required();
  command.add_option("B", options->b, "The other")->required();
  CompareRequest& request = options->request;
  command.add_option("--inputs", request.inputs, "Take the inputs from this file (see winze run)")
      ->option_text("FILE");
  command.add_option("--draws", request.draws, "Generate inputs N times")
      ->option_text("N")
      ->check(whole_number(1, 1'000'000));
  command.add_option("--seed", request.seed, "Of generated inputs and random operators")
      ->option_text("N");
  command.add_option("--sym", options->symbols, "Generate inputs in which the symbol S is N")
      ->option_text("S=N")
      ->allow_extra_args(false);
  add_tolerance_options(command, *options);
  command.add_flag("-v,--verbose", request.verbose,
                   "Show every value, not only the first that departs");
  command.add_option("--threads", request.threads, "Let kernels use N threads")
      ->option_text("N")
      ->check(whole_number(1, 1024));
  command.add_option("--load", request.libraries, "Load operators of a shared library")
      ->option_text("LIB.so")
      ->allow_extra_args(false);
  add_input_options(command, options->inputs);
  command.callback([options, &action] {
    action = [options] {
      load_plugins(options->inputs);
      return run_compare(*options);
    };
  });
}

}  // namespace winze
