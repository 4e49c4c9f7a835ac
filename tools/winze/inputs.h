// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "winze/pass/pass_registry.h"
#include "winze/program/program.h"
#include "winze/support/diagnostic.h"

namespace winze {

/// How input programs are read; options that several subcommands share.
struct InputOptions {
  std::string model;                  ///< which program of an archive of several
  std::string weights;                ///< archive with the weights of a program in text form
  std::vector<std::string> op_files;  ///< schemas of custom operators
  std::string op_table;               ///< operator table of another PyTorch release
  std::uint64_t read_limit = 0;       ///< bytes of what cannot be mapped; 0 for the usual
  bool need_weights = false;          ///< the bytes of weights are wanted where they can be found
  bool need_records = false;          ///< to warn where what else the archive held is not at hand
  std::vector<std::string> plugins;   ///< shared libraries of passes and operators
  std::vector<ContextSetup> context_setups;  ///< what these add to contexts
};

/// `--ops`, `--op-table`, `--load-pass-plugin`.
void add_operator_options(CLI::App& command, InputOptions& options);
/// These and `--model`.
void add_input_options(CLI::App& command, InputOptions& options);

/// Loads the plugins that the options name, so that contexts know their operators. Once for a
/// command, before its first context. Gives all passes, theirs among them. \throws Error
PassRegistry load_plugins(InputOptions& options);

/// A new context that knows the operators that the options name, and what loaded plugins add.
[[nodiscard]] std::unique_ptr<Context> make_context(const InputOptions& options);

/// Reads a `.pt2` or a program in text form, told by content; `-` is standard input. Warnings are
/// appended. Throws Error that names the file.
[[nodiscard]] ExportedProgram read_program(Context& context, const std::string& path,
                                           const InputOptions& options,
                                           std::vector<Diagnostic>& warnings);

/// A program with the context it lives in.
struct Input {
  std::unique_ptr<Context> context;
  ExportedProgram program;
};
[[nodiscard]] Input read_input(const std::string& path, const InputOptions& options,
                               std::vector<Diagnostic>& warnings);
/// The same; warnings go to standard error.
[[nodiscard]] Input read_input(const std::string& path, const InputOptions& options);

/// Throws Error that says why, where a program that was read as text lacks bytes of weights.
void require_weights(const ExportedProgram& program);

/// A path that stands in a text (relative to the text's folder), as this process has to name it.
[[nodiscard]] std::string path_seen_from_here(const std::string& path,
                                              const std::string& text_path);
/// The reverse: a path as it has to stand in a text that is written to `text_path`.
[[nodiscard]] std::string path_seen_from_text(const std::string& path,
                                              const std::string& text_path);

/// Reads `s0=7`. Throws UsageError where it is no value of a symbol.
[[nodiscard]] std::pair<std::string, std::int64_t> parse_symbol_value(const std::string& text);

/// `<stdin>` for `-`.
[[nodiscard]] std::string display_name(const std::string& path);

}  // namespace winze
