// SPDX-License-Identifier: Apache-2.0
#include "tools/winze/inputs.h"

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "tools/winze/command.h"
#include "tools/winze/input_bytes.h"
#include "winze/pass/plugin.h"
#include "winze/passes/registration.h"
#include "winze/program/program_text.h"
#include "winze/program/pt2_reader.h"
#include "winze/support/bytes.h"
#include "winze/support/quote.h"
#include "winze/support/zip_reader.h"

namespace winze {
namespace {

std::string digest_of(const Bytes& archive, const std::string& path) {
  return ZipReader(archive, path).digest();
}

/// Gives a program that was read as text the weights of an archive, which it names from then on.
void take_weights(ExportedProgram& program, const Bytes& archive, const std::string& path,
                  const InputOptions& options, std::vector<Diagnostic>& warnings) {
  program.archive = {};
  attach_weights(program, archive,
                 {.file_name = path, .model = options.model, .warnings = &warnings});
}

/// What keeps the archive that a text names from being used.
std::string why_archive_is_missing(const std::string& archive) {
  if (archive.empty()) return "the text names no archive that holds them";
  return std::filesystem::exists(archive)
             ? fmt::format("{} is not the archive that the text was made of", quote(archive))
             : fmt::format("the archive {}, which the text names, is not there", quote(archive));
}

/// The weights, example inputs and further records of the archive that the text names, where it is
/// still there.
void find_weights(ExportedProgram& program, const InputOptions& options,
                  std::vector<Diagnostic>& warnings) {
  const std::string path = program.archive.path;
  if (path.empty()) return;
  if (std::filesystem::is_regular_file(path)) {
    const Bytes archive = map_file(path);
    if (digest_of(archive, path) == program.archive.digest) {
      take_weights(program, archive, path, options, warnings);
      return;
    }
  }
  if (!options.need_records) return;
  Diagnostic& warning = warnings.emplace_back();
  warning.severity = Severity::warning;
  warning.message =
      fmt::format("example inputs and extra files are left out: {}", why_archive_is_missing(path));
  warning.hint = "--weights FILE.pt2 takes them from another archive";
}

}  // namespace

void add_input_options(CLI::App& command, InputOptions& options) {
  command.add_option("--model", options.model, "Which program, where the archive holds several")
      ->option_text("NAME");
  command
      .add_option("--read-limit", options.read_limit,
                  "Read no more than so much of standard input or a pipe, such as 4GB\n"
                  "(default: 1GB of text, 16GB of a .pt2)")
      ->option_text("SIZE")
      ->check(CLI::Validator(
          [](const std::string& text) {
            return text.starts_with('-') ? fmt::format("{} is no size", quote(text))
                                         : std::string();
          },
          ""))
      ->transform(CLI::AsSizeValue(false));
  add_operator_options(command, options);
}

void add_operator_options(CLI::App& command, InputOptions& options) {
  command
      .add_option("--ops", options.op_files,
                  "Read schemas of custom operators, one a line as torch.library has them,\n"
                  "with their tags behind: mylib::noise(Tensor x) -> Tensor "
                  "[nondeterministic_seeded].\n"
                  "Each counts as having only the effects that its schema and tags say")
      ->option_text("FILE")
      ->allow_extra_args(false);
  command
      .add_option("--op-table", options.op_table,
                  "Use the operator table of another PyTorch release (see schemas/)")
      ->option_text("FILE");
  command
      .add_option("--load-pass-plugin", options.plugins,
                  "Add the passes, operators and shape rules of a shared library")
      ->option_text("LIB.so")
      ->allow_extra_args(false);
}

PassRegistry load_plugins(InputOptions& options) {
  PassRegistry registry = all_passes();
  for (const std::string& plugin : options.plugins) load_pass_plugin(plugin, registry);
  options.context_setups = registry.context_setups();
  return registry;
}

std::unique_ptr<Context> make_context(const InputOptions& options) {
  auto context = std::make_unique<Context>();
  if (!options.op_table.empty()) context->ops().replace_table(options.op_table);
  for (const std::string& file : options.op_files) context->ops().load(file);
  for (const ContextSetup& setup : options.context_setups) setup(*context);
  return context;
}

std::string display_name(const std::string& path) {
  return path == "-" ? "<stdin>" : path;
}

ExportedProgram read_program(Context& context, const std::string& path, const InputOptions& options,
                             std::vector<Diagnostic>& warnings) {
  const Bytes bytes = read_bytes(path, options.read_limit);
  const std::string name = display_name(path);
  if (looks_like_pt2(bytes.string_view()) || looks_binary(bytes.string_view())) {
    ExportedProgram program = read_pt2(
        context, bytes, {.file_name = name, .model = options.model, .warnings = &warnings});
    if (!options.weights.empty()) {
      warnings.push_back({.severity = Severity::warning,
                          .message = fmt::format("--weights {} is not used: this program is no "
                                                 "text, and has weights of its own",
                                                 quote(options.weights)),
                          .where = {.file = name}});
    }
    if (path == "-") program.archive = {};  // nothing that a text could name
    return program;
  }
  // To look at a summary is no loss; to work on it is.
  std::vector<Diagnostic>* summary_warnings = options.need_weights ? &warnings : nullptr;
  ExportedProgram program = parse_program(context, bytes.string_view(), name, summary_warnings);
  if (!program.archive.path.empty()) {
    program.archive.path = path_seen_from_here(program.archive.path, path);
  }
  if (!options.weights.empty()) {
    take_weights(program, read_file(options.weights, options.read_limit), options.weights, options,
                 warnings);
  } else if (options.need_weights) {
    find_weights(program, options, warnings);
  }
  return program;
}

void require_weights(const ExportedProgram& program) {
  if (program.has_all_bytes()) return;
  throw Error(fmt::format("the weights of this program are not at hand: {}",
                          why_archive_is_missing(program.archive.path)),
              "--weights FILE.pt2 takes those of the same names from another archive; without any "
              "it can be written as text (.wz)");
}

std::string path_seen_from_here(const std::string& path, const std::string& text_path) {
  if (text_path == "-") return path;
  return (std::filesystem::path(text_path).parent_path() / path).lexically_normal().string();
}

std::string path_seen_from_text(const std::string& path, const std::string& text_path) {
  if (text_path == "-" || path.empty()) return path;
  const std::filesystem::path folder = std::filesystem::absolute(text_path).parent_path();
  std::error_code error;
  const std::filesystem::path relative = std::filesystem::relative(path, folder, error);
  return error || relative.empty() ? path : relative.string();
}

std::pair<std::string, std::int64_t> parse_symbol_value(const std::string& text) {
  const std::size_t equals = text.find('=');
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  if (equals != std::string::npos && equals != 0) {
    const auto [rest, error] = std::from_chars(text.data() + equals + 1, end, value);
    if (error == std::errc() && rest == end) return {text.substr(0, equals), value};
  }
  throw UsageError(fmt::format("{} is no value of a symbol", quote(text)), "write it as s0=7");
}

Input read_input(const std::string& path, const InputOptions& options,
                 std::vector<Diagnostic>& warnings) {
  std::unique_ptr<Context> context = make_context(options);
  ExportedProgram program = read_program(*context, path, options, warnings);
  return {std::move(context), std::move(program)};
}

Input read_input(const std::string& path, const InputOptions& options) {
  std::vector<Diagnostic> warnings;
  Input input = read_input(path, options, warnings);
  for (const Diagnostic& warning : warnings) write_message(warning.str());
  return input;
}

}  // namespace winze
