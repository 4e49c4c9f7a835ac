// SPDX-License-Identifier: Apache-2.0
#include "tools/winze/inputs.h"

#include <cstdio>
#include <utility>

#include "tools/winze/command.h"
#include "winze/program/program_text.h"
#include "winze/program/pt2_reader.h"
#include "winze/support/bytes.h"
#include "winze/support/quote.h"

namespace winze {
namespace {

Bytes read_bytes(const std::string& path) {
  return path == "-" ? read_stream(stdin, "standard input") : map_file(path);
}

/// A zero byte is in every other binary format soon, and never in a text.
bool looks_binary(std::string_view bytes) {
  return bytes.substr(0, 4096).find('\0') != std::string_view::npos;
}

[[noreturn]] void fail_unknown_format(const std::string& name) {
  Diagnostic diagnostic;
  diagnostic.message = "this is neither a .pt2 archive nor a program in text form";
  diagnostic.where.file = name;
  diagnostic.hint = "a .pt2 is what torch.export.save writes";
  throw Error(std::move(diagnostic));
}

}  // namespace

void add_input_options(CLI::App& command, InputOptions& options) {
  command.add_option("--model", options.model, "Which program, where the archive holds several")
      ->type_name("NAME");
  add_operator_options(command, options);
}

void add_operator_options(CLI::App& command, InputOptions& options) {
  command
      .add_option("--ops", options.op_files,
                  "Read schemas of custom operators, one a line as torch.library has them:\n"
                  "mylib::scale(Tensor x, float by=1.0) -> Tensor")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command
      .add_option("--op-table", options.op_table,
                  "Use the operator table of another PyTorch release (see schemas/)")
      ->type_name("FILE");
}

std::unique_ptr<Context> make_context(const InputOptions& options) {
  auto context = std::make_unique<Context>();
  if (!options.op_table.empty()) context->ops().replace_table(options.op_table);
  for (const std::string& file : options.op_files) context->ops().load(file);
  return context;
}

std::string display_name(const std::string& path) {
  return path == "-" ? "<stdin>" : path;
}

ExportedProgram read_program(Context& context, const std::string& path, const InputOptions& options,
                             std::vector<Diagnostic>& warnings) {
  const Bytes bytes = read_bytes(path);
  const std::string name = display_name(path);
  const ReadOptions archive_options{
      .file_name = name, .model = options.model, .warnings = &warnings};
  if (looks_like_pt2(bytes.string_view())) return read_pt2(context, bytes, archive_options);
  if (looks_binary(bytes.string_view())) fail_unknown_format(name);
  ExportedProgram program = parse_program(context, bytes.string_view(), name);
  return program;
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
